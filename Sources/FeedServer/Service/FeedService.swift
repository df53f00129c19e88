import Backups
import Compression
import Feed
import HTTPServer
import Logging
import MediaFiles
import Prefetch
import SQLiteStore
import System

/// The composition root: a store, the application on it, and a server in front, for the program and for
/// its end-to-end tests alike.
public final class FeedService: Sendable {
  private let configuration: FeedServiceConfiguration
  private let store: SQLiteStore
  private let readiness = Readiness()
  private let server: Server
  private let imports: WorkerPool
  private let itemWriters: WorkerPool
  private let filler: ItemFiller
  private let refresher: PeriodicTask
  private let checkpoints: PeriodicTask
  private let backups: BackupKeeper?

  /// Opens and migrates the database.
  ///
  /// - Throws: `StoreError`, `MediaError` for a media folder that cannot be used, and for backups what
  ///   `BackupFolder` throws.
  public init(_ configuration: FeedServiceConfiguration, logger: Logger) throws {
    self.configuration = configuration
    let media = try configuration.mediaRoot.map { try MediaRoot(path: $0) }
    var options = configuration.store
    // One reader for each thread that may read at once, and one for the refresh.
    options.file.readers = configuration.server.eventLoops + configuration.workerThreads + 1
    let figures = ServiceFigures(registry: configuration.figures)
    backups = try configuration.backups.map {
      try BackupKeeper(
        $0, database: configuration.databasePath, options: options.file, logger: logger,
        count: figures.note)
    }
    try backups?.makeBeforeMigration(logger)
    store = try SQLiteStore(path: configuration.databasePath, options: options)
    logger.notice("\(SQLiteLibrary.summary)")
    // First pages are answered while the order of every feed is still being read.
    try store.beginLoading()
    let clients = ClientAddresses(trustedProxies: configuration.trustedProxies)
    let application = Application(
      configuration, store, readiness, figures, clients, media, logger)
    imports = application.imports
    let source = application.pages.maker.source
    itemWriters = source.writers
    filler = ItemFiller(store: store, file: source.file)
    server = Server(
      configuration: configuration.server, handler: application, logger: logger,
      observer: ServiceObserver(
        figures: figures, log: configuration.requestLog, clients: clients))
    refresher = PeriodicTask(pauseMilliseconds: configuration.refreshIntervalMilliseconds) {
      [store, readiness] in
      do {
        try store.refresh()
        figures.refreshes.increment()
        readiness.noteSuccess()
      } catch {
        figures.failedRefreshes.increment()
        // Said once, not fifty times a second.
        if readiness.note(storeProblem: "\(error)") {
          logger.error("cannot read the database: \(error)")
        }
      }
    }
    let log = LogKeeper(
      WriteAheadLog(of: store, limitBytes: configuration.store.file.logLimitBytes), logger: logger,
      count: figures.note)
    checkpoints = PeriodicTask(
      pauseMilliseconds: configuration.checkpointIntervalSeconds * 1000, log.look)
    register(figures, application)
  }

  /// Figures that are read when somebody asks for them.
  private func register(_ figures: ServiceFigures, _ application: Application) {
    let (server, store, log) = (server, store, configuration.requestLog)
    let (workers, bodies) = (application.workers, application.encoding.bodies)
    let (pages, items) = (application.pages.kept, application.pages.maker.source.file)
    figures.gauge("lookahead_http_connections") { server.connectionCount }
    figures.gauge("lookahead_workers") { workers.count }
    figures.gauge("lookahead_sqlite_file_bytes", [("file", "database")]) {
      store.fileBytes.database
    }
    figures.gauge("lookahead_sqlite_file_bytes", [("file", "wal")]) {
      store.fileBytes.writeAheadLog
    }
    figures.gauge("lookahead_encoded_bodies_bytes") { bodies.figures.bytes }
    figures.total("lookahead_encoded_bodies_hits_total") { bodies.figures.hits }
    figures.total("lookahead_encoded_bodies_misses_total") { bodies.figures.misses }
    figures.total("lookahead_encoded_bodies_evictions_total") { bodies.figures.evictions }
    figures.gauge("lookahead_pages_bytes") { pages.figures.bytes }
    figures.total("lookahead_pages_hits_total") { pages.figures.hits }
    figures.total("lookahead_pages_misses_total") { pages.figures.misses }
    figures.total("lookahead_pages_evictions_total") { pages.figures.evictions }
    figures.gauge("lookahead_item_file_bytes") { items.figures.bytes }
    figures.gauge("lookahead_item_file_items") { items.figures.items }
    figures.total("lookahead_item_file_hits_total") { items.figures.hits }
    figures.total("lookahead_item_file_misses_total") { items.figures.misses }
    figures.total("lookahead_item_file_renewals_total") { items.figures.renewals }
    figures.total("lookahead_item_file_failures_total") { items.figures.failures }
    figures.total("lookahead_log_dropped_lines_total") { log?.droppedLines ?? 0 }
    if let backups {
      figures.gauge("lookahead_backup_timestamp_seconds") { backups.figures.secondsSince1970 }
      figures.gauge("lookahead_backup_bytes") { backups.figures.bytes }
      figures.gauge("lookahead_backup_duration_seconds") { backups.figures.durationSeconds }
    }
    figures.feeds { (try? store.feeds()) ?? [] }
  }

