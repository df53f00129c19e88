import Catalog
import Postgres
import RowStore

/// Why the database cannot be used, with what a person needs to mend it. It names the database without its
/// password.
package enum PostgresStoreError: Error, Hashable, Sendable {
  /// What the server says, or why it could not be asked.
  case database(name: String, PostgresError)
  /// The role may not write there: what the server says.
  case readOnly(name: String, reason: String)
  /// A row holds what no program of ours wrote.
  case damaged(name: String, reason: String)
  /// The database has no tables of ours.
  case missing(name: String)
  /// Its texts are in another encoding.
  case notUTF8(name: String, encoding: String)
  /// Its migrations are not this program's.
  case migration(MigrationProblem)
  case pendingMigrations([String])
  case migrationFailed(name: String, reason: String)
  /// As many writes wait as may; this one was not taken.
  case tooManyWrites(limit: Int)
  /// As many questions wait for an answer as may; this one was not asked.
  case tooManyQuestions(limit: Int)
  /// The write came after the store was closed.
  case closed(name: String)
  /// The run was taken for one that is over, and what it held back is dropped.
  case runDropped(name: String)
}

extension PostgresStoreError: StoreFailure {
  /// What it means for the caller.
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
    // A lock that was waited for too long, a statement that took too long, others that were in the way.
    case (_, "55P03"), (_, "57014"), ("40", _): .busy
    case (_, "53100"): .full
    // PostgreSQL has no SQLSTATE for a quota (`errcode_for_file_access`), and uses the system's words for it.
    case ("XX", _) where message.text.hasSuffix("Disk quota exceeded"): .full
    case ("08", _), ("53", _), ("57", _), (_, "25006"): .unavailable
    default: .other
    }
  }
}

extension PostgresStoreError: CustomStringConvertible {
  /// What is wrong and what mends it, in one line.
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

/// Runs the body and turns what PostgreSQL says into the store's errors.
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
