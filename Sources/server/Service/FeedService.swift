import Backups
import Catalog
import FeedServer
import Foundation
import Logging
import MediaFiles
import MediaProbe
import ObjectStorage
import Observability
import PostgresStore
import RowStore
import SQLiteStore
import System

// `Backups.Backup` copies the database (`DatabaseCopy`: SQLite's backup interface within one read
// transaction), verifies the copy, compresses it, and names it last (`PartialFile`). `Restore` does the
// reverse; it holds SQLite's own lock bytes (`DatabaseLock`) while it exchanges the files. In the service,
// `BackupKeeper` makes a numbered series of backups, and one before a migration; `WALKeeper` truncates the
// WAL (SQLite's write-ahead log) when it is idle or too large. `DatabaseConnections` are all connections of a
// process to a database except those of pages and copies: no connection checkpoints automatically, and during
// every checkpoint the writer holds the write lock (`CheckpointTests`, with a VFS that sees the locks,
// `WALLocks`). `FileWatch` checks before and after each write, and with each refresh, that the file is still
// the one that was opened. `Pruning` and `Vacuum` run beside servers, which learn of them through
// `change_log`. `StartCheck` finds settings that are unsafe together, for `serve` and `config` alike.
//
// A number that can be set is a row (`SettableNumber`) beside its property; its option, variable, default,
// check and the output of `config` follow from the row, and a test compares docs/settings.md with the rows.
// Each type with figures registers them itself (`register(in:)`), each with its help; figures of single feeds
// are bounded (`FeedFigures`: the largest, `FeedRequests`: the busiest). `StoreRefresh` reads what other
// processes wrote, and applies policies only if all of them are understood (`PolicyError`).

/// The composition root: a store, its maintenance, and the application on it, for the program and for its
/// end-to-end tests alike.
package final class FeedService: Sendable {
  private let configuration: FeedServiceConfiguration
  private let store: any DatabaseStore
  private let application: ApplicationServer
  private let logger: Logger
  private let refresher: PeriodicTask
  /// The care of a SQLite file; `nil` for another database.
  private let fileCare: FileCare?
  private let mediaKeeper: MediaKeeper?
  private let textIndexKeeper: TextIndexKeeper
  private let tuneKeeper: TuneKeeper?

  /// If the store is notified of changes, the service checks it only once in this many intervals, each
  /// counted as at most this long, for changes without a notification.
  private static let (deafIntervals, longestDeafMilliseconds) = (25, 1_000)

  /// Opens and migrates the database.
  ///
  /// - Throws: `StoreError`, `PostgresStoreError`, `PolicyError` for a policy that is not understood,
  ///   `MediaError` for a media folder that cannot be used, and for backups what `BackupFolder` throws.
  package init(_ configuration: FeedServiceConfiguration, logger: Logger) throws {
    (self.configuration, self.logger) = (configuration, logger)
    var settings = configuration.application
    settings.mediaProbe = MediaProbe(
      settings: configuration.mediaProbing.decoding, tools: configuration.mediaProbing.tools)
    let media = try settings.mediaRoot.map {
      try Self.openMedia($0, &settings, configuration.location, logger)
    }
    var opening = configuration.opening
    // One reader for each thread that may read at once, one for the refresh, and one for purging.
    let readers =
      settings.server.eventLoops + settings.workerThreads + 1
      + (settings.purgeTargets.isEmpty ? 0 : 1)
    opening.file.readers = readers
    opening.connections.readers = readers
    let figures = settings.figures
    let backups = try configuration.location.path.flatMap {
      try FileCare.backups(of: $0, configuration, logger)
    }
    let opened = try opening.open(configuration.location)
    store = opened.store
    let software = try store.software()
    logger.notice("\(software)")
    // The service answers first pages while it still reads the orders of feeds.
    try store.beginLoading()
    application = ApplicationServer(settings, store: store, media: media, logger: logger)
    let refresh = StoreRefresh(
      store, application.readiness, logger: logger, figures: figures)
    let standby: StandbyFigures?
    switch opened {
    case .sqlite(let store):
      standby = nil
      fileCare = FileCare(store, backups, configuration, logger)
    case .postgres(let store):
      standby = store.standby.map { StandbyFigures($0, logger: logger, figures: figures) }
      fileCare = nil
    }
    let (store, interval) = (store, configuration.refreshIntervalMilliseconds)
    // Applying the changes of a prune or a seed takes milliseconds, for which no event loop may wait.
    refresher = PeriodicTask(
      pauseMilliseconds: store.hearsOfChanges ? 0 : interval, scheduling: .background
    ) {
      store.waitForChanges(
        atMostMilliseconds: min(interval, Self.longestDeafMilliseconds) * Self.deafIntervals)
      refresh.run()
      standby?.look()
    }
    mediaKeeper = media.flatMap { storage in
      MediaKeeper(
        configuration.mediaProbing, storage, store: store, logger: logger, figures: figures)
    }
    media?.bucket?.register(in: figures)
    textIndexKeeper = TextIndexKeeper(store, logger: logger)
    tuneKeeper = TuneKeeper(
      configuration.tuning, intervalSeconds: settings.experimentSeconds,
      of: configuration.location, store: store, logger: logger, figures: figures)
    tellWriteProblem(settings.writeTokens)
  }

  /// The suffix of a database's name for the folder of incomplete uploads to a bucket.
  private static let spoolSuffix = "-uploads"

  /// Opens the folder of media files, or the bucket, with one test request: wrong keys are an error, but a
  /// store that is unavailable may come back.
  private static func openMedia(
    _ text: String, _ settings: inout ApplicationConfiguration, _ location: StoreLocation,
    _ logger: Logger
  ) throws -> MediaStorage {
    let storage = try MediaStorage.open(
      text, settings.mediaStore, environment: ProcessInfo.processInfo.environment)
    guard let bucket = storage.bucket else { return storage }
    do throws(ObjectStoreError) {
      try bucket.requireUsable()
    } catch {
      guard error.isPassing else { throw error }
      logger.error("\(text) cannot be read for now: \(error)")
    }
    guard let spool = settings.mediaSpoolFolder ?? location.path.map({ $0 + spoolSuffix }) else {
      return storage
    }
    try FileSystem.makeFolder(spool)
    _ = try MediaRoot(path: spool)
    settings.mediaSpoolFolder = spool
    return storage
  }

  /// Logs at the start what writers would see only with the first write: rights may be granted later.
  private func tellWriteProblem(_ tokens: [WriteToken]) {
    guard !tokens.isEmpty, let problem = try? store.writeProblem() else { return }
    logger.error("writes are refused (403): \(problem)")
  }

  /// Listens and serves.
  ///
  /// - Returns: the port, which the system chooses if 0 was configured.
  /// - Throws: `SystemError`.
  package func start() throws -> UInt16 {
    let port = try application.start()
    try refresher.start()
    try fileCare?.start()
    try mediaKeeper?.start()
    try textIndexKeeper.start()
    try tuneKeeper?.start()
    return port
  }

  /// Whether the database has no feeds yet.
  package var hasNoFeeds: Bool {
    (try? store.feeds(FeedListQuery(limit: 1))).map { $0.total == 0 } ?? false
  }

  /// Accepts only these tokens from now on; without any, writes are off.
  package func replace(writeTokens: [WriteToken]) {
    application.replace(writeTokens: writeTokens)
    tellWriteProblem(writeTokens)
  }

  /// Ends the service without losing a request: not ready, then no longer accepting, then the requests
  /// in flight.
  package func drain() { application.drain() }

  /// Waits until a drain is done, and closes the database.
  package func wait() throws {
    // It would use processors that requests in flight need, and no client waits for it.
    tuneKeeper?.stop()
    mediaKeeper?.stop()
    textIndexKeeper.stop()
    application.wait()
    refresher.stop()
    fileCare?.stop()
    try store.close()
  }
}

