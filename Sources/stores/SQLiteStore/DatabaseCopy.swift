import GRDB
import RowStore
import Synchronization

/// A copy of a database that is made while others read and write it.
///
/// It uses SQLite's backup interface (https://sqlite.org/backup.html), page by page, within one read
/// transaction on the source. With the write-ahead log, neither the writer nor the readers wait for that,
/// and the copy is the database as it was at one moment after the beginning, however much is written
/// meanwhile. Without that transaction, every write of another process would restart the copy.
/// `VACUUM INTO` would hold the same transaction longer, since it builds every index again, and would hide
/// damage to an index that a copy brings to light.
///
/// The price is that the WAL cannot be restarted until the copy is done, so it grows by what is written in
/// that time.
package final class DatabaseCopy: Sendable {
  /// The path of the database to copy.
  package let source: String
  /// The path of the copy: a file unknown to other processes, which is created or overwritten.
  package let target: String
  private let options: DatabaseFile.Options
  private let state = Mutex(State())

  private struct State {
    var isCancelled = false
    /// The connection that `cancel()` interrupts.
    var running: DatabaseQueue?
  }

  /// The number of pages in a step: 4 MB at the usual page size, a few milliseconds.
  private static let pagesInStep: CInt = 1_024

  /// Creates a copy that has yet to be made.
  package init(
    of source: String, at target: String, options: DatabaseFile.Options = DatabaseFile.Options()
  ) {
    self.source = source
    self.target = target
    self.options = options
  }

  /// Copies the database into a self-contained file: it has no WAL beside it and can be opened read-only.
  /// `onStep` is called between the steps, with the source's size in bytes.
  ///
  /// Does not sync the file to the disk; the caller does.
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
        // An unfinished copy is deleted, so nothing needs to be undone.
        try target.execute(sql: "PRAGMA synchronous = OFF; PRAGMA journal_mode = OFF")
        try sourceQueue.read { source in
          // A transaction begins with its first read (https://sqlite.org/lang_transaction.html).
          _ = try Int.fetchOne(source, sql: "SELECT count(*) FROM sqlite_schema")
          let pageBytes = try Int.fetchOne(source, sql: "PRAGMA page_size") ?? 0
          try copy(source, to: target) { try onStep($0 * pageBytes) }
        }
        // The copy has no WAL, and a number of its own.
        try target.execute(sql: "PRAGMA journal_mode = DELETE")
        try target.execute(sql: DatabaseFile.newNumber())
        // Once the copy is in use, its later changes are not those that the source's cursors know.
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
      // The error does not name the side; a full disk is that of the side that is written.
      throw StoreError(error, path: error.resultCode == .SQLITE_FULL ? self.target : self.source)
    }
  }

  /// Makes a running copy or verification end soon, with `DatabaseCopyCancelled`. May be called by any
  /// thread.
  package func cancel() {
    state.withLock { state in
      state.isCancelled = true
      state.running?.interrupt()
    }
  }

  private var isCancelled: Bool { state.withLock { $0.isCancelled } }
}

/// The error of a copy that was cancelled.
package struct DatabaseCopyCancelled: Error {
  /// Creates the error.
  package init() {}
}

// MARK: Verification

extension DatabaseCopy {
  /// The result of verifying a copy.
  package struct Report: Sendable {
    /// The findings of the check.
    package let findings: [CheckFinding]
    /// The migrations that this program has and the database lacks. If there are any, the project's own
    /// invariants were not checked, since they are those of the newest schema.
    package let pendingMigrations: [String]
    /// The number of posts in the copy.
    package let posts: Int
  }

  /// Reads the whole target: its owner, its migrations, and everything that `check` looks at.
  ///
  /// - Throws: `StoreError` if it is not a database of this program or cannot be read,
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
      // The damage ended the check itself.
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
