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

    /// Options with these values; a statement without a limit has 0.
    public init(
      connectSeconds: Int = 5, statementMilliseconds: Int = 30_000, server: Server = .addressed
    ) {
      self.connectSeconds = connectSeconds
      self.statementMilliseconds = statementMilliseconds
      self.server = server
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
  /// What is handed to libpq at once.
  private static let copyChunkBytes = 1 << 20

  private let handle: OpaquePointer
  private let limitMilliseconds: Int
  /// The names of the statements that are prepared, by their text.
  private var prepared: [String: String] = [:]
  /// The number in the name of the last one, whatever became of it.
  private var lastPrepared = 0
  /// It ended, or was given up.
  public private(set) var isLost = false

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

  /// libpq's message in one line.
  private static func line(_ message: UnsafePointer<CChar>?) -> String {
    let text = message.map { String(cString: $0) } ?? ""
    let lines = text.split(separator: "\n").map { $0.drop { $0 == "\t" || $0 == " " } }
    return lines.isEmpty ? "no reason was given" : lines.joined(separator: "; ")
  }
}

// MARK: Running

extension Connection {
  /// Runs one statement.
  ///
  /// - Throws: `PostgresError`.
  @discardableResult
  public func run(_ sql: String, _ parameters: [Parameter] = []) throws(PostgresError) -> Rows {
    try run([Statement(sql, parameters)])[0]
  }

  /// Runs one statement without values that is not prepared: whose columns are other ones each time.
  ///
  /// - Throws: `PostgresError`.
  public func runOnce(_ sql: String) throws(PostgresError) -> Rows {
    guard !isLost else { throw .lost(reason: "it was given up before") }
    guard PQsendQueryParams(handle, sql, 0, nil, nil, nil, nil, 1) == 1 else { throw lost() }
    let deadline = Self.deadline(after: limitMilliseconds)
    guard let result = try nextResult(deadline) else { throw .unexpected("no answer") }
    guard [PGRES_TUPLES_OK, PGRES_COMMAND_OK].contains(PQresultStatus(result)) else {
      let error = Self.error(result)
      PQclear(result)
      try finish(deadline)
      throw noted(error)
    }
    let rows = Rows(owning: result)
    try finish(deadline)
    return rows
  }

  /// Runs statements, one behind the other, in one round trip. Outside a transaction they are one of their own:
  /// where one of them fails, the ones behind it are not run and the ones before it are undone.
  ///
  /// - Returns: what each answered.
  /// - Throws: `PostgresError`, of the first that failed.
  @discardableResult
  public func run(_ statements: [Statement]) throws(PostgresError) -> [Rows] {
    guard !statements.isEmpty else { return [] }
    guard !isLost else { throw .lost(reason: "it was given up before") }
    guard PQenterPipelineMode(handle) == 1 else { throw lost() }
    var expected: [Expected] = []
    var values = try statements.map { statement throws(PostgresError) in
      try statement.parameters.map { parameter throws(PostgresError) in try parameter.encoded() }
    }
    for index in statements.indices {
      try send(statements[index], &values[index], &expected)
    }
    guard PQpipelineSync(handle) == 1 else { throw lost() }
    let deadline = Self.deadline(after: limitMilliseconds)
    var answers: [Rows] = []
    var failure: PostgresError?
    for expectation in expected {
      while let result = try nextResult(deadline) {
        switch PQresultStatus(result) {
        case PGRES_TUPLES_OK, PGRES_COMMAND_OK:
          switch expectation {
          case .preparation(let sql, let name):
            prepared[sql] = name
            PQclear(result)
          case .answer: answers.append(Rows(owning: result))
          }
        case PGRES_PIPELINE_ABORTED: PQclear(result)
        default:
          if failure == nil { failure = Self.error(result) }
          PQclear(result)
        }
      }
    }
    if let end = try nextResult(deadline) { PQclear(end) }
    guard PQexitPipelineMode(handle) == 1 else { throw lost() }
    if let failure { throw noted(failure) }
    guard answers.count == statements.count else { throw .unexpected("too few answers") }
    return answers
  }

  private enum Expected {
    case preparation(sql: String, name: String)
    case answer
  }

  private func send(
    _ statement: Statement, _ values: inout [[UInt8]?], _ expected: inout [Expected]
  ) throws(PostgresError) {
    let name: String
    let waiting = expected.lazy.compactMap { each -> String? in
      if case .preparation(statement.sql, let name) = each { name } else { nil }
    }
    if let known = prepared[statement.sql] ?? waiting.first {
      name = known
    } else {
      lastPrepared += 1
      name = "s\(lastPrepared)"
      guard PQsendPrepare(handle, name, statement.sql, 0, nil) == 1 else { throw lost() }
      expected.append(.preparation(sql: statement.sql, name: name))
    }
    let lengths = values.map { Int32(truncatingIfNeeded: $0?.count ?? 0) }
    guard values.allSatisfy({ $0?.count ?? 0 <= Int(Int32.max) }) else { throw giveUp(.tooLarge) }
    let formats = values.map { _ in Int32(1) }
    let isSent = Self.withPointers(to: values) { pointers in
      PQsendQueryPrepared(
        handle, name, Int32(values.count), pointers, lengths, formats, 1)
    }
    guard isSent == 1 else { throw lost() }
    expected.append(.answer)
  }

  /// Runs statements without values, separated by semicolons: what changes schemas and settings. Outside a
  /// transaction they are one.
  ///
  /// - Throws: `PostgresError`.
  public func run(script: String) throws(PostgresError) {
    guard !isLost else { throw .lost(reason: "it was given up before") }
    guard PQsendQuery(handle, script) == 1 else { throw lost() }
    try finish(Self.deadline(after: limitMilliseconds))
  }

