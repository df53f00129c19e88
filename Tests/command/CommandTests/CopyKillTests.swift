import Foundation
import Glibc
import Postgres
import PostgresTestSupport
import TestSupport
import Testing

/// `lookahead copy`, killed on its way, from the one kind of database into the other.
@Suite(.enabled(if: PostgresCluster.isPresent, "skipped: there is no PostgreSQL"))
struct CopyKillTests {
  let program = Program()
  let address = PostgresCluster.shared!.freshSchema().address

  /// Where the copy stands still when it is killed: before a table of PostgreSQL that somebody has locked.
  struct Point: CustomTestStringConvertible {
    let isIntoPostgres: Bool
    let table: String

    var testDescription: String { "\(isIntoPostgres ? "into" : "out of") PostgreSQL, \(table)" }

    static let all =
      // The log's floor is written last: the end of the transaction is on its way by then, and is carried out.
      ["post", "media", "feed_entry", "change_log_floor"].map {
        Point(isIntoPostgres: true, table: $0)
      }
      + ["strategy", "media", "media_file"].map {
        Point(isIntoPostgres: false, table: $0)
      }
  }

  private func run(_ arguments: String...) throws -> String {
    let outcome = try program.run(arguments)
    try #require(outcome.status == 0, "\(arguments): \(outcome.errors)")
    return outcome.output
  }

  private func copying(_ from: String, _ to: String) throws -> Process {
    let process = program.process(["copy", from, to])
    process.standardOutput = FileHandle.nullDevice
    process.standardError = FileHandle.nullDevice
    try process.run()
    return process
  }

  private func kill(_ process: Process) {
    Glibc.kill(process.processIdentifier, SIGKILL)
    process.waitUntilExit()
  }

  /// Returns when somebody waits for the table.
  private func waitForWaiting(on table: String, _ connection: Connection, _ process: Process) throws
  {
    var isWaiting = false
    while !isWaiting {
      try #require(process.isRunning, "the copy ended before it came to \(table)")
      isWaiting = try connection.run(
        """
        SELECT EXISTS (SELECT 1 FROM pg_locks WHERE relation = $1::text::regclass AND NOT granted)
        """, [.text(table)]
      ).boolean(0, 0)
    }
  }

  /// What somebody else finds in the target, whose server answers from nothing else.
  private func checkWhole(_ target: String, _ expected: String, pages: String) throws {
    let server = try ServingProgram(program, environment: ["LOOKAHEAD_DATABASE": target])
    let client = try TestClient(port: server.port)
    let page = try client.get("/rp/?feed=newest&limit=100")
    // Nothing is half: there is no feed, or it is what was copied.
    #expect(page.status == 404 || page.text == pages, "\(page.status)")
    #expect(server.terminate() == 0)
    let export = try run("export", "--database", target)
    #expect(export.isEmpty || export == expected)
    #expect(try run("check", "--database", target).contains("is sound"))
  }

  /// Runs the command again that was killed.
  private func finish(_ from: String, _ to: String, _ expected: String) throws {
    let again = try program.run("copy", from, to)
    if again.status != 0 {
      #expect(again.status == 1 && again.errors.contains("already has posts or feeds"))
    }
    #expect(try run("export", "--database", to) == expected)
    #expect(try run("check", "--database", to).contains("is sound"))
  }

  private func page(_ database: String) throws -> String {
    let server = try ServingProgram(program, environment: ["LOOKAHEAD_DATABASE": database])
    return try TestClient(port: server.port).get("/rp/?feed=newest&limit=100").text
  }

  @Test(arguments: TestRandom.some(2, of: Point.all))
  func `a copy that is killed leaves nothing or all, and the same command ends it`(_ point: Point)
    throws
  {
    let (from, to) =
      point.isIntoPostgres ? (program.database, address) : (address, program.database)
    _ = try run("seed", "--generate", "2500", "--database", from)
    _ = try run("migrate", "up", "--database", to)
    let expected = (export: try run("export", "--database", from), page: try page(from))
    let connection = try Connection(try DatabaseAddress(address))
    let observer = try Connection(try DatabaseAddress(address))
    try connection.run(script: "BEGIN; LOCK TABLE \(point.table) IN ACCESS EXCLUSIVE MODE")
    let process = try copying(from, to)
    try waitForWaiting(on: point.table, observer, process)
    kill(process)
    try connection.run(script: "ROLLBACK")
    try checkWhole(to, expected.export, pages: expected.page)
    try finish(from, to, expected.export)
    #expect(try page(to) == expected.page)
  }

  @Test(arguments: TestRandom.seeds)
  func `so does one that is killed at any time, there and back`(_ seed: UInt64) throws {
    var random = TestRandom(seed)
    let last = program.folder.file("last.sqlite")
    _ = try run("seed", "--generate", "2500")
    let expected = (export: try run("export"), page: try page(program.database))
    for (from, to) in [(program.database, address), (address, last)] {
      for _ in 0..<TestRandom.often(1, nightly: 3) {
        let process = try copying(from, to)
        usleep(UInt32(random.number(1...900)) * 1_000)
        kill(process)
        try checkWhole(to, expected.export, pages: expected.page)
      }
      try finish(from, to, expected.export)
    }
    #expect(try Data(contentsOf: URL(fileURLWithPath: last)).count > 0)
    #expect(try page(last) == expected.page)
  }
}
