import CoreMetrics
import Observability
import SQLiteStore

/// What is counted of the database and its care, and shown with the application's figures.
struct ServiceFigures: Sendable {
  let refreshes: Counter
  let failedRefreshes: Counter
  private let registry: PrometheusRegistry
  private let checkpoints: [LogKeeper.Outcome: Counter]
  private let backups: [BackupKeeper.Outcome: Counter]

  private static let helps = [
    "lookahead_sqlite_refreshes_total": "Looks at what other processes wrote.",
    "lookahead_sqlite_failed_refreshes_total": "Those that failed.",
    "lookahead_sqlite_file_bytes": "Size of the database's files.",
    "lookahead_sqlite_checkpoints_total":
      "Write-ahead logs that were brought in and cut, or could not be.",
    "lookahead_backups_total": "Scheduled backups.",
    "lookahead_backup_timestamp_seconds": "When the newest backup was made; 0: there is none.",
    "lookahead_backup_bytes": "Size of the newest backup.",
    "lookahead_backup_duration_seconds": "How long it took to make it.",
  ]

  init(registry: PrometheusRegistry) {
    self.registry = registry
    for (name, help) in Self.helps { registry.describe(name, help: help) }
    refreshes = Counter(label: "lookahead_sqlite_refreshes_total", factory: registry)
    failedRefreshes = Counter(label: "lookahead_sqlite_failed_refreshes_total", factory: registry)
    checkpoints = Self.counters("lookahead_sqlite_checkpoints_total", registry)
    backups = Self.counters("lookahead_backups_total", registry)
  }

  /// A counter for each outcome that there may be.
  private static func counters<Outcome: CaseIterable & RawRepresentable & Hashable>(
    _ name: String, _ registry: PrometheusRegistry
  ) -> [Outcome: Counter] where Outcome.RawValue == String {
    Dictionary(
      uniqueKeysWithValues: Outcome.allCases.map { outcome in
        (
          outcome,
          Counter(label: name, dimensions: [("outcome", outcome.rawValue)], factory: registry)
        )
      })
  }

  @Sendable func note(_ outcome: LogKeeper.Outcome) { checkpoints[outcome]?.increment() }

  @Sendable func note(_ outcome: BackupKeeper.Outcome) { backups[outcome]?.increment() }

  /// Shows what is read when somebody asks: the sizes of the files, and the newest backup.
  func show(_ store: SQLiteStore, _ backups: BackupKeeper?) {
    registry.gauge("lookahead_sqlite_file_bytes", [("file", "database")]) {
      store.fileBytes.database
    }
    registry.gauge("lookahead_sqlite_file_bytes", [("file", "wal")]) {
      store.fileBytes.writeAheadLog
    }
    guard let backups else { return }
    registry.gauge("lookahead_backup_timestamp_seconds") { backups.figures.secondsSince1970 }
    registry.gauge("lookahead_backup_bytes") { backups.figures.bytes }
    registry.gauge("lookahead_backup_duration_seconds") { backups.figures.durationSeconds }
  }
}
