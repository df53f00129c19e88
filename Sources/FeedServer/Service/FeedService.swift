import Compression
import Feed
import HTTPServer
import Logging
import MediaFiles
import Prefetch
import SQLiteStore

/// The composition root: a store, the application on it, and a server in front, for the program and for
/// its end-to-end tests alike.
public final class FeedService: Sendable {
  private let configuration: FeedServiceConfiguration
  private let store: SQLiteStore
  private let readiness = Readiness()
  private let server: Server
  private let imports: WorkerPool
  private let refresher: Refresher

  /// Opens and migrates the database.
  ///
  /// - Throws: `StoreError`, and `MediaError` for a media folder that cannot be used.
  public init(_ configuration: FeedServiceConfiguration, logger: Logger) throws {
    self.configuration = configuration
    let media = try configuration.mediaRoot.map { try MediaRoot(path: $0) }
    var options = configuration.store
    // One reader for each thread that may read at once, and one for the refresh.
    options.file.readers = configuration.server.eventLoops + configuration.workerThreads + 1
    store = try SQLiteStore(path: configuration.databasePath, options: options)
    // First pages are answered while the order of every feed is still being read.
    try store.beginLoading()
    let figures = ServiceFigures(registry: configuration.figures)
    let clients = ClientAddresses(trustedProxies: configuration.trustedProxies)
    let application = Application(
      configuration, store, readiness, figures, clients, media, logger)
    imports = application.imports
    server = Server(
      configuration: configuration.server, handler: application, logger: logger,
      observer: ServiceObserver(
        figures: figures, log: configuration.requestLog, clients: clients))
    refresher = Refresher(intervalMilliseconds: configuration.refreshIntervalMilliseconds) {
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
    register(figures, application)
  }

  /// Figures that are read when somebody asks for them.
  private func register(_ figures: ServiceFigures, _ application: Application) {
    let (server, store, log) = (server, store, configuration.requestLog)
    let (workers, bodies) = (application.workers, application.encoding.bodies)
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
    figures.total("lookahead_log_dropped_lines_total") { log?.droppedLines ?? 0 }
    figures.feeds { (try? store.feeds()) ?? [] }
  }

  /// Listens and serves.
  ///
  /// - Returns: the port, which the system picks where 0 was configured.
  /// - Throws: `SocketError`.
  public func start() throws -> UInt16 {
    let port = try server.start()
    refresher.start()
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
    refresher.stop()
    configuration.figures.endScrapes()
    try store.close()
  }
}

extension Application {
  fileprivate init(
    _ configuration: FeedServiceConfiguration, _ store: any FeedStore & PolicyStore,
    _ readiness: Readiness, _ figures: ServiceFigures, _ clients: ClientAddresses,
    _ media: MediaRoot?, _ logger: Logger
  ) {
    let caching = CachePolicy(
      maxAgeSeconds: configuration.cacheMaxAgeSeconds,
      staleWhileRevalidateSeconds: configuration.cacheStaleWhileRevalidateSeconds,
      mediaMaxAgeSeconds: configuration.mediaMaxAgeSeconds)
    self.init(
      store: store, readiness: readiness,
      workers: WorkerPool(
        threads: configuration.workerThreads, limit: configuration.workerQueue),
      imports: WorkerPool(
        threads: configuration.maximumImports, limit: configuration.maximumImports),
      caching: caching,
      encoding: BodyEncoding(
        bodies: EncodedBodies(maximumBytes: configuration.encodedMemoryBytes),
        minimumBytes: configuration.compressionMinimumBytes),
      media: media.map { MediaFolder(root: $0, caching: caching.media) },
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
