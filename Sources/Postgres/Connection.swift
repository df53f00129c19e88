import CPostgres
import Glibc
import System

/// A connection to a PostgreSQL server, over libpq.
///
/// Theory of operation. Statements go out in pipeline mode
/// (https://www.postgresql.org/docs/15/libpq-pipeline-mode.html), one or many at once, each prepared the first
/// time: what is run together costs one round trip. Nothing waits in libpq but the making of a connection, which
/// has libpq's own time limit for each host; all else waits in poll(2) until a deadline of ours, so that a server
/// that is silent is given up whatever the network does. A connection that is given up is never used again.
///
/// `@unchecked`: libpq takes a connection from any thread, one at a time
/// (https://www.postgresql.org/docs/15/libpq-threading.html). Whoever has one has it alone: `ConnectionPool` lends
/// it to one, and others keep theirs in a lock.
public final class Connection: @unchecked Sendable {
  /// How connections are made, and how long they wait.
  public struct Options: Hashable, Sendable {
    /// How long each host is waited for, where neither the address nor `PGCONNECT_TIMEOUT` says.
    public var connectSeconds: Int
    /// How long a statement may take, and how long a lock is waited for: the server is told.
    public var statementMilliseconds: Int
    /// What the server may take longer than it was told before it is given up.
    public var graceMilliseconds = 5_000
    /// Which server it has to be.
    public var server: Server
    /// How the server plans statements.
    public var planning: Planning
    /// For how long plans are kept at the most, where they are.
    public var planLifeMilliseconds = 10_000

    /// Options with these values; a statement without a limit has 0.
    public init(
      connectSeconds: Int = 5, statementMilliseconds: Int = 30_000, server: Server = .addressed,
      planning: Planning = .byIndexesKept
    ) {
      self.connectSeconds = connectSeconds
      self.statementMilliseconds = statementMilliseconds
      self.server = server
      self.planning = planning
    }
  }

  /// Which of a cluster's servers a connection is made to.
  public enum Server: Hashable, Sendable {
    /// As the address says; where it names several and leaves open which, one that takes writes.
    case addressed
    /// One that takes writes, whatever the address says.
    case writable
    /// A standby where there is one, and the address leaves open which.
    case standby
  }

  /// So long for a statement without a limit of its own, such as an index that is made.
  private static let unlimitedMilliseconds = 24 * 3_600_000

  let handle: OpaquePointer
  let limitMilliseconds: Int
  /// The names of the statements that are prepared, by their text.
  var prepared: [String: String] = [:]
  /// The number in the name of the last one, whatever became of it.
  var lastPrepared = 0
  /// When the plans that are kept are to be forgotten; `nil` where none are kept.
  var plansUntil: ContinuousClock.Instant?
  let planLife: Duration
  /// It ended, or was given up.
  public internal(set) var isLost = false

  /// Connects, and waits for that.
  ///
  /// - Throws: `PostgresError.cannotConnect`, and what the server says of the settings.
  public init(_ address: DatabaseAddress, _ options: Options = Options()) throws(PostgresError) {
    // A host that is gone without a word is noticed, whatever is waited for.
    var settings: [(String, String)] = [
      ("fallback_application_name", "lookahead"), ("keepalives_idle", "30"),
      ("keepalives_interval", "10"), ("keepalives_count", "3"), ("tcp_user_timeout", "30000"),
    ]
    if !address.hasConnectTimeout, getenv("PGCONNECT_TIMEOUT") == nil {
      settings.append(("connect_timeout", "\(options.connectSeconds)"))
    }
    settings.append(("dbname", address.text))
    // What stands later goes before: these hold whatever the address says.
    settings.append(("client_encoding", "UTF8"))
    if let attributes = address.sessionAttributes(options.server) {
      settings.append(("target_session_attrs", attributes))
    }
    handle = try Self.connect(settings)
    limitMilliseconds =
      options.statementMilliseconds == 0
      ? Self.unlimitedMilliseconds : options.statementMilliseconds + options.graceMilliseconds
    planLife = .milliseconds(options.planLifeMilliseconds)
    plansUntil = options.planning == .byIndexesKept ? .now + planLife : nil
    PQsetNoticeProcessor(handle, { _, _ in }, nil)
    PQsetnonblocking(handle, 1)
    // Whoever waits for a transaction that was begun and forgotten would wait for ever.
    try run(
      script: """
        SET statement_timeout = \(options.statementMilliseconds);
        SET lock_timeout = \(options.statementMilliseconds);
        SET idle_in_transaction_session_timeout = \(max(options.statementMilliseconds, 60_000));
        SET standard_conforming_strings = on;
        SET default_transaction_isolation = 'read committed';
        \(options.planning.settings)
        """)
  }

  private static func connect(_ settings: [(String, String)]) throws(PostgresError) -> OpaquePointer
  {
    let texts = settings.map { (strdup($0.0), strdup($0.1)) }
    defer { for (keyword, value) in texts { free(keyword); free(value) } }
    let keywords = texts.map { UnsafePointer($0.0) } + [nil]
    let values = texts.map { UnsafePointer($0.1) } + [nil]
    guard let handle = PQconnectdbParams(keywords, values, 1) else {
      throw .cannotConnect(reason: "out of memory")
    }
    guard PQstatus(handle) == CONNECTION_OK else {
      defer { PQfinish(handle) }
      throw .cannotConnect(reason: Self.line(PQerrorMessage(handle)))
    }
    return handle
  }

  deinit { PQfinish(handle) }
}
