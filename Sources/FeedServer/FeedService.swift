import HTTPServer
import Logging
import SQLiteStore

/// Every setting of the service.
public struct FeedServiceConfiguration: Sendable {
  /// The SQLite file; made and migrated as needed.
  public var databasePath: String
  /// Of the HTTP server: addresses, limits and deadlines.
  public var server = ServerConfiguration()
  /// Of the store; the service itself sets how many connections read.
  public var store = SQLiteStore.Options()
  /// How long a client may keep a page without asking again.
  public var cacheMaxAgeSeconds = 10
  /// How long after that a cache may show it while it asks again.
  public var cacheStaleWhileRevalidateSeconds = 60
  /// How often the database is looked at for what other processes wrote: a page is behind by no more
  /// than this and the time that it takes to read the change.
  public var refreshIntervalMilliseconds = 20
  /// How many requests that take long run at once.
  public var workerThreads = 2
  /// How many such requests run or wait at the most; one more is answered with 503.
  public var workerQueue = 256
  /// How long requests are still accepted after `SIGTERM`, while the server says that it is not ready.
  public var drainGraceMilliseconds = 0

  /// The defaults, on the database at this path.
  public init(databasePath: String) {
    self.databasePath = databasePath
  }
}

/// The composition root: a store, the application on it, and a server in front, for the program and for
/// its end-to-end tests alike.
public final class FeedService: Sendable {
  private let configuration: FeedServiceConfiguration
  private let store: SQLiteStore
  private let readiness = Readiness()
  private let server: Server
  private let refresher: Refresher

  /// Opens and migrates the database.
  ///
  /// - Throws: `StoreError`.
  public init(_ configuration: FeedServiceConfiguration, logger: Logger) throws {
    self.configuration = configuration
    var options = configuration.store
    // One reader for each thread that may read at once, and one for the refresh.
    options.file.readers = configuration.server.eventLoops + configuration.workerThreads + 1
    store = try SQLiteStore(path: configuration.databasePath, options: options)
    // The first request should not be the one that waits for the order of every feed.
    _ = try store.feeds()
    let application = Application(
      store: store, readiness: readiness,
      workers: WorkerPool(
        threads: configuration.workerThreads, limit: configuration.workerQueue),
      caching: CachePolicy(
        maxAgeSeconds: configuration.cacheMaxAgeSeconds,
        staleWhileRevalidateSeconds: configuration.cacheStaleWhileRevalidateSeconds),
      logger: logger)
    server = Server(configuration: configuration.server, handler: application, logger: logger)
    refresher = Refresher(intervalMilliseconds: configuration.refreshIntervalMilliseconds) {
      [store, readiness] in
      do {
        try store.refresh()
        readiness.noteSuccess()
      } catch {
        // Said once, not fifty times a second.
        if readiness.note(storeProblem: "\(error)") {
          logger.error("cannot read the database: \(error)")
        }
      }
    }
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
    refresher.stop()
    try store.close()
  }
}
