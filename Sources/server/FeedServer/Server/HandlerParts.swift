import Catalog
import Compression
import Feed
import Logging
import MediaFiles
import Observability
import System

/// The parts of handlers, created once at the start. Each handler takes the parts that it needs: see the
/// table of `Route`.
struct HandlerParts: Sendable {
  let configuration: ApplicationConfiguration
  let store: any FeedStore & PolicyStore & MediaStore & ReportStore & ExperimentStore & ChangeStore
  let readiness: Readiness
  let clients: ClientAddresses
  let figures: ApplicationFigures
  let feedRequests: FeedRequests
  let caching: CachePolicy
  let schedules: ScheduleKeeper
  let media: MediaFolder?
  let uploads: MediaUploads?
  let resumable: ResumableUploads?
  let renditions: RenditionQueue?
  let linking: MediaLinking
  let workers: RequestWorkers
  let encoding: BodyEncoding
  let pages: Pages
  let writes: SingleWrites
  let events: FeedEvents
  let reports: ReportCollector
  let outcomes: PolicyOutcomes
  /// The tokens that pages hand out; `nil` without a key.
  let reportTokens: ReportTokens?
  /// The fields that pages hand out for reports.
  let handouts: PageHandouts?
  let experiments: ExperimentKeeper
  let webhooks: WebhookKeeper
  let imports: WorkerPool
  let scrapes = WorkerPool(threads: 1, limit: 8)
  let logger: Logger

  /// The number of pages whose items may wait to be written to the item file; those of further pages are not
  /// kept.
  private static let waitingItemWrites = 64

  init(
    _ configuration: ApplicationConfiguration,
    _ store: any FeedStore & PolicyStore & MediaStore & ReportStore & ExperimentStore & ChangeStore,
    _ readiness: Readiness,
    _ media: MediaStorage?, _ logger: Logger
  ) {
    self.configuration = configuration
    self.store = store
    self.readiness = readiness
    self.logger = logger
    clients = ClientAddresses(trustedProxies: configuration.trustedProxies)
    figures = ApplicationFigures(registry: configuration.figures)
    feedRequests = FeedRequests(limit: configuration.feedFigures)
    schedules = ScheduleKeeper(store, configuration.figures, logger)
    caching = CachePolicy(
      maxAgeSeconds: configuration.cacheMaxAgeSeconds,
      staleWhileRevalidateSeconds: configuration.cacheStaleWhileRevalidateSeconds,
      keyField: configuration.cacheKeyField, until: NextMoment(store.dueMoments))
    let folder = media.map { configuration.folder($0, of: store) }
    self.media = folder
    uploads = folder.flatMap { MediaUploads($0, store, configuration) }
    resumable = uploads.map { ResumableUploads($0, configuration) }
    renditions = folder.map { RenditionQueue($0, store, configuration, logger) }
    linking = folder.map { configuration.linking($0) } ?? .asRecorded
    workers = RequestWorkers(
      threads: configuration.workerThreads, limit: configuration.workerQueue, clients: clients)
    // Whole pages are requested most, and compressed bodies have a third of the size.
    let bodiesBytes = configuration.encodedMemoryBytes / 4
    encoding = BodyEncoding(
      bodies: EncodedBodies(maximumBytes: bodiesBytes),
      minimumBytes: configuration.compressionMinimumBytes, workers: workers)
    let source = ItemSource(
      store: store,
      file: ItemFile(
        store: store, folder: configuration.scratchFolder,
        maximumBytes: configuration.itemFileBytes),
      writers: WorkerPool(threads: 1, limit: Self.waitingItemWrites), figures: figures)
    pages = Pages(
      kept: KeptPages(
        of: store, maximumBytes: configuration.encodedMemoryBytes - bodiesBytes),
      maker: PageMaker(store: store, source: source), encoding: encoding, workers: workers,
      caching: caching.pages, linking: linking, requests: feedRequests)
    writes = SingleWrites(store: store, durations: figures.writes)
    events = FeedEvents(
      store: store, maximumListeners: configuration.eventListeners,
      lookMilliseconds: configuration.eventLookMilliseconds)
    reports = ReportCollector(
      store, configuration.reports, configuration.figures, logger, hour: configuration.reportClock)
    reportTokens = configuration.reportTokens
    handouts = PageHandouts(
      reportTokens, recordPermille: configuration.reports.sharedPermille)
    outcomes = PolicyOutcomes(store, leastSessions: configuration.reports.leastSessions)
    experiments = ExperimentKeeper(
      store, seconds: configuration.experimentSeconds, configuration.figures, logger,
      hour: configuration.reportClock)
    webhooks = WebhookKeeper(
      store, configuration.webhooks, scratchFolder: configuration.scratchFolder, logger)
    imports = WorkerPool(
      threads: configuration.maximumImports, limit: configuration.maximumImports)
  }

  /// Registers the figures of all parts.
  func registerFigures() {
    let registry = configuration.figures
    workers.register(in: registry)
    encoding.bodies.register(in: registry)
    events.register(in: registry)
    feedRequests.register(in: registry, with: pages.kept)
    pages.kept.register(in: registry)
    pages.maker.source.file.register(in: registry)
    reports.register(in: registry)
    experiments.register(in: registry)
    webhooks.register(in: registry)
    resumable?.register(in: registry)
    media?.objects?.register(in: registry)
  }
}

extension ApplicationConfiguration {
  fileprivate func linking(_ folder: MediaFolder) -> MediaLinking {
    if mediaDelivery == .direct, let links = folder.links { return .stored(links) }
    return folder.signer.map { .signed($0) } ?? .byContent
  }

  fileprivate func folder(_ storage: MediaStorage, of store: any MediaStore) -> MediaFolder {
    var folder = MediaFolder(
      storage, maxAgeSeconds: mediaMaxAgeSeconds,
      versions: MediaVersions(store: store, comparedBytes: mediaComparedBytes))
    folder.maximumOpenFiles = openMediaFiles
    if !mediaSigningKeys.isEmpty {
      folder.signer = MediaSigner(
        keys: mediaSigningKeys, leastSeconds: mediaURLSeconds, stepSeconds: mediaURLStepSeconds,
        now: mediaURLClock)
    }
    guard let bucket = storage.bucket else { return folder }
    folder.objects = ObjectReader(bucket, mediaStore)
    if let mediaSpoolFolder { folder.spool = try? MediaRoot(path: mediaSpoolFolder) }
    if mediaDelivery != .through {
      folder.links = ObjectLinks(
        bucket: bucket, leastSeconds: mediaURLSeconds, stepSeconds: mediaURLStepSeconds,
        now: mediaURLClock)
    }
    return folder
  }
}
