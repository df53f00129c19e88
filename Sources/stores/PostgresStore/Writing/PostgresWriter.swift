import Postgres
import RowStore

/// Makes transactions that write, one after the other among all programs of this kind that have the database open.
final class PostgresWriter: Sendable {
  private let name: String
  /// One, for single writes and whatever else writes a little.
  private let single: ConnectionPool
  /// For runs of records, whose statements take as long as they take.
  private let bulk: ConnectionPool
  private let address: DatabaseAddress
  private let lockOptions: Connection.Options

  /// The number of runs that write a batch at once; others wait for them.
  private static let bulkConnections = 4
  /// So often a transaction is begun again that was in another's way, or lost its connection before its end.
  private static let attempts = 3

  /// - Parameter outage: of the server that takes writes.
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

  /// A writer holds this lock of the database until the transaction ends. The table's number separates several
  /// schemas.
  static let lock = "SELECT pg_advisory_xact_lock('feed'::regclass::oid::int4, 0)"

  /// What the index of words takes in later, together (https://www.postgresql.org/docs/15/gin-implementation.html):
  /// with the usual 4 MB, indexing takes a run half as long again. Autovacuum takes in what is left.
  private static let manyWords = "SET LOCAL gin_pending_list_limit = '16MB'"

  /// Runs the body within a transaction that is durable when this returns.
  ///
  /// The body may be run again: where the transaction was in the way of another program's, or the connection was lost
  /// before anything could have become durable.
  ///
  /// - Parameters:
  ///   - isBulk: its statements take as long as they take.
  ///   - isRepeatable: the body may be run again.
  /// - Throws: `PostgresError`, what the body throws; then nothing of it is there. Where the connection was lost while
  ///   the server was told to make it durable, that is not known.
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
  /// Another attempt may find things better.
  fileprivate var isWorthAnotherAttempt: Bool {
    switch self {
    case .lost: true
    // A deadlock, or something that another program made meanwhile.
    case .server(let message): ["40001", "40P01", "23505", "23P01"].contains(message.sqlState)
    case .unreadableAddress, .cannotConnect, .unexpected, .tooLarge: false
    }
  }

  /// The server refused a value: that of one write, as a rule.
  var isAboutData: Bool {
    guard case .server(let message) = self else { return false }
    return ["22", "23"].contains(message.sqlStateClass)
  }
}
