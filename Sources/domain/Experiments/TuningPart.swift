import Feed
import Prefetch

/// Networks of a feed that are tuned together.
package struct TuningPart: Hashable, Sendable {
  /// The feed.
  @ByBytes package private(set) var feed: String
  /// The network of the experiment; `nil` for all.
  @ByBytes package private(set) var network: String?
  /// The network profiles for the lab, the one with the most sessions first.
  package let profiles: [NetworkProfile]
  /// The number of reported sessions per day.
  package let sessionsPerDay: Int

  /// Creates a part.
  package init(
    feed: String, network: String?, profiles: [NetworkProfile], sessionsPerDay: Int
  ) {
    self.profiles = profiles
    self.sessionsPerDay = sessionsPerDay
    self.feed = feed
    self.network = network
  }

  /// The number of sessions per day from which on a network is tuned separately: with fewer, two weeks do
  /// not show a few percent.
  package static let sessionsOfNetwork = 10_000
  /// The number of days over which sessions are counted.
  package static let countedDays = 7

  /// Returns the parts of a feed: each network with many sessions separately; without such a network, all
  /// reported ones together.
  ///
  /// - Parameter sessions: The number of sessions over `countedDays`, by the name of the network.
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

  /// The display name.
  package var words: String { network ?? "all networks" }
}

/// Decisions from the history of a part.
extension TuningPart {
  /// The minimum time between tuning nights, in hours.
  private static let nightHours = 20
  /// The hours after which a part is tuned again if its suggestion has not begun.
  private static let waitingHours = 7 * 24

  /// Whether it should be tuned tonight: its sessions had no step today, have no running experiment, and no
  /// suggestion waits.
  ///
  /// A step in the future comes from a wrong clock and is ignored.
  package func isDue(_ history: [PolicyExperiment], atHour hour: Int) -> Bool {
    history.lazy.filter { $0.kind == .trial && $0.overlaps(feed: feed, network: network) }
      .allSatisfy { experiment in
        guard !experiment.isRunning, let last = experiment.steps.last else { return false }
        let age = hour - last.hour
        return age < 0 || age >= (experiment.isWaiting ? Self.waitingHours : Self.nightHours)
      }
  }

  /// Returns the strategies that were tried on these sessions since an hour and did not come into force, or
  /// were reverted: they are not proposed again for a while.
  package func lost(_ history: [PolicyExperiment], sinceHour: Int) -> Set<Policy.Strategy> {
    var lost: Set<Policy.Strategy> = []
    let all = history.filter { $0.overlaps(feed: feed, network: network) }
    for experiment in all {
      guard let last = experiment.steps.last, last.hour >= sinceHour else { continue }
      let wasTried = experiment.steps.contains { $0.kind.isRunning }
      switch (experiment.kind, last.kind) {
      // A suggestion that another one replaced was not tried.
      case (.trial, .ended) where wasTried, (.trial, .rolledBack), (.trial, .stopped),
        (.trial, .undone):
        lost.insert(experiment.setting.strategy)
      case (.holdout, .takenBack):
        // The reverted policy is the one that had been applied when the hold-out began.
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
