import Logging
import Observability
import PostgresStore
import Synchronization

/// The figures and log messages of the standby that is read before the primary.
final class StandbyFigures: Sendable {
  private let standby: Standby
  private let logger: Logger
  /// The last logged reason why it is not read.
  private let problem = Mutex<String?>(nil)

  init(_ standby: Standby, logger: Logger, figures: PrometheusRegistry) {
    self.standby = standby
    self.logger = logger
    figures.gauge(
      "lookahead_postgres_standby_up",
      help: "1 while the standby is read, 0 while it cannot be read."
    ) { standby.status.problem == nil ? 1 : 0 }
    figures.gauge(
      "lookahead_postgres_standby_lag_bytes",
      help:
        "Write-ahead log of the primary, as seen by this server, that the standby has not "
        + "replayed yet."
    ) { Int(standby.status.lagBytes) }
    figures.gauge(
      "lookahead_postgres_standby_lag_milliseconds",
      help: "Time for which the standby has been behind what this server knows."
    ) { Int(standby.status.lagMilliseconds) }
    figures.totals(
      "lookahead_postgres_standby_reads_total",
      help:
        "Reads by who answered: a standby, or the primary if the standby was behind, lacked the "
        + "data, or failed."
    ) {
      let reads = standby.status.reads
      return Standby.Outcome.allCases.map { ([("outcome", $0.rawValue)], reads[$0] ?? 0) }
    }
  }

  /// Logs changes of its status.
  func look() {
    let found = standby.status.problem
    let known = problem.withLock { known in
      defer { known = found }
      return known
    }
    guard found != known else { return }
    if let found {
      logger.warning("the standby \(standby.name) is not read: \(found)")
    } else {
      logger.notice("the standby \(standby.name) is read")
    }
  }
}
