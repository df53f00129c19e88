import Catalog
import Experiments
import Feed
import Prefetch
import Reports

/// Reported link speeds, on days for tuning and on days for judging what was tuned. Takes the newest days
/// with enough measurements, so that changes show soon.
package struct ReportedDays: Sendable {
  /// The links, by the day's number since 1970.
  private var days: [Int: ReportedLinks] = [:]

  /// The minimum number of measurements; with fewer, no quantile is given.
  private static let least = 200
  /// The number of measurements from which older days are left out.
  private static let enough = 2_000

  init() {}

  mutating func add(_ links: ReportedLinks, hour: Int) {
    if links.count > 0 { days[hour / 24, default: ReportedLinks()].add(links) }
  }

  mutating func add(_ other: ReportedDays) {
    for (day, links) in other.days { days[day, default: ReportedLinks()].add(links) }
  }

  /// - Parameter rest: the remainder of the day's number, divided by two.
  private func links(ofDays rest: Int) -> ReportedLinks {
    var links = ReportedLinks()
    for (day, found) in days.sorted(by: { $0.key > $1.key })
    where day % 2 == rest && links.count < Self.enough {
      links.add(found)
    }
    return links
  }

  private var all: ReportedLinks {
    var all = links(ofDays: 0)
    all.add(links(ofDays: 1))
    return all
  }

  var isKnown: Bool { all.count >= Self.least }

  /// Whether both kinds of days have enough measurements.
  package var isHeldOut: Bool {
    min(links(ofDays: 0).count, links(ofDays: 1).count) >= Self.least
  }
  /// The links to tune by: those of days with even numbers, or all if there are too few.
  package var tuning: ReportedLinks { isHeldOut ? links(ofDays: 0) : all }
  /// The links to judge by: those of days with odd numbers, or all if there are too few.
  package var judging: ReportedLinks { isHeldOut ? links(ofDays: 1) : all }
  /// `4200 measured links, tuned and judged on different days`
  package var words: String {
    "\(all.count) measured links" + (isHeldOut ? ", tuned and judged on different days" : "")
  }
}

/// The parts of feeds that may be tuned, by what was reported, and their past experiments. Read from a store.
package struct TuningPlan: Sendable {
  /// The parts, those with the most sessions first.
  package let parts: [TuningPart]
  /// The newest experiments.
  package let history: [PolicyExperiment]

  /// The reported link speeds, by feed and network.
  private let links: [ByteText: [ByteText: ReportedDays]]

  /// The maximum number of experiments in the history.
  private static let historyLimit = 1_000

  /// Reads the plan from a store.
  ///
  /// - Parameters:
  ///   - feed: the only feed to read; `nil` for all.
  ///   - hour: the current hour since 1970.
  /// - Throws: what the store throws.
  package init(
    _ store: any FeedStore & PolicyStore & ReportStore & ExperimentStore, feed: String? = nil,
    atHour hour: Int
  ) throws {
    var sessions: [ByteText: [ByteText: Int]] = [:]
    var links: [ByteText: [ByteText: ReportedDays]] = [:]
    try store.readReportCells(since: hour - TuningPart.countedDays * 24) { key, cell in
      guard feed.map({ key.feed.isSame(as: $0) }) ?? true else { return }
      links[ByteText(key.feed), default: [:]][ByteText(key.network), default: ReportedDays()]
        .add(cell.links, hour: key.hour)
      guard cell.sessions > 0 else { return }
      sessions[ByteText(key.feed), default: [:]][ByteText(key.network), default: 0] += cell.sessions
    }
    let networks = try store.snapshot().policyBook.networks
    // A feed that was deleted since cannot be tuned.
    parts = try sessions.filter { try store.feed(named: $0.key.text) != nil }
      .flatMap { feed, sessions in
        TuningPart.parts(of: feed.text, sessions: sessions, networks: networks)
      }
      .sorted { ($1.sessionsPerDay, $0.feed, $0.words) < ($0.sessionsPerDay, $1.feed, $1.words) }
    history = try store.experiments(.newest(Self.historyLimit))
    self.links = links
  }

  /// The reported link speeds of a part; `nil` if there are too few measurements.
  package func links(of part: TuningPart) -> ReportedDays? {
    var days = ReportedDays()
    for profile in part.profiles {
      if let known = links[ByteText(part.feed)]?[ByteText(profile.name)] { days.add(known) }
    }
    return days.isKnown ? days : nil
  }

  /// The newest step on a part's sessions.
  package func newestStep(of part: TuningPart) -> NewestStep {
    NewestStep(of: history, feed: part.feed, network: part.network)
  }
}
