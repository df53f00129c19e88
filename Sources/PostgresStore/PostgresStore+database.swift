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

  /// The tables that a server writes to and this role may not change, in `schema`; and whether its
  /// transactions only read.
  private static let missingRights = """
    SELECT current_setting('transaction_read_only') = 'on', current_user::text,
      (SELECT string_agg(name, ', ' ORDER BY name) FROM unnest(ARRAY['author', 'change_log',
        'change_log_floor', 'feed', 'feed_entry', 'idempotency_key', 'media', 'media_file',
        'media_truth', 'pending_place', 'post', 'ranking_floor', 'ranking_run',
        'replaced_ranking']) AS name
      WHERE NOT (has_table_privilege(name, 'INSERT') AND has_table_privilege(name, 'UPDATE')
        AND has_table_privilege(name, 'DELETE')))
    """

  /// See `DatabaseStore`.
  ///
  /// - Throws: `PostgresStoreError`.
  public func writeProblem() throws -> String? {
    try read { connection in
      let rows = try connection.run(Self.missingRights)
      let role = rows.text(0, 1) ?? ""
      if rows.boolean(0, 0) { return "transactions of the role \(role) are read-only" }
      return rows.text(0, 2).map {
        "the role \(role) lacks INSERT, UPDATE or DELETE on \($0); docs/postgres.md has the GRANT"
      }
    }
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
