import Postgres
import PostgresStore
import RowStore
import SQLiteStore

/// Which database posts are kept in, and of which kind.
public enum StoreLocation: Hashable, Sendable {
  /// A SQLite file.
  case sqlite(path: String)
  /// A PostgreSQL database.
  case postgres(DatabaseAddress)

  /// What the text names: the address of a PostgreSQL database (`DatabaseAddress.isMeant`), else the path of a file.
  ///
  /// - Throws: `PostgresError.unreadableAddress`.
  public init(_ text: String) throws(PostgresError) {
    self =
      DatabaseAddress.isMeant(by: text) ? .postgres(try DatabaseAddress(text)) : .sqlite(path: text)
  }

  /// As a person may be told: without a password.
  public var name: String {
    switch self {
    case .sqlite(let path): path
    case .postgres(let address): address.name
    }
  }

  /// The path of the file; `nil` if the store is not a file.
  public var path: String? {
    switch self {
    case .sqlite(let path): path
    case .postgres: nil
    }
  }

  /// Its schema.
  public func schema(_ file: DatabaseFile.Options) -> any DatabaseSchema {
    switch self {
    case .sqlite(let path): SQLiteSchema(path: path, file: file)
    case .postgres(let address): PostgresSchema(address)
    }
  }
}

/// How a store is opened: a database of either kind, with what belongs to each.
public struct StoreOpening: Sendable {
  /// Of the store.
  public var options = StoreOptions()
  /// How a SQLite file is opened.
  public var file = DatabaseFile.Options()
  /// How a PostgreSQL database is connected to.
  public var connections = PostgresStore.Connections()

  /// The defaults.
  public init() {}

  /// The store, made and migrated as needed.
  ///
  /// - Throws: `StoreError`, `PostgresStoreError`.
  public func open(_ location: StoreLocation) throws -> any DatabaseStore {
    switch location {
    case .sqlite(let path): try SQLiteStore(path: path, file: file, options: options)
    case .postgres(let address):
      try PostgresStore(address: address, connections: connections, options: options)
    }
  }

  /// Opens the store, which must exist and be up to date; this changes nothing in it.
  ///
  /// - Throws: `StoreError`, `PostgresStoreError`.
  public func open(existing location: StoreLocation) throws -> any DatabaseStore {
    switch location {
    case .sqlite(let path): try SQLiteStore(existing: path, file: file, options: options)
    case .postgres(let address):
      try PostgresStore(existing: address, connections: connections, options: options)
    }
  }
}
