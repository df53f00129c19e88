import Catalog
import Compression
import Feed
import HTTPServer
import Logging
import MediaFiles
import Observability
import System

/// The application on a store, and the HTTP server in front of it.
public final class ApplicationServer: Sendable {
  /// Whether requests should be sent to it.
  public let readiness = Readiness()
  private let configuration: ApplicationConfiguration
  private let server: Server
  private let imports: WorkerPool
  private let scrapes: WorkerPool
  private let itemWriters: WorkerPool
  private let filler: ItemFiller
  private let events: FeedEvents
  private let access: WriteAccess
  private let purger: CachePurger?
  /// Looks for what is news, as long as the server runs.
  private let watching = WorkerPool(threads: 1, limit: 1)

  /// An application that answers from the store, and from the media folder where there is one.
  public init(
    _ configuration: ApplicationConfiguration, store: any FeedStore & PolicyStore & MediaStore,
    media: MediaRoot?, logger: Logger
  ) {
    self.configuration = configuration
    let figures = ApplicationFigures(registry: configuration.figures)
    let clients = ClientAddresses(trustedProxies: configuration.trustedProxies)
    let application = Application(
      configuration, store, readiness, figures, clients, media, logger)
    imports = application.imports
    scrapes = application.scrapes
    events = application.events
    access = application.access
    purger = configuration.purgeSettings.map {
      CachePurger(store, $0, configuration.figures, logger)
    }
    let source = application.pages.maker.source
    itemWriters = source.writers
    filler = ItemFiller(store: store, file: source.file, linking: application.linking)
    server = Server(
      configuration: configuration.server, handler: application, logger: logger,
      observer: ApplicationObserver(
        figures: figures, log: configuration.requestLog, clients: clients))
    let server = server
    configuration.figures.gauge(
      "lookahead_http_connections", help: "Connections that are served now."
    ) { server.connectionCount }
    application.register(in: configuration.figures)
    FeedFigures(of: store, limit: configuration.feedFigures).register(in: configuration.figures)
    configuration.requestLog?.register(in: configuration.figures)
  }

  /// Listens and serves.
  ///
  /// - Returns: the port, which the system picks where 0 was configured.
  /// - Throws: `SystemError`.
  public func start() throws -> UInt16 {
    let port = try server.start()
    _ = itemWriters.run { [filler] in filler.run() }
    _ = watching.run { [events] in events.run() }
    purger?.start()
    return port
  }

  /// From now on these tokens count, and no others; without any, writes are off.
  public func replace(writeTokens: [WriteToken]) { access.replace(writeTokens) }

  /// Ends without losing a request: not ready, then no longer accepting, then the requests in flight.
  public func drain() {
    readiness.beginDraining()
    server.drain(graceMilliseconds: configuration.drainGraceMilliseconds)
  }

  /// Waits until a drain is done; nothing asks the store any more then, or is told by figures.
  public func wait() {
    server.wait()
    // Their connections are gone: imports hear that, and end with the batch that they are writing.
    imports.wait()
    scrapes.wait()
    filler.stop()
    events.stop()
    watching.wait()
    purger?.stop()
    itemWriters.wait()
    configuration.figures.endScrapes()
  }
}

extension ApplicationConfiguration {
  fileprivate var purgeSettings: PurgeSettings? {
    guard let cacheKeyField, !purgeTargets.isEmpty else { return nil }
    return PurgeSettings(
      field: cacheKeyField, targets: purgeTargets,
      intervalMilliseconds: purgeIntervalMilliseconds, againMilliseconds: purgeAgainMilliseconds,
      timeoutMilliseconds: purgeTimeoutMilliseconds, maximumKeys: purgeKeys)
  }

