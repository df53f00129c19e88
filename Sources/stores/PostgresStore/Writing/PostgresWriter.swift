import Postgres
import RowStore

/// Runs transactions that write, one after the other among all programs of this kind that have the database
/// open.
final class PostgresWriter: Sendable {
  private let name: String
  /// One connection, for single writes and other small ones.
  private let single: ConnectionPool
  /// Connections for runs of records, whose statements have no time limit.
  private let bulk: ConnectionPool
  private let address: DatabaseAddress
  private let lockOptions: Connection.Options

  /// The number of runs that write a batch at once; others wait for them.
  private static let bulkConnections = 4
  /// The maximum number of attempts at a transaction that conflicts with another, or loses its connection
  /// before its end.
  private static let attempts = 3

  /// - Parameter outage: the outage of the server that takes writes.
  init(_ address: DatabaseAddress, _ connections: PostgresStore.Connections, _ outage: Outage) {
    name = address.name
    self.address = address
    var options = Connection.Options(
      connectSeconds: connections.connectSeconds,
      statementMilliseconds: connections.statementMilliseconds, server: .writable)
    single = ConnectionPool(address, options, limit: 1, outage: outage)
    lockOptions = options
    options.statementMilliseconds = 0
    options.planning = .byIndexes
    bulk = ConnectionPool(
      address, options, limit: Self.bulkConnections, outage: outage)
  }

  func close() {
    single.close()
    bulk.close()
  }

  /// A writer holds this lock of the database until the transaction ends. The table's number distinguishes
  /// several schemas.
  static let lock = "SELECT pg_advisory_xact_lock('feed'::regclass::oid::int4, 0)"

  /// Lets the index collect more pending words before it takes them in together
  /// (https://www.postgresql.org/docs/15/gin-implementation.html): with the default 4 MB, indexing makes a run
  /// half as long again. Autovacuum takes in the rest.
  private static let manyWords = "SET LOCAL gin_pending_list_limit = '16MB'"

  /// Runs the body within a transaction that is durable when this returns.
  ///
  /// The body may run again, if the transaction conflicted with another program's, or the connection was
  /// lost before anything could have become durable.
  ///
  /// - Parameters:
  ///   - isBulk: whether its statements have no time limit.
  ///   - isRepeatable: whether the body may run again.
  /// - Throws: `PostgresError`, and errors of the body; then nothing is written. If the connection was lost
  ///   during the commit, it is unknown whether the transaction was committed.
  func transaction<Result>(
    isBulk: Bool = false, isRepeatable: Bool = true, _ body: (PostgresRows) throws -> Result
  ) throws -> Result {
    for attempt in 1... {
      var isCommitting = false
      do {
        return try (isBulk ? bulk : single).runOnce { connection in
          try connection.run(
            [Statement("BEGIN"), Statement(Self.lock)] + (isBulk ? [Statement(Self.manyWords)] : [])
          )
          do {
            let rows = PostgresRows(connection, openLock: openLock)
            let result = try body(rows)
            try rows.commit { isCommitting = true }
            return result
          } catch {
            if !connection.isLost { _ = try? connection.run("ROLLBACK") }
            throw error
          }
        }
      } catch let error as PostgresError
        where isRepeatable && attempt < Self.attempts && !isCommitting
        && error.isWorthAnotherAttempt
      {
        continue
      } catch PostgresError.server(let message) where message.sqlState == "42501" {
        throw PostgresStoreError.readOnly(name: name, reason: message.text)
      }
    }
    preconditionFailure("the last attempt returns or throws")
  }

  private func openLock() throws -> Connection { try Connection(address, lockOptions) }
}

extension PostgresError {
  /// Whether another attempt may succeed.
  fileprivate var isWorthAnotherAttempt: Bool {
    switch self {
    case .lost: true
    // A deadlock, another conflict, or a row that another program inserted meanwhile.
    case .server(let message): ["40001", "40P01", "23505", "23P01"].contains(message.sqlState)
    case .unreadableAddress, .cannotConnect, .unexpected, .tooLarge: false
    }
  }

  /// Whether the server refused a value: that of one write, as a rule.
  var isAboutData: Bool {
    guard case .server(let message) = self else { return false }
    return ["22", "23"].contains(message.sqlStateClass)
  }
}
