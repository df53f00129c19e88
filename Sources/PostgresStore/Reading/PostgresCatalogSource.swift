import Catalog
import Postgres

/// The connection by which the catalog follows the database.
struct PostgresCatalogSource: CatalogSource {
  private let name: String
  /// Of one connection, so that what is read later is not before what was read earlier.
  private let connections: ConnectionPool
  /// What the database held when it was read last.
  private var seen: PostgresCatalogReader.Mark?

  init(name: String, connections: ConnectionPool) {
    self.name = name
    self.connections = connections
  }

  mutating func read<Result>(_ body: (PostgresCatalogReader) throws -> Result) throws -> Result {
    try withStoreErrors(name) {
      let (result, mark) = try connections.run { connection in
        try connection.transaction(.reading) {
          let reader = PostgresCatalogReader(connection: connection)
          let mark = try reader.mark()
          return (try body(reader), mark)
        }
      }
      seen = mark
      return result
    }
  }

  /// A look costs a round trip.
  ///
  /// - Throws: `PostgresStoreError`.
  mutating func mayHaveChanged() throws -> Bool {
    try withStoreErrors(name) {
      try connections.run { try PostgresCatalogReader.mark($0) } != seen
    }
  }

  mutating func close() { connections.close() }
}
