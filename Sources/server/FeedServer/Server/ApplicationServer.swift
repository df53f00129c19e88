import Catalog
import Feed
import HTTPServer
import Logging
import MediaFiles
import Observability
import System

/// The application on a store, and the HTTP server in front of it.
package final class ApplicationServer: Sendable {
  /// Whether clients should send requests to it.
  package let readiness = Readiness()
  private let configuration: ApplicationConfiguration
  private let parts: HandlerParts
  private let server: Server
  private let filler: ItemFiller
  private let access: WriteAccess
  private let purger: CachePurger?
  /// Writes clients' reports to the store.
  private let reporting: PeriodicTask
  /// Applies the schedules of posts.
  private let scheduling: PeriodicTask
  /// Removes abandoned uploads; `nil` if uploads are off.
  private let sweeping: PeriodicTask?
  /// Decides experiments; `nil` if other servers do.
  private let deciding: PeriodicTask?
  /// Looks for news while the server runs.
  private let watching = WorkerPool(threads: 1, limit: 1)

  /// Creates an application that answers from the store, and from the media folder if there is one.
  package init(
    _ configuration: ApplicationConfiguration,
    store: any FeedStore & PolicyStore & MediaStore & ReportStore & ExperimentStore & ChangeStore,
    media: MediaStorage?,
    logger: Logger
  ) {
    self.configuration = configuration
    let parts = HandlerParts(configuration, store, readiness, media, logger)
    self.parts = parts
    access = WriteAccess(configuration.writeTokens)
    purger = configuration.purgeSettings.map {
      CachePurger(store, $0, configuration.figures, logger)
    }
    filler = ItemFiller(
      store: store, file: parts.pages.maker.source.file, linking: parts.linking)
    let reports = parts.reports
    reporting = PeriodicTask(pauseMilliseconds: configuration.reports.flushMilliseconds) {
      reports.flush()
    }
    let schedules = parts.schedules
    scheduling = PeriodicTask(firstPauseMilliseconds: { 1 }, schedules.look)
    sweeping = parts.resumable.map { resumable in
      PeriodicTask(
        pauseMilliseconds: resumable.sweepMilliseconds, scheduling: .background
      ) {
        resumable.sweep(logger)
        parts.uploads?.abortUnfinished(logger)
      }
    }
    let (experiments, seconds) = (parts.experiments, configuration.experimentSeconds)
    deciding =
      seconds > 0
      ? PeriodicTask(pauseMilliseconds: 1_000 * seconds, scheduling: .background) {
        experiments.look()
      } : nil
    let server = Server(
      configuration: configuration.server, handler: Application(parts, access), logger: logger,
      observer: ApplicationObserver(
        figures: parts.figures, log: configuration.requestLog, clients: parts.clients))
    self.server = server
    configuration.figures.gauge(
      "lookahead_http_connections", help: "Open connections."
    ) { server.connectionCount }
    parts.registerFigures()
    FeedFigures(of: store, limit: configuration.feedFigures).register(in: configuration.figures)
    configuration.requestLog?.register(in: configuration.figures)
  }

  /// Listens and serves.
  ///
  /// - Returns: the port, which the system chooses if 0 was configured.
  /// - Throws: `SystemError`.
  package func start() throws -> UInt16 {
    if !configuration.writeTokens.isEmpty {
      parts.uploads?.begin(parts.logger)
      parts.resumable?.sweep(parts.logger)
    }
    // Applies what became due while no server ran.
    _ = parts.schedules.look()
    let port = try server.start()
    try scheduling.start()
    try sweeping?.start()
    _ = parts.pages.maker.source.writers.run { [filler] in filler.run() }
    _ = watching.run { [parts] in
      // The database may be unavailable for now: then the previous number stays.
      do {
        try parts.store.keepChanges(parts.configuration.keptChanges)
      } catch {
        parts.logger.warning("cannot set --kept-changes in the database: \(error)")
      }
      parts.events.run()
    }
    purger?.start()
    if configuration.reports.taken != .off { try reporting.start() }
    try deciding?.start()
    try parts.webhooks.start()
    return port
  }

  /// Accepts only these tokens from now on; without any, writes are off.
  package func replace(writeTokens: [WriteToken]) { access.replace(writeTokens) }

  /// Ends without losing a request: the server becomes not ready, then stops accepting, then finishes the
  /// requests in flight.
  package func drain() {
    readiness.beginDraining()
    server.drain(graceMilliseconds: configuration.drainGraceMilliseconds)
  }

  /// Waits until a drain is done; after that, neither requests nor figures use the store.
  package func wait() {
    server.wait()
    // Their connections are closed: imports notice that, and end with the current batch.
    parts.imports.wait()
    parts.uploads?.pool.wait()
    parts.renditions?.stop()
    parts.scrapes.wait()
    filler.stop()
    parts.events.stop()
    scheduling.stop()
    sweeping?.stop()
    deciding?.stop()
    parts.webhooks.stop()
    reporting.stop()
    if configuration.reports.taken != .off { parts.reports.flush() }
    watching.wait()
    purger?.stop()
    parts.pages.maker.source.writers.wait()
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
}
