import Backups
import Catalog
import FeedServer
import Logging
import MediaFiles
import Observability
import SQLiteStore
import System

/// The composition root: a store, what keeps it in order, and the application on it, for the program and
/// for its end-to-end tests alike.
public final class FeedService: Sendable {
  private let configuration: FeedServiceConfiguration
  private let store: SQLiteStore
  private let application: ApplicationServer
  private let refresher: PeriodicTask
  private let checkpoints: PeriodicTask
  private let backups: BackupKeeper?
  private let mediaKeeper: MediaKeeper?

  /// Opens and migrates the database.
  ///
  /// - Throws: `StoreError`, `PolicyError` for a policy that is not understood, `MediaError` for a media folder that cannot be used, and for backups what
  ///   `BackupFolder` throws.
  public init(_ configuration: FeedServiceConfiguration, logger: Logger) throws {
    self.configuration = configuration
    let settings = configuration.application
    let media = try settings.mediaRoot.map { try MediaRoot(path: $0) }
    var options = configuration.store
    // One reader for each thread that may read at once, one for the refresh, and one for purging.
    options.file.readers =
      settings.server.eventLoops + settings.workerThreads + 1
      + (settings.purgeTargets.isEmpty ? 0 : 1)
    let figures = settings.figures
    backups = try configuration.backups.map {
      try BackupKeeper(
        $0, database: configuration.databasePath, options: options.file, logger: logger,
        figures: figures)
    }
    try backups?.makeBeforeMigration(logger)
    store = try SQLiteStore(path: configuration.databasePath, options: options)
    logger.notice("\(SQLiteLibrary.summary)")
    // First pages are answered while the order of every feed is still being read.
    try store.beginLoading()
    application = ApplicationServer(settings, store: store, media: media, logger: logger)
    let refresh = StoreRefresh(
      store, application.readiness, logger: logger, figures: figures)
    // Taking in what a prune or a seed changed takes milliseconds, for which no loop is to wait.
    refresher = PeriodicTask(
      pauseMilliseconds: configuration.refreshIntervalMilliseconds, scheduling: .background,
      refresh.run)
    let walKeeper = WALKeeper(
      WriteAheadLog(of: store, limitBytes: configuration.store.file.logLimitBytes), logger: logger,
      figures: figures)
    checkpoints = PeriodicTask(
      pauseMilliseconds: configuration.checkpointIntervalSeconds * 1000, walKeeper.look)
    store.register(in: figures)
    mediaKeeper = media.flatMap { [store] root in
      MediaKeeper(
        configuration.mediaProbing, root: root, store: store,
        database: configuration.databasePath, logger: logger, figures: figures)
    }
  }

  /// Listens and serves.
  ///
  /// - Returns: the port, which the system picks where 0 was configured.
  /// - Throws: `SystemError`.
  public func start() throws -> UInt16 {
    let port = try application.start()
    try refresher.start()
    try checkpoints.start()
    try backups?.start()
    try mediaKeeper?.start()
    return port
  }

  /// Whether there is nothing yet that it could show.
  public var hasNoFeeds: Bool {
    (try? store.feeds(FeedListQuery(limit: 1))).map { $0.total == 0 } ?? false
  }

  /// From now on these tokens count, and no others; without any, writes are off.
  public func replace(writeTokens: [WriteToken]) { application.replace(writeTokens: writeTokens) }

  /// Ends the service without losing a request: not ready, then no longer accepting, then the requests
  /// in flight.
  public func drain() { application.drain() }

  /// Waits until a drain is done, and closes the database.
  public func wait() throws {
    // It would take processors from requests in flight, and nobody waits for it.
    mediaKeeper?.stop()
    application.wait()
    refresher.stop()
    checkpoints.stop()
    backups?.stop()
    try store.close()
  }
}

extension SQLiteStore {
  /// Shows the sizes of its files.
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
