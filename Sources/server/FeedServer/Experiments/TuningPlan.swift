import Catalog
import Experiments
import Feed
import Prefetch
import Reports

/// How fast links were on days by which is tuned, and on others by which is judged what was tuned: on the newest ones that
/// say enough, so that a world that changes is known soon.
package struct ReportedDays: Sendable {
  /// By the day's number since 1970.
  private var days: [Int: ReportedLinks] = [:]

  /// Of fewer parts no quantile is told.
  private static let least = 200
  /// The parts from which on older days are left out.
  private static let enough = 2_000

  init() {}

  mutating func add(_ links: ReportedLinks, hour: Int) {
    if links.count > 0 { days[hour / 24, default: ReportedLinks()].add(links) }
  }

  mutating func add(_ other: ReportedDays) {
    for (day, links) in other.days { days[day, default: ReportedLinks()].add(links) }
  }

  /// - Parameter rest: of the days' numbers, divided by two.
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

  /// Whether there are enough of both days.
  package var isHeldOut: Bool {
    min(links(ofDays: 0).count, links(ofDays: 1).count) >= Self.least
  }
  /// By which is tuned: of the days with even numbers, or of all where there are too few.
  package var tuning: ReportedLinks { isHeldOut ? links(ofDays: 0) : all }
  /// By which is judged.
  package var judging: ReportedLinks { isHeldOut ? links(ofDays: 1) : all }
  /// `4200 measured links, tuned and judged on different days`
  package var words: String {
    "\(all.count) measured links" + (isHeldOut ? ", tuned and judged on different days" : "")
  }
}

/// What may be tuned: parts of feeds by what was reported, and what was done about them. Read from a store.
package struct TuningPlan: Sendable {
  /// The parts, those with the most sessions first.
  package let parts: [TuningPart]
  /// The newest experiments.
  package let history: [PolicyExperiment]

  /// How fast links were, by feed and network, on days to tune by and on days to judge by.
  private let links: [ByteText: [ByteText: ReportedDays]]

  /// So much of the history is looked at.
  private static let historyLimit = 1_000

  /// Reads it.
  ///
  /// - Parameters:
  ///   - feed: this feed alone; nil for all.
  ///   - hour: now, in hours since 1970.
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
    // A feed that was deleted since is none that could be tuned.
    parts = try sessions.filter { try store.feed(named: $0.key.text) != nil }
      .flatMap { feed, sessions in
        TuningPart.parts(of: feed.text, sessions: sessions, networks: networks)
      }
      .sorted { ($1.sessionsPerDay, $0.feed, $0.words) < ($0.sessionsPerDay, $1.feed, $1.words) }
    history = try store.experiments(.newest(Self.historyLimit))
    self.links = links
  }

  /// How fast a part's links were, as they were reported; nil where that was measured too seldom.
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
