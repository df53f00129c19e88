import Foundation
import Glibc
import PostgresTestSupport
import TestSupport
import Testing

/// The commands on PostgreSQL, as a user runs them.
@Suite(.enabled(if: PostgresCluster.isPresent, "skipped: there is no PostgreSQL"))
struct PostgresCommandTests {
  let program = Program()
  /// With a password that nobody is to see; the server asks for none.
  let database = PostgresCluster.shared!.freshSchema().address + "&password=s3cret"

  private func run(_ arguments: String..., input: String? = nil) throws -> Program.Outcome {
    let outcome = try program.run(
      arguments, input: input, environment: ["LOOKAHEAD_DATABASE": database])
    #expect(!(outcome.output + outcome.errors).contains("s3cret"))
    return outcome
  }

  @Test func `a role that may only read serves pages, says so at the start, and refuses writes`()
    throws
  {
    #expect(try run("seed", "--generate", "20").status == 0)
    let cluster = PostgresCluster.shared!
    let schema = try #require(database.firstMatch(of: /test_[0-9]+/)).output
    let role = "reader_\(schema)"
    try cluster.ask("CREATE ROLE \(role) LOGIN")
    try cluster.ask("GRANT USAGE ON SCHEMA \(schema) TO \(role)")
    try cluster.ask("GRANT SELECT ON ALL TABLES IN SCHEMA \(schema) TO \(role)")
    let token = "a-token-of-the-tests"
    let log = program.folder.file("log")
    let server = try ServingProgram(
      program, ["--log-file", log],
      environment: [
        "LOOKAHEAD_DATABASE": database.replacing("user=tests", with: "user=\(role)"),
        "LOOKAHEAD_WRITE_TOKEN": token,
      ])
    var said = ""
    for _ in 0..<500 where !said.contains("writes are refused") {
      usleep(10_000)
      said = (try? String(contentsOfFile: log, encoding: .utf8)) ?? ""
    }
    #expect(
      said.contains("writes are refused (403): the role \(role) lacks")
        && said.contains("author, change_log"), "\(said)")
    let client = try TestClient(port: server.port)
    #expect(try client.get("/readyz").status == 200)
    #expect(try client.get("/rp/?feed=newest&limit=5").itemIDs.count == 5)
    func put(_ id: String) throws -> TestAnswer {
      try client.request(
        "PUT", "/v1/items/\(id)",
        ["Authorization": "Bearer \(token)", "Content-Type": "application/json"],
        body: #"{"type":"text","title":"a"}"#)
    }
    func importing() throws -> TestAnswer {
      try client.request(
        "POST", "/v1/import",
        ["Authorization": "Bearer \(token)", "Content-Type": "application/x-ndjson"],
        body: #"{"id":"b","type":"text","title":"a"}"#)
    }
    for refused in try [put("a"), importing()] {
      #expect(refused.status == 403, "\(refused.text)")
      #expect(refused.value("type") == "urn:lookahead:problem:writes-off", "\(refused.text)")
    }
    // Rights that come later count at once.
    try cluster.ask("GRANT INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA \(schema) TO \(role)")
    try cluster.ask("GRANT USAGE, SELECT ON ALL SEQUENCES IN SCHEMA \(schema) TO \(role)")
    #expect(try put("a").status == 201)
    #expect(server.terminate() == 0)
  }

  @Test func `the status lists what is applied by name, and says what another program has made`()
    throws
  {
    #expect(try run("migrate", "up").status == 0)
    let schema = try #require(database.firstMatch(of: /test_[0-9]+/)).output
    try PostgresCluster.shared!.ask(
      "UPDATE \(schema).schema_migration SET name = '0002-other' WHERE version = 2")
    let status = try run("migrate", "status")
    let lines = status.output.split(separator: "\n")
    #expect(status.status == 1 && status.errors.contains("a migration 2 named 0002-other"))
    #expect(lines[0].contains("  applied ") && lines[1].hasSuffix("  pending"), "\(status.output)")
  }

  @Test func `a database is seeded, served by two, checked, pruned and copied`() throws {
    #expect(try run("migrate", "status").output.contains("0001-store  pending"))
    let seeding = try run("seed", "--generate", "300")
    #expect(seeding.status == 0 && seeding.output.contains("300 added"), "\(seeding.errors)")
    #expect(try run("seed", "--generate", "300").output.contains("nothing changed"))
    #expect(try run("migrate", "verify").status == 0)
    #expect(try run("migrate", "up").output.contains("nothing to apply"))
    let environment = [
      "LOOKAHEAD_DATABASE": database, "LOOKAHEAD_WRITE_TOKEN": "a-token-of-the-tests",
    ]
    let servers = try (0..<2).map { _ in try ServingProgram(program, environment: environment) }
    let clients = try servers.map { try TestClient(port: $0.port) }
    let pages = try clients.map { try $0.get("/rp/?feed=newest&limit=30") }
    #expect(pages[0].status == 200 && pages[0].itemIDs.count == 30)
    #expect(pages[0].text == pages[1].text)
    let next: String = try #require(pages[0].value("paging.links.next"))
    #expect(try clients[1].get(next).text == clients[0].get(next).text)
    // What one has answered, the other shows soon.
    let id = pages[0].itemIDs[3]
    let write = try clients[0].request(
      "POST", "/v1/items/\(id)/counters", ["Authorization": "Bearer a-token-of-the-tests"],
      body: #"{"shared":7}"#)
    #expect(write.status == 200, "\(write.text)")
    let isSeen = try eventually {
      try clients[1].get("/rp/?feed=newest&limit=30").text.contains(#""shared":7"#)
    }
    #expect(isSeen)
    #expect(try clients[0].get("/metrics").text.contains("lookahead_postgres_refreshes_total"))
    for server in servers { #expect(server.terminate() == 0) }

    let check = try run("check")
    #expect(
      check.status == 0 && check.output.contains("is sound"), "\(check.output)\(check.errors)")
    let export = try run("export").output
    let copy = try program.run("copy", database, program.database)
    #expect(copy.status == 0, "\(copy.errors)")
    #expect(!(copy.output + copy.errors).contains("s3cret"))
    #expect(try program.run("export").output == export)
    let again = try program.run("copy", database, program.database)
    #expect(again.status == 1 && again.errors.contains("already has posts or feeds"))
    #expect(try run("prune", "--keep-posts", "5").status == 0)
    #expect(try run("check").status == 0)
  }

  @Test(arguments: [["backup", "x"], ["restore", "x"], ["vacuum"]])
  func `what PostgreSQL's own tools do, they are named for`(_ arguments: [String]) throws {
    let outcome = try program.run(arguments, environment: ["LOOKAHEAD_DATABASE": database])
    #expect(outcome.status == 64)
    #expect(
      outcome.errors.contains("pg_") || outcome.errors.contains("VACUUM"), "\(outcome.errors)")
    #expect(!outcome.errors.contains("s3cret"))
  }

  @Test func `what cannot be used is said without its password`() throws {
    let cases: [(database: String, status: Int32, says: String)] = [
      ("postgres://u:s3cret@[h/d", 64, "libpq cannot parse the address"),
      ("postgres://u:s3cret@/d?host=/nowhere", 1, "cannot connect"),
      ("service=nobody-has-this password=s3cret", 1, "cannot connect"),
      (database, 1, "create the tables"),
    ]
    for (database, status, says) in cases {
      let outcome = try program.run("export", environment: ["LOOKAHEAD_DATABASE": database])
      #expect(outcome.status == status && outcome.errors.contains(says), "\(outcome.errors)")
      #expect(!outcome.errors.contains("s3cret"), "\(outcome.errors)")
    }
    let config = try run("config", "--standby-database", "postgres://u:s3cret@b,c/d")
    #expect(config.status == 0 && config.output.contains("postgres://u@b,c/d"))
    #expect(config.output.contains("postgres://tests@"), "\(config.output)")
  }

  @Test func `a standby is one of a PostgreSQL database`() throws {
    let standby = "postgres://u:s3cret@b/d"
    let file = try program.run("config", "--standby-database", standby)
    #expect(file.status == 1)
    #expect(file.output.contains("refusal: --standby-database postgres://u@b/d"))
    for (text, says) in [
      ("standby.sqlite", "a standby must be a PostgreSQL server"),
      ("postgres://u:s3cret@[b/d", "--standby-database: libpq cannot parse"),
    ] {
      let outcome = try run("serve", "--standby-database", text)
      #expect(outcome.status == 64 && outcome.errors.contains(says), "\(outcome.errors)")
    }
    #expect(!(file.output + file.errors).contains("s3cret"))
  }

  @Test func `a seed that is killed leaves whole batches, and the same again finishes it`() throws {
    let count = TestRandom.often(8_000, nightly: 20_000)
    let seeding = program.process(
      ["seed", "--generate", "\(count)"], environment: ["LOOKAHEAD_DATABASE": database])
    seeding.standardOutput = FileHandle.nullDevice
    seeding.standardError = FileHandle.nullDevice
    try seeding.run()
    usleep(UInt32(count) * 75)
    kill(seeding.processIdentifier, SIGKILL)
    seeding.waitUntilExit()
    #expect(try run("seed", "--generate", "\(count)").status == 0)
    #expect(try run("check").status == 0)
    #expect(try run("seed", "--generate", "\(count)").output.contains("\(count) unchanged"))
  }
}
