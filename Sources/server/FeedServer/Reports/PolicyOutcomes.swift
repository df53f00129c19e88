import Catalog
import Prefetch
import PostJSON
import Reports
import Synchronization
import System

/// The lab's predictions for policies beside what was reported since: read at most once a minute, as that may
/// be many hours of cells. For threads that may wait.
final class PolicyOutcomes: Sendable {
  private let store: any ReportStore
  private let leastSessions: Int
  private let kept = Mutex<(minute: Int, predicted: [PolicyOutcome], met: [PolicyOutcome])>(
    (0, [], []))

  init(_ store: any ReportStore, leastSessions: Int) {
    (self.store, self.leastSessions) = (store, leastSessions)
  }

  /// The outcomes of the book's predictions.
  ///
  /// - Throws: what the store throws.
  func met(_ predicted: [PolicyOutcome]) throws -> [PolicyOutcome] {
    let minute = WallClock.secondsSince1970 / 60
    let known = kept.withLock { $0.minute == minute && $0.predicted == predicted ? $0.met : nil }
    if let known { return known }
    let met = try PolicyOutcome.met(predicted, leastSessions: leastSessions) {
      try store.readReportCells(since: $0, $1)
    }
    kept.withLock { $0 = (minute, predicted, met) }
    return met
  }
}
