import Postgres
import RowStore

/// The database whose history a server has, and the line of it that the server is on.
///
/// A copy of a database has its numbers, and a promoted server begins a line of its own, a timeline: it may lack what
/// the one before had, and gives its numbers to others
/// (https://www.postgresql.org/docs/15/continuous-archiving.html#BACKUP-TIMELINES).
struct ServerHistory: Hashable, Sendable {
  /// The cluster, which a primary and its standbys are together, and the database in it.
  let database: String
  /// The number of a table: it says which schema is meant. `nil` where the tables are not there.
  let table: Int64?
  /// For a standby, the last timeline that it is known to follow: a role that may see its `pg_stat_wal_receiver` learns
  /// it at once, others with its next restart point.
  var timeline: Int64

  /// Whether the tables may be the same, one of them being a copy.
  func isOfSameDatabase(as other: ServerHistory) -> Bool {
    database == other.database && (table == nil || other.table == nil || table == other.table)
  }
}

/// How far a server has come in the write-ahead log: a primary has written as much, a standby replayed.
struct ServerPosition: Hashable, Sendable {
  var history: ServerHistory
  /// The place in the log, a pg_lsn as a number.
  let logPosition: Int64
  let isStandby: Bool
  /// Which server it is, from its start to its end.
  let server: String

  /// The columns `init` reads. On a primary the position is not before anything that the statement sees; on a standby
  /// everything up to it is seen by statements that begin later.
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
  /// How many they are.
  static let columnCount = 6
  static let statement = Statement("SELECT \(columns)")

  /// The position in the first row.
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
