import Feed
import Prefetch

/// Networks of a feed whose policy is looked for together.
package struct TuningPart: Hashable, Sendable {
  /// The feed.
  @ByBytes package private(set) var feed: String
  /// The network of the experiment; nil for all.
  @ByBytes package private(set) var network: String?
  /// The networks in the lab, the one with the most sessions first.
  package let profiles: [NetworkProfile]
  /// Sessions a day on them, as they were reported.
  package let sessionsPerDay: Int

  /// A part of these.
  package init(
    feed: String, network: String?, profiles: [NetworkProfile], sessionsPerDay: Int
  ) {
    self.profiles = profiles
    self.sessionsPerDay = sessionsPerDay
    self.feed = feed
    self.network = network
  }

  /// The sessions a day from which on a network is tuned for itself: with fewer, two weeks do not show a few percent.
  package static let sessionsOfNetwork = 10_000
  /// The days over which sessions are counted.
  package static let countedDays = 7

  /// The parts of a feed: networks with many sessions, each for itself; where there is none, all that were reported.
  ///
  /// - Parameter sessions: by the name of the network, of `countedDays`.
  package static func parts(
    of feed: String, sessions: [ByteText: Int], networks: [NetworkProfile]
  ) -> [TuningPart] {
    let known = networks.filter { $0.downlinkKbps > 0 && sessions[ByteText($0.name)] ?? 0 > 0 }
      .map { (profile: $0, perDay: sessions[ByteText($0.name), default: 0] / countedDays) }
      .sorted { ($1.perDay, $0.profile.name) < ($0.perDay, $1.profile.name) }
    let large = known.filter { $0.perDay >= sessionsOfNetwork }
    guard large.isEmpty else {
      return large.map {
        TuningPart(
          feed: feed, network: $0.profile.name, profiles: [$0.profile], sessionsPerDay: $0.perDay)
      }
    }
    guard !known.isEmpty else { return [] }
    return [
      TuningPart(
        feed: feed, network: nil, profiles: known.map(\.profile),
        sessionsPerDay: known.reduce(0) { $0 + $1.perDay })
    ]
  }

  /// What it is called.
  package var words: String { network ?? "all networks" }
}

/// What the history says of a part.
extension TuningPart {
  /// A night begins so long after the one before at the least, in hours.
  private static let nightHours = 20
  /// The hours after which a suggestion that was not begun is made again.
  private static let waitingHours = 7 * 24

  /// Whether it is to be tuned tonight: nothing was done about its sessions today, no experiment runs on them, and no
  /// suggestion waits.
  ///
  /// A step in the future is one of a clock that was wrong, and says nothing.
  package func isDue(_ history: [PolicyExperiment], atHour hour: Int) -> Bool {
    history.lazy.filter { $0.kind == .trial && $0.overlaps(feed: feed, network: network) }
      .allSatisfy { experiment in
        guard !experiment.isRunning, let last = experiment.steps.last else { return false }
        let age = hour - last.hour
        return age < 0 || age >= (experiment.isWaiting ? Self.waitingHours : Self.nightHours)
      }
  }

  /// What was tried on these sessions since, and did not come to be in force, or was taken back: it is not proposed again
  /// for a while.
  package func lost(_ history: [PolicyExperiment], sinceHour: Int) -> Set<Policy.Strategy> {
    var lost: Set<Policy.Strategy> = []
    let all = history.filter { $0.overlaps(feed: feed, network: network) }
    for experiment in all {
      guard let last = experiment.steps.last, last.hour >= sinceHour else { continue }
      let wasTried = experiment.steps.contains { $0.kind.isRunning }
      switch (experiment.kind, last.kind) {
      // A suggestion that another one took the place of was not tried.
      case (.trial, .ended) where wasTried, (.trial, .rolledBack), (.trial, .stopped),
        (.trial, .undone):
        lost.insert(experiment.setting.strategy)
      case (.holdout, .takenBack):
        // What was taken back is what had been applied as the hold-out began.
        let applied = all.filter {
          $0.kind == .trial && $0.id < experiment.id && $0.steps.contains { $0.kind == .applied }
        }
        if let newest = applied.max(by: { $0.id < $1.id }) {
          lost.insert(newest.setting.strategy)
        }
      default: break
      }
    }
    return lost
  }
}
