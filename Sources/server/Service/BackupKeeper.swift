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
  /// What happened to one.
  enum Outcome: String, CaseIterable, Sendable {
    case made, failed
  }

  private struct State {
    var isStopped = false
    var task: PeriodicTask?
    var running: Backup?
    /// A backup on which the command was not run.
    var unhanded: String?
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

  /// What became of a command behind a backup.
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

  /// - Throws: `SystemError` for a folder, or a command, that cannot be used.
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

  /// Of the newest backup.
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

  /// Gives a running backup up, and returns when it is.
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

  /// How much of what a command says is logged.
  private static let loggedBytes = 1_000

  /// Runs the command that is set, with a backup's path; waits for its end. It has the variables of this process but for
  /// our own, among which are secrets, and the root folder as its own.
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
  /// A clause; nil where it ended as it should.
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

/// Why the database was not migrated.
struct MigrationWithoutBackup: Error, CustomStringConvertible {
  let migrations: [String]
  let reason: any Error

  var description: String {
    "the database needs migrations (\(migrations.joined(separator: ", "))), but the backup before "
      + "them failed; nothing was changed: \(reason)"
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
      // Run when the server has started, which does not wait for it.
      state.withLock { $0.unhanded = report.path }
    } catch {
      throw MigrationWithoutBackup(migrations: pending, reason: error)
    }
  }
}

/// The settings of a service's scheduled backups.
package struct BackupSettings: Sendable, Hashable {
  /// The folder of the backups, or `s3://bucket/prefix`: of this database's and no other's.
  package var folder: String
  /// The time from one backup to the next.
  package var intervalSeconds = 86_400
  /// How many are kept.
  package var kept = 7
  /// Whether they are made as gzip.
  package var isCompressed = true
  /// The path of a program that is run after each, with its path; nil for none.
  package var command: String?
  /// How long that may take.
  package var commandSeconds = 3_600

  /// The defaults, into this folder.
  package init(folder: String) {
    self.folder = folder
  }

  /// The folder on this machine; nil for a bucket.
  package var localFolder: String? { ObjectAddress.isOne(folder) ? nil : folder }

  /// Where they lie: in a folder, or in a bucket.
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
