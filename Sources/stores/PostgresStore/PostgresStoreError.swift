import Catalog
import Postgres
import RowStore

/// The reason why the database cannot be used, with what a person needs to fix it. It names the database
/// without its password.
package enum PostgresStoreError: Error, Hashable, Sendable {
  /// An error of the server or of the connection to it.
  case database(name: String, PostgresError)
  /// The role may not write there; the reason is the server's.
  case readOnly(name: String, reason: String)
  /// A row holds something that no version of this program wrote.
  case damaged(name: String, reason: String)
  /// The database lacks the tables of this program.
  case missing(name: String)
  /// The database has another encoding than UTF-8.
  case notUTF8(name: String, encoding: String)
  /// The database's migrations are not this program's.
  case migration(MigrationProblem)
  case pendingMigrations([String])
  case migrationFailed(name: String, reason: String)
  /// The limit of waiting writes is reached; this one was not accepted.
  case tooManyWrites(limit: Int)
  /// The limit of waiting reads is reached; this one was not sent.
  case tooManyQuestions(limit: Int)
  /// The write came after the store was closed.
  case closed(name: String)
  /// The run was taken to be over, and its pending places were dropped.
  case runDropped(name: String)
}

extension PostgresStoreError: StoreFailure {
  /// The meaning of the error for the caller.
  package var kind: StoreFailureKind {
    switch self {
    case .database(_, let error): Self.kind(error)
    case .readOnly: .readOnly
    case .tooManyWrites: .tooManyWrites
    case .tooManyQuestions: .busy
    case .closed: .closed
    case .runDropped: .importDropped
    case .damaged, .missing, .notUTF8, .migration, .pendingMigrations, .migrationFailed: .other
    }
  }

  private static func kind(_ error: PostgresError) -> StoreFailureKind {
    guard case .server(let message) = error else {
      switch error {
      case .lost, .cannotConnect: return .unavailable
      case .unreadableAddress, .server, .unexpected, .tooLarge: return .other
      }
    }
    return switch (message.sqlStateClass, message.sqlState) {
    // A lock timeout, a statement timeout, a conflict with other transactions.
    case (_, "55P03"), (_, "57014"), ("40", _): .busy
    case (_, "53100"): .full
    // PostgreSQL has no SQLSTATE for a quota (`errcode_for_file_access`), and reports the system's message.
    case ("XX", _) where message.text.hasSuffix("Disk quota exceeded"): .full
    case ("08", _), ("53", _), ("57", _), (_, "25006"): .unavailable
    default: .other
    }
  }
}

extension PostgresStoreError: CustomStringConvertible {
  /// What is wrong and how to fix it, in one line.
  package var description: String {
    switch self {
    case .database(let name, let error): "the database \(name): \(error)"
    case .readOnly(let name, let reason): "the database \(name) cannot be written: \(reason)"
    case .damaged(let name, let reason): "the database \(name) is damaged: \(reason)"
    case .missing(let name):
      "there is no feed in \(name) yet; create the tables with `lookahead seed` or `lookahead "
        + "migrate up`"
    case .notUTF8(let name, let encoding):
      "the database \(name) has the encoding \(encoding): create one with ENCODING 'UTF8'"
    case .migration(let problem): "\(problem)"
    case .pendingMigrations(let names):
      "the database lacks the migrations \(names.joined(separator: ", ")); run `lookahead migrate up`"
    case .migrationFailed(let name, let reason):
      "the migration \(name) failed and was undone: \(reason)"
    case .tooManyWrites(let limit): "\(limit) writes are already waiting, the limit"
    case .tooManyQuestions(let limit): "\(limit) queries are already waiting for the database"
    case .closed(let name): "the database \(name) was closed"
    case .runDropped(let name):
      "the rankings of this run in \(name) were dropped meanwhile: run it again with the same input"
    }
  }
}

/// Runs the body and converts PostgreSQL's errors into the store's.
func withStoreErrors<Result>(_ name: String, _ body: () throws -> Result) throws -> Result {
  do {
    return try body()
  } catch let error as PostgresError {
    throw PostgresStoreError.database(name: name, error)
  } catch let error as RowError {
    throw PostgresStoreError.damaged(name: name, reason: error.description)
  } catch is RunDropped {
    throw PostgresStoreError.runDropped(name: name)
  }
}
