import GRDB
import RowStore
import Synchronization

/// A copy of a database, made while others read and write it.
///
/// By SQLite's backup interface (https://sqlite.org/backup.html), page by page, within one read
/// transaction on the source: with the write-ahead log neither the writer nor the readers wait for
/// that, and the copy is the database as it was at one moment after the beginning, however much is
/// written meanwhile. Without that transaction every write of another process would restart the copy.
/// `VACUUM INTO` would hold the same transaction longer, since it builds every index again, and would
/// hide damage to an index that a copy brings to light.
///
/// The price is that the WAL cannot be restarted until the copy is done, so that it grows by what is
/// written in that time.
package final class DatabaseCopy: Sendable {
  /// Where it is copied from.
  package let source: String
  /// The target: a file unknown to other processes; it is created or overwritten.
  package let target: String
  private let options: DatabaseFile.Options
  private let state = Mutex(State())

  private struct State {
    var isCancelled = false
    /// What is to be interrupted.
    var running: DatabaseQueue?
  }

  /// Pages that are copied at once: 4 MB of the usual size, a few milliseconds.
  private static let pagesInStep: CInt = 1_024

  /// A copy that has yet to be made.
  package init(
    of source: String, at target: String, options: DatabaseFile.Options = DatabaseFile.Options()
  ) {
    self.source = source
    self.target = target
    self.options = options
  }

  /// Copies, and leaves a file that stands for itself: without a WAL beside it, and read-only where
  /// need be. `onStep` is called between the steps, with the source's size in bytes.
  ///
  /// Nothing is brought to the disk for certain; that is the caller's.
  ///
  /// - Throws: `StoreError`, `DatabaseCopyCancelled`, and what `onStep` throws.
  package func make(onStep: (Int) throws -> Void = { _ in }) throws {
    try DatabaseFile.requireExisting(path: source)
    try withStoreErrors(path: source) {
      try DatabaseFile.checkOwner(path: source)
      let sourceQueue = try DatabaseFile.openQueue(path: source, options: options)
      defer { try? sourceQueue.close() }
      let targetQueue = try withStoreErrors(path: target) {
        try DatabaseFile.openQueue(path: target)
      }
      defer { try? targetQueue.close() }
      try targetQueue.writeWithoutTransaction { target in
        // An unfinished copy is deleted, so that nothing must be undone.
        try target.execute(sql: "PRAGMA synchronous = OFF; PRAGMA journal_mode = OFF")
        try sourceQueue.read { source in
          // A transaction begins with its first read (https://sqlite.org/lang_transaction.html).
          _ = try Int.fetchOne(source, sql: "SELECT count(*) FROM sqlite_schema")
          let pageBytes = try Int.fetchOne(source, sql: "PRAGMA page_size") ?? 0
          try copy(source, to: target) { try onStep($0 * pageBytes) }
        }
        // The source's WAL is not the copy's, nor is its number.
        try target.execute(sql: "PRAGMA journal_mode = DELETE")
        try target.execute(sql: DatabaseFile.newNumber())
        // Where it comes to be used, what was changed behind it is not what its own cursors know.
        if try target.tableExists("change_source") {
          try target.execute(sql: "UPDATE change_source SET source = random()")
        }
      }
    }
  }

  private func copy(
    _ source: Database, to target: Database, _ onStep: (Int) throws -> Void
  ) throws {
    do {
      try withoutActuallyEscaping(onStep) { onStep in
        try source.backup(to: target, pagesPerStep: Self.pagesInStep) { progress in
          if self.isCancelled { throw DatabaseCopyCancelled() }
          try onStep(progress.totalPageCount)
        }
      }
    } catch let error as DatabaseError {
      // It does not say on which side; a disk is full on the one that is written.
      throw StoreError(error, path: error.resultCode == .SQLITE_FULL ? self.target : self.source)
    }
  }

  /// Makes a running copy or verification end soon, with `DatabaseCopyCancelled`. For any thread.
  package func cancel() {
    state.withLock { state in
      state.isCancelled = true
      state.running?.interrupt()
    }
  }

  private var isCancelled: Bool { state.withLock { $0.isCancelled } }
}

/// A copy was stopped on request.
package struct DatabaseCopyCancelled: Error {
  /// The only one.
  package init() {}
}

// MARK: Verification

extension DatabaseCopy {
  /// The facts about a copy that was read through.
  package struct Report: Sendable {
    /// What the check found.
    package let findings: [CheckFinding]
    /// The migrations that this program has and the database has not; then the project's own
    /// invariants were not checked, which are those of the newest schema.
    package let pendingMigrations: [String]
    /// Posts in it.
    package let posts: Int
  }

  /// Reads the target through: whose it is, its migrations, all that `check` looks at.
  ///
  /// - Throws: `StoreError` for what is not a database of this program's or cannot be read,
  ///   `DatabaseCopyCancelled`.
  package func verify() throws -> Report {
    do {
      return try withStoreErrors(path: target) {
        try DatabaseFile.checkOwner(path: target)
        let queue = try DatabaseFile.openQueue(path: target, isReadOnly: true)
        try state.withLock { state in
          if state.isCancelled { throw DatabaseCopyCancelled() }
          state.running = queue
        }
        defer {
          state.withLock { $0.running = nil }
          try? queue.close()
        }
        return try Self.verify(queue)
      }
    } catch StoreError.damaged(_, let reason) {
      // So damaged that the check itself could not go on.
      let finding = CheckFinding(severity: .error, text: "integrity: \(reason)")
      return Report(findings: [finding], pendingMigrations: [], posts: 0)
    } catch let error as StoreError {
      if isCancelled { throw DatabaseCopyCancelled() }
      throw error
    }
  }

  private static func verify(_ queue: DatabaseQueue) throws -> Report {
    let migrator = Migrator()
    try migrator.verify(queue)
    let pending = try migrator.status(queue).filter { $0.appliedAt == nil }.map(\.name)
    return try queue.read { database in
      var findings = try SQLiteStore.integrityFindings(database)
      if pending.isEmpty { findings += try SQLiteStore.invariantFindings(database) }
      let hasPosts = try database.tableExists("post")
      return Report(
        findings: findings, pendingMigrations: pending,
        posts: hasPosts ? try Int.fetchOne(database, sql: "SELECT count(*) FROM post") ?? 0 : 0)
    }
  }
}
