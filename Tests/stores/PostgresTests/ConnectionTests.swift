import Foundation
import PostgresTestSupport
import TestSupport
import Testing

@testable import Postgres

/// What libpq is asked, on a server of the tests' own.
@Suite(.enabled(if: PostgresCluster.isPresent, "skipped: there is no PostgreSQL"))
struct ConnectionTests {
  private func connect(_ options: Connection.Options = .init()) throws -> Connection {
    try Connection(DatabaseAddress(PostgresCluster.shared!.address), options)
  }

  @Test(arguments: [
    "", "a", "\u{e9}", "e\u{301}", String(repeating: "x", count: 100_000), "'; DROP TABLE post; --",
  ])
  func `texts come back as they went`(_ text: String) throws {
    let rows = try connect().run(
      "SELECT $1::text, $2::bytea", [.text(text), .bytes(Array(text.utf8))])
    #expect(rows.text(0, 0)?.utf8.elementsEqual(text.utf8) == true)
    #expect(rows.bytes(0, 1).map(Array.init) == Array(text.utf8))
  }

  @Test(arguments: [Int64.min, -1, 0, 1, .max])
  func `numbers come back as they went`(_ number: Int64) throws {
    let rows = try connect().run(
      "SELECT $1::int8, $2::int8, $1::int8 > 0", [.integer(number), .null])
    #expect(rows.integer(0, 0) == number)
    #expect(rows.integer(0, 1) == nil && rows.isNull(0, 1))
    #expect(rows.boolean(0, 2) == (number > 0))
  }

  @Test func `lists come back as they went, those of nothing too`() throws {
    let connection = try connect()
    let sql = """
      SELECT n, t, b FROM unnest($1::int8[], $2::text[], $3::bytea[]) WITH ORDINALITY AS u(n, t, b, place)
      ORDER BY place
      """
    let rows = try connection.run(
      sql,
      [.integers([1, nil, .min]), .texts(["a", "", nil]), .byteStrings([nil, [], [0, 255]])])
    #expect((0..<3).map { rows.integer($0, 0) } == [1, nil, .min])
    #expect((0..<3).map { rows.text($0, 1) } == ["a", "", nil])
    #expect((0..<3).map { rows.bytes($0, 2).map(Array.init) } == [nil, [], [0, 255]])
    #expect(try connection.run(sql, [.integers([]), .texts([]), .byteStrings([])]).count == 0)
  }

