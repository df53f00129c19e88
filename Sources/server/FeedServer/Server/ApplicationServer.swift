import Catalog
import Feed
import HTTPServer
import Logging
import MediaFiles
import Observability
import System

/// The application on a store, and the HTTP server in front of it.
package final class ApplicationServer: Sendable {
  /// Whether requests should be sent to it.
  package let readiness = Readiness()
  private let configuration: ApplicationConfiguration
  private let parts: HandlerParts
  private let server: Server
  private let filler: ItemFiller
  private let access: WriteAccess
  private let purger: CachePurger?
  /// Writes what clients report.
  private let reporting: PeriodicTask
  /// Brings posts into their feeds, and out of them, at their moments.
  private let scheduling: PeriodicTask
  /// Removes abandoned uploads; nil where none are taken in.
  private let sweeping: PeriodicTask?
  /// Decides experiments; nil where that is other servers' work.
  private let deciding: PeriodicTask?
  /// Looks for what is news, as long as the server runs.
  private let watching = WorkerPool(threads: 1, limit: 1)

  /// An application that answers from the store, and from the media folder where there is one.
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
  /// - Returns: the port, which the system picks where 0 was configured.
  /// - Throws: `SystemError`.
  package func start() throws -> UInt16 {
    if !configuration.writeTokens.isEmpty {
      parts.uploads?.begin(parts.logger)
      parts.resumable?.sweep(parts.logger)
    }
    // What became due while no server ran.
    _ = parts.schedules.look()
    let port = try server.start()
    try scheduling.start()
    try sweeping?.start()
    _ = parts.pages.maker.source.writers.run { [filler] in filler.run() }
    _ = watching.run { [parts] in
      // The database may be away for now: then the number of before stays.
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

  /// From now on these tokens count, and no others; without any, writes are off.
  package func replace(writeTokens: [WriteToken]) { access.replace(writeTokens) }

  /// Ends without losing a request: not ready, then no longer accepting, then the requests in flight.
  package func drain() {
    readiness.beginDraining()
    server.drain(graceMilliseconds: configuration.drainGraceMilliseconds)
  }

  /// Waits until a drain is done; nothing asks the store any more then, or is told by figures.
  package func wait() {
    server.wait()
    // Their connections are gone: imports hear that, and end with the batch that they are writing.
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
