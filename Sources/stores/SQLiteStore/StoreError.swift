import Catalog
import GRDB
import GRDBSQLite
import RowStore

/// Why the database cannot be used, with what a person needs to mend it.
package enum StoreError: Error, Equatable, Sendable {
  case cannotOpen(path: String, reason: String)
  case missing(path: String)
  case notADatabase(path: String)
  /// The file is a SQLite database, but of another application.
  case foreign(path: String, applicationID: Int32)
  /// A migration that was applied has another text by now.
  case editedMigration(name: String)
  /// A migration that was applied is not one of this program's.
  case unknownMigration(version: Int, name: String)
  /// The database was migrated by a newer program.
  case newerDatabase(version: Int, newestKnown: Int)
  /// The database is from before this program's first migration; the last one that it has.
  case olderDatabase(name: String)
  case pendingMigrations([String])
  case migrationFailed(name: String, reason: String)
  case readOnly(path: String)
  /// The file, or the folder that it is in, is another user's (user numbers, as `id -u` says them).
  case notPermitted(path: String, owner: UInt32, user: UInt32)
  case full(path: String)
  case busy(path: String)
  /// Another connection has the database open, where exclusive use is required.
  case inUse(path: String)
  /// As many writes wait as may; this one was not taken.
  case tooManyWrites(limit: Int)
  /// The write came after the store was closed.
  case closed(path: String)
  /// The file was deleted or moved while it was open.
  case gone(path: String)
  /// Another file was put in its place, or copied over it, while it was open. The WAL of the one before
  /// was moved aside.
  case replaced(path: String, keptWAL: String?)
  /// The WAL or its index was deleted or moved while the database was open.
  case companionGone(path: String)
  /// One of the files was cut off, emptied or written over while the database was open.
  case hurt(path: String)
  /// The run was taken for one that is over, and what it held back is dropped.
  case runDropped(path: String)
  case damaged(path: String, reason: String)
  /// Anything else that SQLite says, with its extended result code (https://sqlite.org/rescode.html).
  case database(path: String, code: Int32, message: String)
}

extension StoreError: StoreFailure {
  /// What it means for the caller.
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
  /// One of the files is not as it was written.
  var isHurt: Bool {
    if case .hurt = self { true } else { false }
  }
}

extension StoreError: CustomStringConvertible {
  /// What is wrong and what mends it, in one line with the path or the migration.
  package var description: String {
    switch self {
    case .cannotOpen(let path, let reason): "cannot open the database \(path): \(reason)"
    case .missing(let path):
      "there is no database \(path); `lookahead seed` or `lookahead migrate up` makes one"
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
      "\(path) belongs to user \(owner), and user \(user), as whom this program runs, may not use it"
    case .full(let path):
      "the disk of the database \(path) is full, or a quota is used up; the last batch was undone"
    case .busy(let path): "the database \(path) is locked by another process for too long"
    case .inUse(let path):
      "the database \(path) is in use: stop the server, and whatever else has it open"
    case .tooManyWrites(let limit): "\(limit) writes wait already, which is the limit"
    case .closed(let path): "the database \(path) was closed"
    case .gone(let path):
      "the database \(path) was deleted or moved while it was open: nothing is written until it is there "
        + "again; stop this program and restore it otherwise"
    case .replaced(let path, let keptWAL):
      "the database \(path) was replaced while it was open: nothing more is written to it or read from it; "
        + "stop this program, see that the file is the right one, and start again"
        + (keptWAL.map { ". The write-ahead log of the one before is \($0)" } ?? "")
    case .runDropped(let path):
      "the rankings that this run was making in \(path) were dropped meanwhile: send its input again"
    case .companionGone(let path):
      "\(path) was deleted or moved while the database was open: nothing more is written or read; end this "
        + "program in good order, which brings in what it still holds, and start again"
    case .hurt(let path):
      "\(path) was cut off or written over while the database was open: nothing more is written or read, and "
        + "what was written lately may be lost; stop this program, start again, and run `lookahead check`"
    case .damaged(let path, let reason): "the database \(path) is damaged: \(reason)"
    case .database(let path, let code, let message):
      "SQLite says of \(path): \(message) (code \(code))"
    }
  }

  /// What the migrations say.
  init(_ problem: MigrationProblem) {
    self =
      switch problem {
      case .edited(let name): .editedMigration(name: name)
      case .unknown(let version, let name): .unknownMigration(version: version, name: name)
      case .newer(let version, let newest): .newerDatabase(version: version, newestKnown: newest)
      case .older(let name): .olderDatabase(name: name)
      }
  }

  /// What SQLite's result code means for the database at the path.
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

/// Runs the body and turns SQLite's errors into the store's.
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
