import Catalog
import GRDB
import GRDBSQLite
import RowStore

/// The reason why the database cannot be used, with what a person needs to fix it.
package enum StoreError: Error, Equatable, Sendable {
  case cannotOpen(path: String, reason: String)
  case missing(path: String)
  case notADatabase(path: String)
  /// The file is a SQLite database of another application.
  case foreign(path: String, applicationID: Int32)
  /// The text of an applied migration has changed.
  case editedMigration(name: String)
  /// An applied migration is not one of this program's.
  case unknownMigration(version: Int, name: String)
  /// The database was migrated by a newer program.
  case newerDatabase(version: Int, newestKnown: Int)
  /// The database is older than this program's first migration; `name` is the last one that it has.
  case olderDatabase(name: String)
  case pendingMigrations([String])
  case migrationFailed(name: String, reason: String)
  case readOnly(path: String)
  /// The file or its folder belongs to another user (user ids, as `id -u` prints them).
  case notPermitted(path: String, owner: UInt32, user: UInt32)
  case full(path: String)
  case busy(path: String)
  /// Another connection has the database open, where exclusive use is required.
  case inUse(path: String)
  /// The limit of waiting writes is reached; this one was not accepted.
  case tooManyWrites(limit: Int)
  /// The write came after the store was closed.
  case closed(path: String)
  /// The file was deleted or moved while it was open.
  case gone(path: String)
  /// Another file was put in its place, or copied over it, while it was open. The WAL of the previous file
  /// was moved aside, to `keptWAL`.
  case replaced(path: String, keptWAL: String?)
  /// The WAL or its index was deleted or moved while the database was open.
  case companionGone(path: String)
  /// One of the files was truncated, emptied or overwritten while the database was open.
  case hurt(path: String)
  /// The run was taken to be over, and its pending places were dropped.
  case runDropped(path: String)
  case damaged(path: String, reason: String)
  /// Any other error of SQLite, with its extended result code (https://sqlite.org/rescode.html).
  case database(path: String, code: Int32, message: String)
}

extension StoreError: StoreFailure {
  /// The meaning of the error for the caller.
  package var kind: StoreFailureKind {
    switch self {
    case .busy: .busy
    case .tooManyWrites: .tooManyWrites
    case .closed: .closed
    case .full: .full
    case .gone, .replaced, .companionGone, .hurt, .cannotOpen: .unavailable
    case .runDropped: .importDropped
    case .readOnly: .readOnly
    case .missing, .notADatabase, .foreign, .editedMigration, .unknownMigration,
      .newerDatabase, .olderDatabase, .pendingMigrations, .migrationFailed, .notPermitted, .inUse,
      .damaged, .database:
      .other
    }
  }
}

extension StoreError {
  /// Whether one of the files is not as it was written.
  var isHurt: Bool {
    if case .hurt = self { true } else { false }
  }
}

extension StoreError: CustomStringConvertible {
  /// What is wrong and how to fix it, in one line with the path or the migration.
  package var description: String {
    switch self {
    case .cannotOpen(let path, let reason): "cannot open the database \(path): \(reason)"
    case .missing(let path):
      "there is no database \(path); create it with `lookahead seed` or `lookahead migrate up`"
    case .notADatabase(let path): "\(path) is not a SQLite database"
    case .foreign(let path, let applicationID):
      "\(path) is the database of another application (application id \(applicationID)); "
        + "nothing was changed in it"
    case .editedMigration(let name): "\(MigrationProblem.edited(name: name))"
    case .unknownMigration(let version, let name):
      "\(MigrationProblem.unknown(version: version, name: name))"
    case .newerDatabase(let version, let newestKnown):
      "\(MigrationProblem.newer(version: version, newestKnown: newestKnown))"
    case .olderDatabase(let name): "\(MigrationProblem.older(name: name))"
    case .pendingMigrations(let names):
      "the database lacks the migrations \(names.joined(separator: ", ")); "
        + "run `lookahead migrate up`"
    case .migrationFailed(let name, let reason):
      "the migration \(name) failed and was undone: \(reason)"
    case .readOnly(let path):
      "the database \(path) cannot be written: it or its folder is read-only"
    case .notPermitted(let path, let owner, let user):
      "\(path) belongs to user \(owner); this program runs as user \(user), who has no access to it"
    case .full(let path):
      "the disk of the database \(path) is full, or a quota is exceeded; the last batch was undone"
    case .busy(let path): "the database \(path) has been locked by another process for too long"
    case .inUse(let path):
      "the database \(path) is in use: stop the server, and other programs that have it open"
    case .tooManyWrites(let limit): "\(limit) writes are already waiting, the limit"
    case .closed(let path): "the database \(path) was closed"
    case .gone(let path):
      "the database \(path) was deleted or moved while it was open: nothing is written until it "
        + "is back; if it is lost, stop this program and restore it"
    case .replaced(let path, let keptWAL):
      "the database \(path) was replaced while it was open: it is no longer read or written; "
        + "stop this program, check that the file is the right one, and start again"
        + (keptWAL.map { ". The write-ahead log of the previous one is \($0)" } ?? "")
    case .runDropped(let path):
      "the rankings of this run in \(path) were dropped meanwhile: run it again with the same input"
    case .companionGone(let path):
      "\(path) was deleted or moved while the database was open: it is no longer read or "
        + "written; stop this program gracefully (SIGTERM), so that it saves what it still holds, "
        + "and start again"
    case .hurt(let path):
      "\(path) was truncated or overwritten while the database was open: it is no longer read "
        + "or written, and recent writes may be lost; stop this program, start again, and run "
        + "`lookahead check`"
    case .damaged(let path, let reason): "the database \(path) is damaged: \(reason)"
    case .database(let path, let code, let message):
      "SQLite error on \(path): \(message) (code \(code))"
    }
  }

  /// Converts a problem with the migrations.
  init(_ problem: MigrationProblem) {
    self =
      switch problem {
      case .edited(let name): .editedMigration(name: name)
      case .unknown(let version, let name): .unknownMigration(version: version, name: name)
      case .newer(let version, let newest): .newerDatabase(version: version, newestKnown: newest)
      case .older(let name): .olderDatabase(name: name)
      }
  }

  /// Converts SQLite's result code for the database at the path.
  init(_ error: DatabaseError, path: String) {
    let message = error.message ?? "no message"
    switch error.resultCode {
    case .SQLITE_FULL: self = .full(path: path)
    case .SQLITE_READONLY: self = .readOnly(path: path)
    case .SQLITE_BUSY, .SQLITE_LOCKED: self = .busy(path: path)
    case .SQLITE_NOTADB: self = .notADatabase(path: path)
    case .SQLITE_CORRUPT: self = .damaged(path: path, reason: message)
    case .SQLITE_CANTOPEN: self = .cannotOpen(path: path, reason: message)
    default:
      self = .database(path: path, code: error.extendedResultCode.rawValue, message: message)
    }
  }
}

/// Runs the body and converts SQLite's errors into the store's.
func withStoreErrors<Result>(path: String, _ body: () throws -> Result) throws -> Result {
  do {
    return try body()
  } catch let error as DatabaseError {
    throw StoreError(error, path: path)
  } catch let error as RowError {
    throw StoreError.database(path: path, code: SQLITE_ERROR, message: error.description)
  } catch is RunDropped {
    throw StoreError.runDropped(path: path)
  }
}
