import Postgres
import RowStore

/// The database whose history a server has, and the timeline of the server.
///
/// A copy of a database has the same numbers. A promoted server begins a timeline of its own: it may lack
/// what the previous primary had, and give its numbers to other data
/// (https://www.postgresql.org/docs/15/continuous-archiving.html#BACKUP-TIMELINES).
struct ServerHistory: Hashable, Sendable {
  /// The cluster, which is a primary with its standbys, and the database in it.
  let database: String
  /// The number of a table, which identifies the schema. `nil` if the tables do not exist.
  let table: Int64?
  /// For a standby, the last timeline that it is known to follow. A role that may see its
  /// `pg_stat_wal_receiver` learns it at once, others with its next restart point.
  var timeline: Int64

  /// Whether the tables may be the same, or copies of each other.
  func isOfSameDatabase(as other: ServerHistory) -> Bool {
    database == other.database && (table == nil || other.table == nil || table == other.table)
  }
}

/// The position of a server in the write-ahead log: what a primary has written, or a standby has replayed.
struct ServerPosition: Hashable, Sendable {
  var history: ServerHistory
  /// The position in the log, a pg_lsn as a number.
  let logPosition: Int64
  let isStandby: Bool
  /// The identity of the server, from its start to its end.
  let server: String

  /// The columns that `init` reads. On a primary, the position is not before anything that the statement
  /// sees. On a standby, statements that begin later see everything up to it.
  static let columns = """
    (SELECT system_identifier FROM pg_control_system()) || '/'
      || (SELECT oid FROM pg_database WHERE datname = current_database()),
    to_regclass('post')::oid::int8,
    CASE WHEN pg_is_in_recovery() THEN
      greatest((SELECT timeline_id FROM pg_control_checkpoint()),
        (SELECT min_recovery_end_timeline FROM pg_control_recovery()),
        (SELECT received_tli FROM pg_stat_wal_receiver))::int8
    ELSE ('x' || left(pg_walfile_name(pg_current_wal_insert_lsn()), 8))::bit(32)::int8 END,
    (CASE WHEN pg_is_in_recovery() THEN pg_last_wal_replay_lsn()
      ELSE pg_current_wal_insert_lsn() END - '0/0'::pg_lsn)::int8,
    pg_is_in_recovery(),
    extract(epoch FROM pg_postmaster_start_time())::text
      || coalesce(' ' || inet_server_addr() || ':' || inet_server_port(), '')
    """
  /// The number of columns.
  static let columnCount = 6
  static let statement = Statement("SELECT \(columns)")

  /// Reads the position in the first row.
  ///
  /// - Throws: `RowError`.
  init(_ rows: Rows) throws {
    let row = RowValues(rows: rows, row: 0)
    history = ServerHistory(
      database: try row.name(0), table: row.optional(1), timeline: try row.integer(2))
    logPosition = try row.integer(3)
    isStandby = rows.boolean(0, 4)
    server = try row.name(5)
  }

  init(_ history: ServerHistory, at logPosition: Int64, isStandby: Bool, server: String = "") {
    (self.history, self.logPosition) = (history, logPosition)
    (self.isStandby, self.server) = (isStandby, server)
  }
}