  /// Takes all that is left of an answer.
  private func finish(_ deadline: MonotonicDeadline) throws(PostgresError) {
    var failure: PostgresError?
    while let result = try nextResult(deadline) {
      switch PQresultStatus(result) {
      case PGRES_TUPLES_OK, PGRES_COMMAND_OK, PGRES_EMPTY_QUERY: break
      case PGRES_COPY_IN:
        // A script has none; left alone it would wait for rows for ever.
        throw giveUp(.unexpected("COPY in a script"))
      default: if failure == nil { failure = Self.error(result) }
      }
      PQclear(result)
    }
    if let failure { throw noted(failure) }
  }

  /// Brings rows into a table (https://www.postgresql.org/docs/15/libpq-copy.html).
  ///
  /// - Parameter table: the table and its columns, `post (post_id, id)`, a text of the program's own.
  /// - Throws: `PostgresError`.
  public func copy(_ rows: CopyRows, into table: String) throws(PostgresError) {
    guard !isLost else { throw .lost(reason: "it was given up before") }
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

// MARK: Waiting

extension Connection {
  typealias MonotonicDeadline = ContinuousClock.Instant

  private static func deadline(after milliseconds: Int) -> MonotonicDeadline {
    .now + .milliseconds(milliseconds)
  }

  /// The next result of what was sent, `nil` behind the last of a statement.
  private func nextResult(_ deadline: MonotonicDeadline) throws(PostgresError) -> OpaquePointer? {
    try flush(deadline)
    while PQisBusy(handle) == 1 {
      try wait(Int16(POLLIN), deadline)
      guard PQconsumeInput(handle) == 1 else { throw lost() }
    }
    return PQgetResult(handle)
  }

  /// Hands all that is to be sent to the system. The server may have to be read from before it takes more.
  private func flush(_ deadline: MonotonicDeadline) throws(PostgresError) {
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

  /// - Returns: what the socket is ready for.
  @discardableResult
  private func wait(_ events: Int16, _ deadline: MonotonicDeadline) throws(PostgresError) -> Int16 {
    while true {
      let left = deadline - .now
      guard left > .zero else { throw giveUp(.lost(reason: "the server gave no answer in time")) }
      if let ready = poll(events, atMost: left) { return ready }
    }
  }

  /// - Returns: what the socket is ready for; `nil` where the time is over, or a signal came.
  private func poll(_ events: Int16, atMost time: Duration) -> Int16? {
    var descriptor = pollfd(fd: PQsocket(handle), events: events, revents: 0)
    // Rounded up: less than a millisecond is not none.
    let milliseconds = time == .zero ? 0 : min(time / .milliseconds(1), 60_000).rounded(.up)
    guard Glibc.poll(&descriptor, 1, Int32(milliseconds)) > 0 else { return nil }
    return descriptor.revents
  }

  /// Waits until the server tells of something that this connection listens to (`LISTEN`), or the time is over.
  ///
  /// - Returns: whether it did; all that it told is taken.
  /// - Throws: `PostgresError.lost`.
  public func waitForNotification(atMostMilliseconds limit: Int) throws(PostgresError) -> Bool {
    guard !isLost else { throw .lost(reason: "it was given up before") }
    if takeNotifications() { return true }
    guard poll(Int16(POLLIN), atMost: .milliseconds(limit)) != nil else { return false }
    guard PQconsumeInput(handle) == 1 else { throw lost() }
    return takeNotifications()
  }

  /// Whether the server is still there, as far as can be seen without asking it.
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

// MARK: Errors

extension Connection {
  private func lost() -> PostgresError {
    giveUp(.lost(reason: Self.line(PQerrorMessage(handle))))
  }

  private func giveUp(_ error: PostgresError) -> PostgresError {
    isLost = true
    return error
  }

  /// A server that goes says so with an error; the connection is of no more use.
  private func noted(_ error: PostgresError) -> PostgresError {
    guard PQstatus(handle) == CONNECTION_BAD || error.isEndOfSession else { return error }
    return giveUp(.lost(reason: error.description))
  }

  private static func error(_ result: OpaquePointer) -> PostgresError {
    func field(_ code: Character) -> String {
      PQresultErrorField(result, Int32(code.asciiValue!)).map { String(cString: $0) } ?? ""
    }
    let sqlState = field("C")
    guard !sqlState.isEmpty else { return .lost(reason: line(PQresultErrorMessage(result))) }
    return .server(
      ServerMessage(
        sqlState: sqlState, text: field("M"), detail: field("D"), constraint: field("n")))
  }

  private static func withPointers<Result>(
    to values: [[UInt8]?], _ body: ([UnsafePointer<CChar>?]) -> Result
  ) -> Result {
    // All in one run of bytes: pointers into it hold for as long as it does. An empty value points somewhere,
    // for what points nowhere is NULL.
    var bytes: [UInt8] = [0]
    let starts = values.map { value -> Int? in
      guard let value else { return nil }
      defer { bytes += value }
      return bytes.count - 1
    }
    bytes.append(0)
    return bytes.withUnsafeBytes { buffer in
      let base = buffer.baseAddress!.assumingMemoryBound(to: CChar.self)
      return body(starts.map { $0.map { base + $0 + 1 } })
    }
  }
}

extension PostgresError {
  /// The server ends, is not there yet, or takes no writes any longer: another connection may find better.
  var isEndOfSession: Bool {
    switch self {
    case .server(let message):
      // 25006: what was the primary is none any longer.
      message.sqlStateClass == "08" || message.sqlState == "25006"
        || message.sqlStateClass == "57" && message.sqlState != "57014"
    case .lost: true
    case .unreadableAddress, .cannotConnect, .unexpected, .tooLarge: false
    }
  }
}
