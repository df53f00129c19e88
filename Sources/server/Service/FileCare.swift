import Logging
import Observability
import SQLiteStore
import System

/// The care of a SQLite file by a server: keeps its write-ahead log small, makes backups, and registers
/// figures of its size.
final class FileCare: Sendable {
  private let checkpoints: PeriodicTask
  private let backups: BackupKeeper?

  /// The keeper of backups, if they are configured; makes a backup before a migration.
  ///
  /// - Throws: `StoreError`, `MigrationWithoutBackup`, what `BackupFolder` throws.
  static func backups(
    of path: String, _ configuration: FeedServiceConfiguration, _ logger: Logger
  ) throws -> BackupKeeper? {
    let backups = try configuration.backups.map {
      try BackupKeeper(
        $0, database: path, options: configuration.opening.file, logger: logger,
        figures: configuration.application.figures)
    }
    try backups?.makeBeforeMigration(logger)
    return backups
  }

  init(
    _ store: SQLiteStore, _ backups: BackupKeeper?, _ configuration: FeedServiceConfiguration,
    _ logger: Logger
  ) {
    self.backups = backups
    let figures = configuration.application.figures
    let walKeeper = WALKeeper(
      WriteAheadLog(of: store, limitBytes: configuration.opening.file.logLimitBytes),
      logger: logger, figures: figures)
    checkpoints = PeriodicTask(
      pauseMilliseconds: configuration.checkpointIntervalSeconds * 1000, walKeeper.look)
    store.register(in: figures)
  }

  /// - Throws: `SystemError`.
  func start() throws(SystemError) {
    try checkpoints.start()
    try backups?.start()
  }

  func stop() {
    checkpoints.stop()
    backups?.stop()
  }
}

extension SQLiteStore {
  /// Registers the sizes of its files.
  fileprivate func register(in registry: PrometheusRegistry) {
    let help = "Size of the database's files."
    registry.gauge("lookahead_sqlite_file_bytes", [("file", "database")], help: help) {
      self.fileBytes.database
    }
    registry.gauge("lookahead_sqlite_file_bytes", [("file", "wal")], help: help) {
      self.fileBytes.writeAheadLog
    }
  }
}