/// Every setting of the service.
package struct FeedServiceConfiguration: Sendable {
  /// The database, created and migrated as needed.
  package let location: StoreLocation
  /// The settings of the application and its server. Its files are beside the database if that is a file.
  package var application: ApplicationConfiguration
  /// The options for opening the database; the service itself sets the number of reading connections.
  package var opening = StoreOpening()

  /// The interval at which the service checks the database for other processes' writes: a page is behind by
  /// at most this and the time to read the change. If others can wake this process, it checks much less
  /// often.
  package var refreshIntervalMilliseconds = 20
  /// The interval at which the size of the write-ahead log is checked.
  package var checkpointIntervalSeconds = 10
  /// Settings for analyzing the files of the media root, if there is one.
  package var mediaProbing = MediaProbing()
  /// Settings for the search for better policies at night.
  package var tuning = TuningSettings()
  /// Settings of backups; `nil` for none.
  package var backups: BackupSettings?

  /// Creates the defaults, on this database.
  package init(_ location: StoreLocation) {
    self.location = location
    application = ApplicationConfiguration(
      scratchFolder: location.path.map(Self.folder) ?? NSTemporaryDirectory())
  }

  /// Creates the defaults, on the SQLite file at this path.
  package init(databasePath: String) { self.init(.sqlite(path: databasePath)) }

  private static func folder(of path: String) -> String {
    let parts = path.split(separator: "/", omittingEmptySubsequences: false).dropLast()
    return parts.isEmpty
      ? "." : parts.count == 1 && parts[0].isEmpty ? "/" : parts.joined(separator: "/")
  }
}

extension FeedServiceConfiguration {
  /// Numbers that an operator can set for the caching of pages.
  package static let pageNumbers: [SettableNumber<Self>] = [
    .init(
      "refresh-interval-milliseconds", 1...Most.dayMilliseconds, \.refreshIntervalMilliseconds,
      "Interval at which the server looks for writes of other processes.")
  ]

  /// Numbers that an operator can set for the care of the database.
  package static let careNumbers: [SettableNumber<Self>] = [
    .init(
      "checkpoint-interval-seconds", 1...Most.daySeconds, \.checkpointIntervalSeconds,
      "Interval at which the length of the write-ahead log is checked.")
  ]
}
