import Backups
import CoreMetrics
import Foundation
import Logging
import ObjectStorage
import Observability
import SQLiteStore
import Synchronization
import System

/// Makes the scheduled backups, on a thread of its own. A failure is logged and counted, and does not
/// stop the service.
final class BackupKeeper: Sendable {
  /// The result of a backup.
  enum Outcome: String, CaseIterable, Sendable {
    case made, failed
  }

  private struct State {
    var isStopped = false
    var task: PeriodicTask?
    var running: Backup?
    /// The path of a backup for which the command has not yet run.
    var unhanded: String?
    /// The number of the newest backup that has been seen.
    var known: Int?
    var last = Figures()
  }

  /// Figures of the newest backup.
  struct Figures: Sendable {
    /// The time at which it was made; 0 if there is no backup.
    var secondsSince1970 = 0
    var bytes = 0
    /// The time that it took; 0 if another program made it.
    var durationSeconds = 0
  }

  /// The result of a command after a backup.
  enum CommandOutcome: String, CaseIterable, Sendable {
    case succeeded, failed
  }

  private let state = Mutex(State())
  private let folder: any BackupSeries
  private let schedule: BackupSchedule
  private let settings: BackupSettings
  let database: String
  let options: DatabaseFile.Options
  private let logger: Logger
  private let outcomes: [Outcome: Counter]
  private let commandOutcomes: [CommandOutcome: Counter]
  private let cancellation = Cancellation()

