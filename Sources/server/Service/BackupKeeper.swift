import Backups
import CoreMetrics
import Foundation
import Logging
import Observability
import SQLiteStore
import Synchronization
import System

/// Makes the scheduled backups, on a thread of its own. A failure is logged and counted, and does not
/// stop the service.
final class BackupKeeper: Sendable {
  /// What happened to one.
  enum Outcome: String, CaseIterable, Sendable {
    case made, failed
  }

  private struct State {
    var isStopped = false
    var task: PeriodicTask?
    var running: Backup?
    /// The number of the newest backup that has been looked at.
    var known: Int?
    var last = Figures()
  }

  /// Of the newest backup.
  struct Figures: Sendable {
    /// When it was made; 0 if there is no backup.
    var secondsSince1970 = 0
    var bytes = 0
    /// How long it took; 0 where another program made it.
    var durationSeconds = 0
  }

  private let state = Mutex(State())
  private let folder: BackupFolder
  private let schedule: BackupSchedule
  private let settings: BackupSettings
  let database: String
  let options: DatabaseFile.Options
  private let logger: Logger
  private let outcomes: [Outcome: Counter]

  /// - Throws: `SystemError` for a folder that cannot be used.
  init(
    _ settings: BackupSettings, database: String, options: DatabaseFile.Options, logger: Logger,
    figures: PrometheusRegistry
  ) throws {
    self.settings = settings
    self.database = database
    self.options = options
    self.logger = logger
    outcomes = figures.counters(
      "lookahead_backups_total", help: "Scheduled backups.", of: Outcome.self)
    folder = BackupFolder(path: settings.folder, database: database)
    schedule = BackupSchedule(intervalSeconds: settings.intervalSeconds)
    try folder.requireUsable()
    noteNewest()
    register(in: figures)
  }

  /// Of the newest backup.
  var figures: Figures { state.withLock { $0.last } }

  private func register(in registry: PrometheusRegistry) {
    registry.gauge(
      "lookahead_backup_timestamp_seconds",
      help: "When the newest backup was made; 0: there is none."
    ) { self.figures.secondsSince1970 }
    registry.gauge("lookahead_backup_bytes", help: "Size of the newest backup.") {
      self.figures.bytes
    }
    registry.gauge("lookahead_backup_duration_seconds", help: "How long it took to make it.") {
      self.figures.durationSeconds
    }
  }

  private func count(_ outcome: Outcome) { outcomes[outcome]?.increment() }

  /// Makes a backup at once, in the caller's thread.
  ///
  /// - Throws: what `BackupFolder.add` throws.
  func make() throws -> Backup.Report {
    let backup = Backup(of: database, options: options, compress: settings.isCompressed)
    let isStopped = state.withLock { state in
      state.running = backup
      return state.isStopped
    }
    if isStopped { backup.cancel() }
    defer { state.withLock { $0.running = nil } }
    return try folder.add(
      backup, secondsSince1970: WallClock.secondsSince1970, keeping: settings.kept)
  }

  /// Starts the thread that makes backups.
  ///
  /// - Throws: `SystemError` if the system has no thread.
  func start() throws(SystemError) {
    let task = PeriodicTask(
      firstPauseMilliseconds: { [self] in secondsUntilDue(after: noteKnown()) * 1000 },
      { [self] in look() * 1000 })
    state.withLock { $0.task = task }
    try task.start()
  }

  /// Gives a running backup up, and returns when it is.
  func stop() {
    let (task, running) = state.withLock { state in
      state.isStopped = true
      defer { state.task = nil }
      return (state.task, state.running)
    }
    running?.cancel()
    task?.stop()
  }

  private var newest: BackupFolder.Entry? { try? folder.entries().last }

  private func secondsUntilDue(after newest: BackupFolder.Entry?) -> Int {
    schedule.secondsUntilDue(
      newestAgeSeconds: newest.flatMap { newest in
        // A time that no clock ever had tells no age.
        let (age, overflow) = WallClock.secondsSince1970
          .subtractingReportingOverflow(newest.modifiedSecondsSince1970)
        return overflow ? nil : age
      })
  }

  /// Makes the due backup, unless another server of the same database has made it; returns after how many
  /// seconds, by the monotonic clock, to check again.
  private func look() -> Int {
    let known = state.withLock { $0.known }
    let found = noteKnown()
    if found?.name.number == known {
      defer { noteKnown() }
      return run()
    }
    noteNewest()
    return secondsUntilDue(after: found)
  }

  @discardableResult
  private func noteKnown() -> BackupFolder.Entry? {
    let newest = newest
    state.withLock { $0.known = newest?.name.number }
    return newest
  }

  /// Makes a backup; returns after how many seconds to look again.
  private func run() -> Int {
    let start = MonotonicClock.milliseconds
    do {
      let report = try make()
      let duration = Int(MonotonicClock.milliseconds - start) / 1000
      noteNewest(durationSeconds: duration)
      count(.made)
      logger.info(
        "backup made",
        metadata: [
          "file": "\(report.path)", "bytes": .stringConvertible(report.bytes),
          "posts": .stringConvertible(report.posts),
          "seconds": .stringConvertible(duration),
        ])
      return schedule.secondsUntilDue(newestAgeSeconds: 0)
    } catch BackupError.isBeingMade {
      return schedule.secondsUntilRetry
    } catch is DatabaseCopyCancelled {
      return schedule.secondsUntilRetry
    } catch {
      count(.failed)
      logger.error("backup failed: \(error)")
      return schedule.secondsUntilRetry
    }
  }

  func noteNewest(durationSeconds: Int = 0) {
    guard let newest = try? folder.entries().last else { return }
    let figures = Figures(
      secondsSince1970: newest.modifiedSecondsSince1970, bytes: newest.bytes,
      durationSeconds: durationSeconds)
    state.withLock { $0.last = figures }
  }
}

/// Why the database was not migrated.
struct MigrationWithoutBackup: Error, CustomStringConvertible {
  let migrations: [String]
  let reason: any Error

  var description: String {
    "the database has to be migrated (\(migrations.joined(separator: ", "))), and the backup before "
      + "that failed; nothing was changed: \(reason)"
  }
}

extension BackupKeeper {
  /// A migration cannot be undone: the way back is the backup before it, which is made here where there
  /// is something to migrate.
  ///
  /// - Throws: `MigrationWithoutBackup`, `StoreError`.
  func makeBeforeMigration(_ logger: Logger) throws {
    guard FileManager.default.fileExists(atPath: database) else { return }
    let migrations = try Schema.status(path: database, options: options)
    let pending = migrations.filter { $0.appliedAt == nil }.map(\.name)
    guard !pending.isEmpty, pending.count < migrations.count else { return }
    do {
      let report = try make()
      noteNewest()
      logger.notice("backup made before a migration", metadata: ["file": "\(report.path)"])
    } catch {
      throw MigrationWithoutBackup(migrations: pending, reason: error)
    }
  }
}

/// The settings of a service's scheduled backups.
package struct BackupSettings: Sendable, Hashable {
  /// The folder of the backups: of this database's and no other's.
  package var folder: String
  /// The time from one backup to the next.
  package var intervalSeconds = 86_400
  /// How many are kept.
  package var kept = 7
  /// Whether they are made as gzip.
  package var isCompressed = true

  /// The defaults, into this folder.
  package init(folder: String) {
    self.folder = folder
  }
}
