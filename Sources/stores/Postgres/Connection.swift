import CPostgres
import Glibc
import System

/// A connection to a PostgreSQL server, over libpq.
///
/// Theory of operation. Statements are sent in pipeline mode
/// (https://www.postgresql.org/docs/15/libpq-pipeline-mode.html), one or many at once, each prepared at its
/// first use: statements that run together cost one round trip. Only connecting waits in libpq, which has
/// its own time limit for each host. Everything else waits in poll(2) until a deadline of ours, so that a
/// silent server is given up whatever the network does. A connection that was given up is never used again.
///
/// `@unchecked`: libpq allows any thread to use a connection, one at a time
/// (https://www.postgresql.org/docs/15/libpq-threading.html). A connection has one user at a time:
/// `ConnectionPool` lends it to one caller, and other owners keep theirs in a lock.
package final class Connection: @unchecked Sendable {
  /// The options of connections.
  package struct Options: Hashable, Sendable {
    /// The time to wait for each host, if neither the address nor `PGCONNECT_TIMEOUT` sets one.
    package var connectSeconds: Int
    /// The maximum time of a statement, and of a wait for a lock; the server enforces it.
    package var statementMilliseconds: Int
    /// The time beyond that limit after which a silent server is given up.
    package var graceMilliseconds = 5_000
    /// The kind of server that is required.
    package var server: Server
    /// How the server plans statements.
    package var planning: Planning
    /// The maximum age of kept plans.
    package var planLifeMilliseconds = 10_000

    /// Creates options with these values; a statement without a limit has 0.
    package init(
      connectSeconds: Int = 5, statementMilliseconds: Int = 30_000, server: Server = .addressed,
      planning: Planning = .byIndexesKept
    ) {
      self.connectSeconds = connectSeconds
      self.statementMilliseconds = statementMilliseconds
      self.server = server
      self.planning = planning
    }
  }

  /// The server of a cluster to connect to.
  package enum Server: Hashable, Sendable {
    /// As the address says. If it names several hosts and leaves open which, one that takes writes.
    case addressed
    /// One that takes writes, whatever the address says.
    case writable
    /// A standby if there is one, and the address leaves open which.
    case standby
  }

  /// The limit for a statement without a limit of its own, such as one that builds an index.
  private static let unlimitedMilliseconds = 24 * 3_600_000

  let handle: OpaquePointer
  let limitMilliseconds: Int
  /// The names of prepared statements, by their text.
  var prepared: [String: String] = [:]
  /// The number in the name of the last prepared statement, even if its preparation failed.
  var lastPrepared = 0
  /// The time at which kept plans are discarded; `nil` if none are kept.
  var plansUntil: ContinuousClock.Instant?
  let planLife: Duration
  /// Whether it ended, or was given up.
  package internal(set) var isLost = false

  /// Connects, and waits until the connection is made.
  ///
  /// - Throws: `PostgresError.cannotConnect`, and errors of the server about the settings.
  package init(_ address: DatabaseAddress, _ options: Options = Options()) throws(PostgresError) {
    // A host that disappears silently is noticed, whatever the connection waits for.
    var settings: [(String, String)] = [
      ("fallback_application_name", "lookahead"), ("keepalives_idle", "30"),
      ("keepalives_interval", "10"), ("keepalives_count", "3"), ("tcp_user_timeout", "30000"),
    ]
    if !address.hasConnectTimeout, getenv("PGCONNECT_TIMEOUT") == nil {
      settings.append(("connect_timeout", "\(options.connectSeconds)"))
    }
    settings.append(("dbname", address.text))
    // Later settings take precedence: these hold whatever the address says.
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
    // Without this limit, a process that waits for an abandoned transaction would wait for ever.
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

/// Copying rows into a table.
extension Connection {
  /// The number of bytes that are passed to libpq at once.
  private static let copyChunkBytes = 1 << 20

  /// Copies rows into a table (https://www.postgresql.org/docs/15/libpq-copy.html).
  ///
  /// - Parameter table: the table and its columns, `post (post_id, id)`, a text of the program.
  /// - Throws: `PostgresError`.
  package func copy(_ rows: CopyRows, into table: String) throws(PostgresError) {
    guard !isLost else { throw .lost(reason: "it was cancelled before") }
    guard rows.count > 0 else { return }
    guard PQsendQuery(handle, "COPY \(table) FROM STDIN (FORMAT binary)") == 1 else { throw lost() }
    var deadline = Self.deadline(after: limitMilliseconds)
    guard let begun = try nextResult(deadline) else { throw .unexpected("no answer to COPY") }
    defer { PQclear(begun) }
    guard PQresultStatus(begun) == PGRES_COPY_IN else {
      let error = Self.error(begun)
      try finish(deadline)
      throw noted(error)
    }
    let bytes = rows.finished
    var sent = 0
    while sent < bytes.count {
      let count = min(Self.copyChunkBytes, bytes.count - sent)
      let outcome = bytes.withUnsafeBytes { buffer in
        PQputCopyData(
          handle, buffer.baseAddress!.advanced(by: sent).assumingMemoryBound(to: CChar.self),
          Int32(count))
      }
      if outcome < 0 { throw lost() }
      if outcome == 1 { sent += count }
      deadline = Self.deadline(after: limitMilliseconds)
      try flush(deadline)
    }
    guard PQputCopyEnd(handle, nil) == 1 else { throw lost() }
    try finish(deadline)
  }
}

/// Handling of errors on a connection.
extension Connection {
  func lost() -> PostgresError {
    giveUp(.lost(reason: Self.line(PQerrorMessage(handle))))
  }

  func giveUp(_ error: PostgresError) -> PostgresError {
    isLost = true
    return error
  }

  /// Gives the connection up if the error ends its session, as when a server shuts down.
  func noted(_ error: PostgresError) -> PostgresError {
    guard PQstatus(handle) == CONNECTION_BAD || error.isEndOfSession else { return error }
    return giveUp(.lost(reason: error.description))
  }

  static func error(_ result: OpaquePointer) -> PostgresError {
    func field(_ code: Character) -> String {
      PQresultErrorField(result, Int32(code.asciiValue!)).map { String(cString: $0) } ?? ""
    }
    let sqlState = field("C")
    guard !sqlState.isEmpty else { return .lost(reason: line(PQresultErrorMessage(result))) }
    return .server(
      ServerMessage(
        sqlState: sqlState, text: field("M"), detail: field("D"), constraint: field("n")))
  }

  /// Returns libpq's message in one line.
  static func line(_ message: UnsafePointer<CChar>?) -> String {
    let text = message.map { String(cString: $0) } ?? ""
    let lines = text.split(separator: "\n").map { $0.drop { $0 == "\t" || $0 == " " } }
    return lines.isEmpty ? "unknown reason" : lines.joined(separator: "; ")
  }
}

extension PostgresError {
  /// Whether the server ends, is not ready yet, or no longer takes writes: another connection may succeed.
  var isEndOfSession: Bool {
    switch self {
    case .server(let message):
      // 25006: the former primary is no longer the primary.
      message.sqlStateClass == "08" || message.sqlState == "25006"
        || message.sqlStateClass == "57" && message.sqlState != "57014"
    case .lost: true
    case .unreadableAddress, .cannotConnect, .unexpected, .tooLarge: false
    }
  }
}

/// Messages that the server sends unasked.
extension Connection {
  /// Waits until the server sends a notification that this connection listens to (`LISTEN`), or the time is
  /// over.
  ///
  /// - Returns: whether it sent one; all that it sent are consumed.
  /// - Throws: `PostgresError.lost`.
  package func waitForNotification(atMostMilliseconds limit: Int) throws(PostgresError) -> Bool {
    guard !isLost else { throw .lost(reason: "it was cancelled before") }
    if takeNotifications() { return true }
    guard poll(Int16(POLLIN), atMost: .milliseconds(limit)) != nil else { return false }
    guard PQconsumeInput(handle) == 1 else { throw lost() }
    return takeNotifications()
  }

  /// Whether the server is still there, as far as can be seen without a request.
  var isThere: Bool {
    guard !isLost else { return false }
    guard let ready = poll(Int16(POLLIN), atMost: .zero) else { return true }
    if ready != 0, PQconsumeInput(handle) != 1 { isLost = true }
    return !isLost
  }

  private func takeNotifications() -> Bool {
    var isAny = false
    while let notification = PQnotifies(handle) {
      PQfreemem(notification)
      isAny = true
    }
    return isAny
  }
}

extension Connection {
  /// The statement that begins a transaction.
  package enum TransactionKind: String, Sendable {
    case writing = "BEGIN"
    /// Sees the database as of its first statement.
    case reading = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"
  }

  /// Returns the results of the statements, all of them as of one moment, in one round trip.
  ///
  /// - Throws: `PostgresError`.
  package func read(_ statements: [Statement]) throws(PostgresError) -> [Rows] {
    do throws(PostgresError) {
      let kind = Statement(TransactionKind.reading.rawValue)
      return Array(try run([kind] + statements + [Statement("COMMIT")])[1...statements.count])
    } catch {
      if !isLost { _ = try? run("ROLLBACK") }
      throw error
    }
  }

  /// Returns the same, and the result of another statement that runs before: in the same round trip, but in
  /// a transaction of its own. The others see at least the state that it reports for the server.
  ///
  /// - Throws: `PostgresError`.
  package func read(_ statements: [Statement], after first: Statement) throws(PostgresError) -> (
    first: Rows, rows: [Rows]
  ) {
    do throws(PostgresError) {
      let (before, end) = (Statement(TransactionKind.writing.rawValue), Statement("COMMIT"))
      let kind = Statement(TransactionKind.reading.rawValue)
      let answers = try run([before, first, end, kind] + statements + [end])
      return (answers[1], Array(answers[4..<4 + statements.count]))
    } catch {
      if !isLost { _ = try? run("ROLLBACK") }
      throw error
    }
  }

  /// Runs the body within a transaction, which is rolled back if the body throws.
  ///
  /// - Throws: `PostgresError`, and what the body throws.
  package func transaction<Result>(
    _ kind: TransactionKind = .writing, _ body: () throws -> Result
  ) throws -> Result {
    try run(kind.rawValue)
    do {
      let result = try body()
      try run("COMMIT")
      return result
    } catch {
      if !isLost { _ = try? run("ROLLBACK") }
      throw error
    }
  }
}

/// Waits for the server, in poll(2) and never in libpq.
extension Connection {
  typealias MonotonicDeadline = ContinuousClock.Instant

  static func deadline(after milliseconds: Int) -> MonotonicDeadline {
    .now + .milliseconds(milliseconds)
  }

  /// Returns the next result of what was sent; `nil` after the last one of a statement.
  func nextResult(_ deadline: MonotonicDeadline) throws(PostgresError) -> OpaquePointer? {
    try flush(deadline)
    while PQisBusy(handle) == 1 {
      try wait(Int16(POLLIN), deadline)
      guard PQconsumeInput(handle) == 1 else { throw lost() }
    }
    return PQgetResult(handle)
  }

  /// Sends all pending bytes to the system. The server may require that its output is read before it takes
  /// more.
  func flush(_ deadline: MonotonicDeadline) throws(PostgresError) {
    while true {
      switch PQflush(handle) {
      case 0: return
      case 1:
        if try wait(Int16(POLLIN | POLLOUT), deadline) & Int16(POLLIN) != 0 {
          guard PQconsumeInput(handle) == 1 else { throw lost() }
        }
      default: throw lost()
      }
    }
  }

  /// - Returns: the events for which the socket is ready.
  @discardableResult
  private func wait(_ events: Int16, _ deadline: MonotonicDeadline) throws(PostgresError) -> Int16 {
    while true {
      let left = deadline - .now
      guard left > .zero else { throw giveUp(.lost(reason: "the server did not answer in time")) }
      if let ready = poll(events, atMost: left) { return ready }
    }
  }

  /// - Returns: the events for which the socket is ready; `nil` if the time is over, or a signal came.
  func poll(_ events: Int16, atMost time: Duration) -> Int16? {
    var descriptor = pollfd(fd: PQsocket(handle), events: events, revents: 0)
    // Rounded up: less than a millisecond is not zero.
    let milliseconds = time == .zero ? 0 : min(time / .milliseconds(1), 60_000).rounded(.up)
    guard Glibc.poll(&descriptor, 1, Int32(milliseconds)) > 0 else { return nil }
    return descriptor.revents
  }
}
