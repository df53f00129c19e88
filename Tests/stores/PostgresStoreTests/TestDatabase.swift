import Feed
import Postgres
import PostgresTestSupport
import RowStore

@testable import PostgresStore

/// A schema of a test's own, and stores on it.
struct TestDatabase {
  let address: DatabaseAddress
  let schema: String
  private let text: String

  struct NoPostgres: Error {}

  init() throws {
    guard let cluster = PostgresCluster.shared else { throw NoPostgres() }
    let fresh = cluster.freshSchema()
    (text, schema) = (fresh.address, fresh.name)
    address = try DatabaseAddress(text)
  }

  /// The store as one process has it.
  func store(_ options: StoreOptions = StoreOptions()) throws -> PostgresStore {
    try PostgresStore(
      address: address, connections: PostgresStore.Connections(readers: 2), options: options)
  }

  /// Its address for connections that the server knows by this name.
  func address(named name: String) throws -> DatabaseAddress {
    try DatabaseAddress("\(text)&application_name=\(name)")
  }

  /// A connection of somebody else.
  func connect() throws -> Connection { try Connection(address) }
}