  @Test func `statements go in one turn, and of a failing turn nothing stays`() throws {
    let connection = try connect()
    try connection.run("CREATE TEMPORARY TABLE counted (n int8 CHECK (n < 10))")
    let insert = "INSERT INTO counted VALUES ($1::int8)"
    let answers = try connection.run([
      Statement(insert, [.integer(Int64(1))]), Statement(insert, [.integer(Int64(2))]),
      Statement("SELECT sum(n)::int8 FROM counted"),
    ])
    #expect(answers[2].integer(0, 0) == 3 && answers[0].changedCount == 1)
    let error = #expect(throws: PostgresError.self) {
      try connection.run([
        Statement(insert, [.integer(Int64(3))]), Statement(insert, [.integer(Int64(11))]),
        Statement("SELECT 1"), Statement("SELECT 2"),
      ])
    }
    guard case .server(let message)? = error else { throw error! }
    #expect(message.sqlState == "23514" && message.constraint == "counted_n_check")
    // What was never prepared, because something before it failed, is prepared the next time.
    #expect(try connection.run("SELECT 2").count == 1)
    #expect(try connection.run("SELECT sum(n)::int8 FROM counted").integer(0, 0) == 3)
    #expect(!connection.isLost)
  }

  @Test func `known and new statements go together`() throws {
    let connection = try connect()
    for length in 1...5 {
      let sql = (1...length).map { "SELECT \($0)::int8" }
      let answers = try connection.run((sql + sql.reversed()).map { Statement($0) })
      let numbers = Array(1...length).map { Int64($0) }
      #expect(answers.map { $0.integer(0, 0) } == numbers + numbers.reversed())
    }
  }

  @Test func `a statement that cannot be prepared is an error of its own`() throws {
    let connection = try connect()
    for _ in 0..<2 {
      #expect(throws: PostgresError.self) { try connection.run("SELECT nothing_of_that_name") }
    }
    #expect(try connection.run("SELECT 1").integer(0, 0) == 1)
  }

  @Test(arguments: [0, 1, 3, 50_000])
  func `rows are brought in whole or not at all`(_ count: Int) throws {
    let connection = try connect()
    try connection.run("CREATE TEMPORARY TABLE brought (n int8 PRIMARY KEY, t text, b bytea)")
    func rows(from first: Int) throws -> CopyRows {
      var rows = CopyRows()
      for number in first..<first + count {
        rows.beginRow(columns: 3)
        try rows.append(number)
        try rows.append(number.isMultiple(of: 2) ? "é\(number)" : nil as String?)
        try rows.append([UInt8(truncatingIfNeeded: number)] as [UInt8]?)
      }
      return rows
    }
    try connection.copy(rows(from: 0), into: "brought (n, t, b)")
    #expect(try connection.run("SELECT count(*) FROM brought").integer(0, 0) == Int64(count))
    guard count > 0 else { return }
    #expect(throws: PostgresError.self) {
      try connection.copy(rows(from: count - 1), into: "brought (n, t, b)")
    }
    #expect(throws: PostgresError.self) { try connection.copy(rows(from: 0), into: "nowhere (n)") }
    #expect(
      try connection.run("SELECT count(*), max(t) FROM brought").integer(0, 0) == Int64(count))
  }

  @Test func `a statement has its time, and the connection goes on`() throws {
    let connection = try connect(.init(statementMilliseconds: 100))
    let error = #expect(throws: PostgresError.self) { try connection.run("SELECT pg_sleep(60)") }
    guard case .server(let message)? = error else { throw error! }
    #expect(message.sqlState == "57014")
    #expect(try connection.run("SELECT 1").integer(0, 0) == 1)
  }

  @Test func `a connection that the server ends is lost, and says so`() throws {
    let connection = try connect()
    let number = try connection.run("SELECT pg_backend_pid()").integer(0, 0)
    try connect().run("SELECT pg_terminate_backend($1::int8::int4)", [.integer(number)])
    #expect(throws: PostgresError.self) { try connection.run("SELECT 1") }
    #expect(connection.isLost)
    #expect(throws: PostgresError.lost(reason: "it was cancelled before")) {
      try connection.run("SELECT 1")
    }
  }

  @Test func `who listens is told`() throws {
    let (listener, teller) = (try connect(), try connect())
    try listener.run(script: "LISTEN something")
    #expect(try !listener.waitForNotification(atMostMilliseconds: 1))
    try teller.run(script: "NOTIFY something; NOTIFY something")
    #expect(try listener.waitForNotification(atMostMilliseconds: 600_000))
  }

  @Test func `a pool lends as many as it may, and replaces those that are lost`() throws {
    let pool = ConnectionPool(
      try DatabaseAddress(PostgresCluster.shared!.address), limit: 2)
    let first = try pool.run { try $0.run("SELECT pg_backend_pid()").integer(0, 0) }
    #expect(try pool.run { try $0.run("SELECT pg_backend_pid()").integer(0, 0) } == first)
    try connect().run("SELECT pg_terminate_backend($1::int8::int4)", [.integer(first)])
    // Its end is seen before it is used.
    usleep(200_000)
    #expect(try pool.run { try $0.run("SELECT 1").integer(0, 0) } == 1)
    pool.close()
    #expect(throws: PostgresError.self) { try pool.run { try $0.run("SELECT 1") } }
  }
}