  fileprivate func folder(_ root: MediaRoot, of store: any MediaStore) -> MediaFolder {
    var folder = MediaFolder(
      root: root, maxAgeSeconds: mediaMaxAgeSeconds,
      versions: MediaVersions(store: store, comparedBytes: mediaComparedBytes))
    folder.maximumOpenFiles = openMediaFiles
    if !mediaSigningKeys.isEmpty {
      folder.signer = MediaSigner(
        keys: mediaSigningKeys, leastSeconds: mediaURLSeconds, stepSeconds: mediaURLStepSeconds,
        now: mediaURLClock)
    }
    return folder
  }
}

extension Application {
  /// How many pages' items may wait to be written to the item file; those of one more are not kept.
  private static let waitingItemWrites = 64

  fileprivate init(
    _ configuration: ApplicationConfiguration, _ store: any FeedStore & PolicyStore & MediaStore,
    _ readiness: Readiness, _ figures: ApplicationFigures, _ clients: ClientAddresses,
    _ media: MediaRoot?, _ logger: Logger
  ) {
    let caching = CachePolicy(
      maxAgeSeconds: configuration.cacheMaxAgeSeconds,
      staleWhileRevalidateSeconds: configuration.cacheStaleWhileRevalidateSeconds,
      keyField: configuration.cacheKeyField)
    let folder = media.map { configuration.folder($0, of: store) }
    let linking: MediaLinking =
      folder.map { folder in folder.signer.map { .signed($0) } ?? .byContent } ?? .asRecorded
    let file = ItemFile(
      store: store, folder: configuration.scratchFolder, maximumBytes: configuration.itemFileBytes)
    let source = ItemSource(
      store: store, file: file, writers: WorkerPool(threads: 1, limit: Self.waitingItemWrites),
      figures: figures)
    // Whole pages are what is asked for most; what is compressed is a third of the size.
    let bodiesBytes = configuration.encodedMemoryBytes / 4
    let workers = RequestWorkers(
      threads: configuration.workerThreads, limit: configuration.workerQueue, clients: clients)
    let encoding = BodyEncoding(
      bodies: EncodedBodies(maximumBytes: bodiesBytes),
      minimumBytes: configuration.compressionMinimumBytes, workers: workers)
    let feedRequests = FeedRequests(limit: configuration.feedFigures)
    let kept = KeptPages(
      of: store, maximumBytes: configuration.encodedMemoryBytes - bodiesBytes)
    self.init(
      store: store, readiness: readiness, workers: workers,
      imports: WorkerPool(
        threads: configuration.maximumImports, limit: configuration.maximumImports),
      caching: caching,
      hosts: AllowedHosts(
        publicURL: configuration.publicURL, named: configuration.allowedHosts,
        listening: configuration.server.host),
      encoding: encoding,
      pages: Pages(
        kept: kept, maker: PageMaker(store: store, source: source), encoding: encoding,
        workers: workers, caching: caching.pages, linking: linking, requests: feedRequests),
      events: FeedEvents(
        store: store, maximumListeners: configuration.eventListeners,
        lookMilliseconds: configuration.eventLookMilliseconds),
      media: folder, linking: linking,
      access: WriteAccess(configuration.writeTokens),
      rate: configuration.requestsPerSecond == 0
        ? nil
        : RequestRate(
          perSecond: configuration.requestsPerSecond, burst: configuration.requestBurst,
          maximumClients: configuration.rateLimitClients),
      clients: clients, figures: figures, feedRequests: feedRequests, seeder: configuration.seeder,
      bodyLimits: BodyLimits(
        bodyBytes: configuration.server.limits.bodyBytes, importBytes: configuration.importBytes),
      hasPage: configuration.hasPage, labReport: configuration.labReport.map(LabReportFile.init),
      logger: logger)
  }

  /// Lets what it is made of register its figures.
  fileprivate func register(in registry: PrometheusRegistry) {
    workers.register(in: registry)
    encoding.bodies.register(in: registry)
    events.register(in: registry)
    feedRequests.register(in: registry, with: pages.kept)
    pages.kept.register(in: registry)
    pages.maker.source.file.register(in: registry)
  }
}
