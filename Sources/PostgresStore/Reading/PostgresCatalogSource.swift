import Catalog
import Postgres

/// The connection by which the catalog follows the database.
struct PostgresCatalogSource: CatalogSource {
  private let name: String
  /// Of one connection, so that what is read later is not before what was read earlier.
  private let connections: ConnectionPool
  /// Is told how far the primary had come.
  private let standby: Standby?
  /// What the database held when it was read last.
  private var seen: PostgresCatalogReader.Mark?

  init(name: String, connections: ConnectionPool, standby: Standby?) {
    self.name = name
    self.connections = connections
    self.standby = standby
  }

  mutating func read<Result>(_ body: (PostgresCatalogReader) throws -> Result) throws -> Result {
    try withStoreErrors(name) {
      let (result, moment) = try connections.run { connection in
        try connection.transaction(.reading) {
          let moment = try PostgresCatalogReader.moment(connection)
          return (try body(PostgresCatalogReader(connection: connection)), moment)
        }
      }
      seen = moment.mark
      standby?.note(primary: moment.position)
      return result
    }
  }

  /// A look costs a round trip.
  ///
  /// - Throws: `PostgresStoreError`.
  mutating func mayHaveChanged() throws -> Bool {
    try withStoreErrors(name) {
      try connections.run { try PostgresCatalogReader.moment($0).mark } != seen
    }
  }

  mutating func close() { connections.close() }
}
