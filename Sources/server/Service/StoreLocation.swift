import Postgres
import PostgresStore
import RowStore
import SQLiteStore

/// The database with the posts, and its kind.
package enum StoreLocation: Hashable, Sendable {
  /// A SQLite file.
  case sqlite(path: String)
  /// A PostgreSQL database.
  case postgres(DatabaseAddress)

  /// Parses the address of a PostgreSQL database (`DatabaseAddress.isMeant`), or else takes the text as the
  /// path of a file.
  ///
  /// - Throws: `PostgresError.unreadableAddress`.
  package init(_ text: String) throws(PostgresError) {
    self =
      DatabaseAddress.isMeant(by: text) ? .postgres(try DatabaseAddress(text)) : .sqlite(path: text)
  }

  /// The name for users, without a password.
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

  /// The schema of the database.
  package func schema(_ file: DatabaseFile.Options) -> any DatabaseSchema {
    switch self {
    case .sqlite(let path): SQLiteSchema(path: path, file: file)
    case .postgres(let address): PostgresSchema(address)
    }
  }
}

/// An open store, of one of the supported databases. All that differs between them is decided by this type.
package enum OpenStore: Sendable {
  case sqlite(SQLiteStore)
  case postgres(PostgresStore)

  /// The interface that all stores have.
  package var store: any DatabaseStore {
    switch self {
    case .sqlite(let store): store
    case .postgres(let store): store
    }
  }
}

/// The options for opening a store: of a database of either kind, and of each kind.
package struct StoreOpening: Sendable {
  /// The options of the store.
  package var options = StoreOptions()
  /// The options for opening a SQLite file.
  package var file = DatabaseFile.Options()
  /// The connections to a PostgreSQL database.
  package var connections = PostgresStore.Connections()

  /// Creates the defaults.
  package init() {}

  /// Opens the store; creates and migrates it as needed.
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

  /// Opens the store, which must exist and be up to date, without changing it.
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
