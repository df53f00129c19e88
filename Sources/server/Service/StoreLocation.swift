import Postgres
import PostgresStore
import RowStore
import SQLiteStore

/// Which database posts are kept in, and of which kind.
package enum StoreLocation: Hashable, Sendable {
  /// A SQLite file.
  case sqlite(path: String)
  /// A PostgreSQL database.
  case postgres(DatabaseAddress)

  /// What the text names: the address of a PostgreSQL database (`DatabaseAddress.isMeant`), else the path of a file.
  ///
  /// - Throws: `PostgresError.unreadableAddress`.
  package init(_ text: String) throws(PostgresError) {
    self =
      DatabaseAddress.isMeant(by: text) ? .postgres(try DatabaseAddress(text)) : .sqlite(path: text)
  }

  /// As a person may be told: without a password.
  package var name: String {
    switch self {
    case .sqlite(let path): path
    case .postgres(let address): address.name
    }
  }

  /// The path of the file; `nil` if the store is not a file.
  package var path: String? {
    switch self {
    case .sqlite(let path): path
    case .postgres: nil
    }
  }

  /// Its schema.
  package func schema(_ file: DatabaseFile.Options) -> any DatabaseSchema {
    switch self {
    case .sqlite(let path): SQLiteSchema(path: path, file: file)
    case .postgres(let address): PostgresSchema(address)
    }
  }
}

/// An open store, of one of the databases that there are. Whatever differs between them is decided by this.
package enum OpenStore: Sendable {
  case sqlite(SQLiteStore)
  case postgres(PostgresStore)

  /// What every store does.
  package var store: any DatabaseStore {
    switch self {
    case .sqlite(let store): store
    case .postgres(let store): store
    }
  }
}

/// How a store is opened: a database of either kind, with what belongs to each.
package struct StoreOpening: Sendable {
  /// Of the store.
  package var options = StoreOptions()
  /// How a SQLite file is opened.
  package var file = DatabaseFile.Options()
  /// How a PostgreSQL database is connected to.
  package var connections = PostgresStore.Connections()

  /// The defaults.
  package init() {}

  /// The store, made and migrated as needed.
  ///
  /// - Throws: `StoreError`, `PostgresStoreError`.
  package func open(_ location: StoreLocation) throws -> OpenStore {
    switch location {
    case .sqlite(let path): .sqlite(try SQLiteStore(path: path, file: file, options: options))
    case .postgres(let address):
      .postgres(
        try PostgresStore(address: address, connections: connections, options: options))
    }
  }

  /// Opens the store, which must exist and be up to date; this changes nothing in it.
  ///
  /// - Throws: `StoreError`, `PostgresStoreError`.
  package func open(existing location: StoreLocation) throws -> OpenStore {
    switch location {
    case .sqlite(let path): .sqlite(try SQLiteStore(existing: path, file: file, options: options))
    case .postgres(let address):
      .postgres(
        try PostgresStore(existing: address, connections: connections, options: options))
    }
  }
}
