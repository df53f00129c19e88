import Catalog
import Postgres
import RowStore

extension PostgresStore: DatabaseStore {
  /// See `DatabaseStore`.
  public var kind: String { "postgres" }

  /// See `DatabaseStore`.
  public var hearsOfChanges: Bool { true }

  /// See `DatabaseStore`.
  public var outlivesDatabase: Bool { true }

  /// PostgreSQL's version, as it says it.
  ///
  /// - Throws: `PostgresStoreError`.
  public func software() throws -> String {
    try read { "PostgreSQL \(try $0.run("SHOW server_version").text(0, 0) ?? "")" }
  }

  private static let mediaLock =
    "SELECT pg_try_advisory_lock('media_file'::regclass::oid::int4, 0)"

  /// See `DatabaseStore`. The lock goes with its connection.
  ///
  /// - Throws: `PostgresStoreError`.
  public func lockMedia() throws -> (any Sendable)? {
    try withStoreErrors(name) {
      let connection = try Connection(address, .init(connectSeconds: connections.connectSeconds))
      return try connection.run(Self.mediaLock).boolean(0, 0) ? connection : nil
    }
  }
}

extension PostgresSchema: DatabaseSchema {}