  /// - Throws: `SystemError` for a folder or command that cannot be used.
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
    commandOutcomes = figures.counters(
      "lookahead_backup_commands_total", help: "Runs of --backup-command.", of: CommandOutcome.self)
    folder = try settings.series(of: database, cancellation)
    schedule = BackupSchedule(intervalSeconds: settings.intervalSeconds)
    try folder.requireUsable()
    if let command = settings.command {
      try FileSystem.require([.executing], command)
      guard try FileStatus(path: command).isRegularFile else {
        throw SystemError(call: "stat", purpose: "run \(command)", code: EACCES)
      }
    }
    noteNewest()
    register(in: figures)
  }

  /// Figures of the newest backup.
  var figures: Figures { state.withLock { $0.last } }

  private func register(in registry: PrometheusRegistry) {
    registry.gauge(
      "lookahead_backup_timestamp_seconds",
      help: "Time of the newest backup; 0: there is none."
    ) { self.figures.secondsSince1970 }
    registry.gauge("lookahead_backup_bytes", help: "Size of the newest backup.") {
      self.figures.bytes
    }
    registry.gauge("lookahead_backup_duration_seconds", help: "Time to make the newest backup.") {
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
      firstPauseMilliseconds: { [self] in
        if let path = state.withLock({ $0.unhanded.take() }) { runCommand(on: path) }
        return secondsUntilDue(after: noteKnown()) * 1000
      },
      { [self] in look() * 1000 })
    state.withLock { $0.task = task }
    try task.start()
  }

  /// Cancels a running backup, and returns when it has ended.
  func stop() {
    let (task, running) = state.withLock { state in
      state.isStopped = true
      defer { state.task = nil }
      return (state.task, state.running)
    }
    running?.cancel()
    cancellation.cancel()
    task?.stop()
  }

  private var newest: BackupFolder.Entry? { try? folder.entries().last }

  private func secondsUntilDue(after newest: BackupFolder.Entry?) -> Int {
    schedule.secondsUntilDue(
      newestAgeSeconds: newest.flatMap { newest in
        // A time beyond any clock gives no age.
        let (age, overflow) = WallClock.secondsSince1970
          .subtractingReportingOverflow(newest.modifiedSecondsSince1970)
        return overflow ? nil : age
      })
  }

  /// Makes the due backup, unless another server of the same database has made it. Returns the seconds until
  /// the next look, by the monotonic clock.
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

  /// Makes a backup. Returns the seconds until the next look.
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
      let made = MonotonicClock.milliseconds
      runCommand(on: report.path)
      return schedule.secondsUntilDue(
        newestAgeSeconds: Int(MonotonicClock.milliseconds - made) / 1000)
    } catch BackupError.isBeingMade {
      return schedule.secondsUntilRetry
    } catch is DatabaseCopyCancelled, ObjectStoreError.cancelled {
      return schedule.secondsUntilRetry
    } catch {
      count(.failed)
      logger.error("backup failed: \(error)")
      return schedule.secondsUntilRetry
    }
  }

  /// The maximum bytes of the command's output in the log.
  private static let loggedBytes = 1_000

  /// Runs the configured command with a backup's path, and waits for its end. The command has this process's
  /// environment without the `LOOKAHEAD_` variables, some of which are secrets, and the root folder as its
  /// working folder.
  func runCommand(on path: String) {
    guard let command = settings.command else { return }
    let variables = ProcessInfo.processInfo.environment.filter { !$0.key.hasPrefix("LOOKAHEAD_") }
    var limits = ChildProcess.Limits(
      timeMilliseconds: settings.commandSeconds * 1000, memoryBytes: .max, outputBytes: 0)
    limits.fileBytes = .max
    limits.openFiles = 1_024
    let start = MonotonicClock.milliseconds
    var metadata: Logger.Metadata = ["command": "\(command)", "file": "\(path)"]
    var problem: String?
    do {
      let outcome = try ChildProcess(
        path: command, arguments: [path], environment: variables.map { "\($0.key)=\($0.value)" },
        limits: limits, hasNetwork: true
      ).run(output: try Descriptor("/dev/null", .appending), cancellation: cancellation)
      problem = outcome.end.problem(limitSeconds: settings.commandSeconds)
      let said = outcome.errors.prefix(Self.loggedBytes)
      if !said.isEmpty { metadata["said"] = "\(String(decoding: said, as: UTF8.self))" }
    } catch {
      problem = "\(error)"
    }
    metadata["seconds"] = .stringConvertible(Int(MonotonicClock.milliseconds - start) / 1000)
    if let problem {
      commandOutcomes[.failed]?.increment()
      logger.error("the backup command failed: \(problem)", metadata: metadata)
    } else {
      commandOutcomes[.succeeded]?.increment()
      logger.info("backup command run", metadata: metadata)
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

extension ChildProcess.End {
  /// The problem, as a clause; `nil` after a normal end.
  fileprivate func problem(limitSeconds: Int) -> String? {
    switch self {
    case .exited(0): nil
    case .exited(let status): "it exited with status \(status)"
    case .signalled(let signal): "it was killed by signal \(signal)"
    case .timedOut:
      "it took more than \(limitSeconds) seconds (--backup-command-seconds) and was killed"
    case .wroteTooMuch: "it wrote too much output and was killed"
    case .cancelled: "the server stopped before it finished"
    }
  }
}

/// The reason why the database was not migrated.
struct MigrationWithoutBackup: Error, CustomStringConvertible {
  let migrations: [String]
  let reason: any Error

  var description: String {
    "the database needs migrations (\(migrations.joined(separator: ", "))), but the backup before "
      + "them failed; nothing was changed: \(reason)"
  }
}

extension BackupKeeper {
  /// Makes a backup if there is something to migrate: a migration cannot be undone, except by restoring the
  /// backup before it.
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
      // The command runs after the server has started, which does not wait for it.
      state.withLock { $0.unhanded = report.path }
    } catch {
      throw MigrationWithoutBackup(migrations: pending, reason: error)
    }
  }
}

/// The settings of a service's scheduled backups.
package struct BackupSettings: Sendable, Hashable {
  /// The folder of the backups, or `s3://bucket/prefix`, for this database only.
  package var folder: String
  /// The time from one backup to the next.
  package var intervalSeconds = 86_400
  /// The number of backups that are kept.
  package var kept = 7
  /// Whether backups are compressed with gzip.
  package var isCompressed = true
  /// The path of a program that runs after each backup, with the backup's path; `nil` for none.
  package var command: String?
  /// The maximum time for the program.
  package var commandSeconds = 3_600

  /// Creates the defaults, with this folder.
  package init(folder: String) {
    self.folder = folder
  }

  /// The folder on this machine; `nil` for a bucket.
  package var localFolder: String? { ObjectAddress.isOne(folder) ? nil : folder }

  /// The series of backups in the folder or bucket.
  ///
  /// - Throws: `ObjectStoreError`.
  fileprivate func series(
    of database: String, _ cancellation: Cancellation
  ) throws(ObjectStoreError) -> any BackupSeries {
    guard ObjectAddress.isOne(folder) else { return BackupFolder(path: folder, database: database) }
    let store = ObjectStore(
      try ObjectAddress(folder), try .init(environment: ProcessInfo.processInfo.environment),
      cancellation: cancellation)
    return BackupBucket(store, database: database)
  }
}