  /// Listens and serves.
  ///
  /// - Returns: the port, which the system picks where 0 was configured.
  /// - Throws: `SystemError`.
  public func start() throws -> UInt16 {
    let port = try server.start()
    try refresher.start()
    _ = itemWriters.run { [filler] in filler.run() }
    try checkpoints.start()
    try backups?.start()
    return port
  }

  /// Ends the service without losing a request: not ready, then no longer accepting, then the requests
  /// in flight.
  public func drain() {
    readiness.beginDraining()
    server.drain(graceMilliseconds: configuration.drainGraceMilliseconds)
  }

  /// Waits until a drain is done, and closes the database.
  public func wait() throws {
    server.wait()
    // Their connections are gone: imports hear that, and end with the batch that they are writing.
    imports.wait()
    filler.stop()
    itemWriters.wait()
    refresher.stop()
    checkpoints.stop()
    backups?.stop()
    configuration.figures.endScrapes()
    try store.close()
  }
}

extension Application {
  /// How many pages' items may wait to be written to the item file; those of one more are not kept.
  private static let waitingItemWrites = 64

  fileprivate init(
    _ configuration: FeedServiceConfiguration, _ store: any FeedStore & PolicyStore,
    _ readiness: Readiness, _ figures: ServiceFigures, _ clients: ClientAddresses,
    _ media: MediaRoot?, _ logger: Logger
  ) {
    let caching = CachePolicy(
      maxAgeSeconds: configuration.cacheMaxAgeSeconds,
      staleWhileRevalidateSeconds: configuration.cacheStaleWhileRevalidateSeconds,
      mediaMaxAgeSeconds: configuration.mediaMaxAgeSeconds)
    let file = ItemFile(
      store: store, folder: configuration.scratchFolder, maximumBytes: configuration.itemFileBytes)
    let source = ItemSource(
      store: store, file: file, writers: WorkerPool(threads: 1, limit: Self.waitingItemWrites),
      figures: figures)
    // Whole pages are what is asked for most; what is compressed is a third of the size.
    let bodiesBytes = configuration.encodedMemoryBytes / 4
    let workers = WorkerPool(
      threads: configuration.workerThreads, limit: configuration.workerQueue)
    let encoding = BodyEncoding(
      bodies: EncodedBodies(maximumBytes: bodiesBytes),
      minimumBytes: configuration.compressionMinimumBytes, workers: workers)
    let kept = KeptPages(
      of: store, maximumBytes: configuration.encodedMemoryBytes - bodiesBytes)
    self.init(
      store: store, readiness: readiness, workers: workers,
      imports: WorkerPool(
        threads: configuration.maximumImports, limit: configuration.maximumImports),
      caching: caching,
      encoding: encoding,
      pages: Pages(
        kept: kept, maker: PageMaker(store: store, source: source), encoding: encoding,
        workers: workers, caching: caching.pages),
      media: media.map {
        MediaFolder(
          root: $0, caching: caching.media, maximumOpenFiles: configuration.openMediaFiles)
      },
      access: WriteAccess(token: configuration.writeToken),
      rate: configuration.requestsPerSecond == 0
        ? nil
        : RequestRate(
          perSecond: configuration.requestsPerSecond, burst: configuration.requestBurst,
          maximumClients: configuration.rateLimitClients),
      clients: clients, figures: figures, seeder: configuration.seeder,
      bodyLimits: BodyLimits(
        bodyBytes: configuration.server.limits.bodyBytes, importBytes: configuration.importBytes),
      logger: logger)
  }
}
