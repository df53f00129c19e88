import Catalog
import Experiments
import Feed
import Prefetch
import Reports

/// What may be tuned: parts of feeds by what was reported, and what was done about them. Read from a store.
package struct TuningPlan: Sendable {
  /// The parts, those with the most sessions first.
  package let parts: [TuningPart]
  /// The newest experiments.
  package let history: [PolicyExperiment]

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
    try store.readReportCells(since: hour - TuningPart.countedDays * 24) { key, cell in
      guard cell.sessions > 0, feed.map({ key.feed.isSame(as: $0) }) ?? true else { return }
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
  }

  /// The newest step on a part's sessions.
  package func newestStep(of part: TuningPart) -> NewestStep {
    NewestStep(of: history, feed: part.feed, network: part.network)
  }
}
