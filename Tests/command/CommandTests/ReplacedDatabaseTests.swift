import Foundation
import TestSupport
import Testing

/// A database whose file is deleted, moved or replaced under a running server: writes are refused, the
/// server says so once, and what was put there is whole when it has ended.
@Suite struct ReplacedDatabaseTests {
  private static let token = "a-token-of-the-tests"
  private static let authorized = ["Authorization": "Bearer " + token]

  enum Mishap: CaseIterable, Sendable {
    case deleted, moved, replaced, copiedOver, backupCopiedOver
  }

  private static let record = #"{"id":"ID","type":"image","feeds":[{"name":"featured","rank":1}]}"#

  private func seed(_ id: String, _ program: Program, _ database: String) throws {
    let seeded = try program.run(
      ["seed", "-"], input: Self.record.replacingOccurrences(of: "ID", with: id),
      environment: ["LOOKAHEAD_DATABASE": database])
    #expect(seeded.status == 0, "\(seeded.errors)")
  }

  /// As `cp` does it: the file stays the same one.
  private func copy(_ source: String, over target: String) throws {
    let file = try #require(FileHandle(forWritingAtPath: target))
    try file.truncate(atOffset: 0)
    try file.write(contentsOf: try Data(contentsOf: URL(fileURLWithPath: source)))
    try file.close()
  }

  private func happen(_ mishap: Mishap, _ program: Program) throws {
    let path = program.database
    let other = program.folder.file("other.sqlite")
    switch mishap {
    case .deleted: try FileManager.default.removeItem(atPath: path)
    case .moved: #expect(rename(path, program.folder.file("away.sqlite")) == 0)
    case .replaced:
      try seed("other", program, other)
      #expect(rename(other, path) == 0)
    case .copiedOver:
      try seed("other", program, other)
      try copy(other, over: path)
    case .backupCopiedOver:
      #expect(try program.run("backup", other).status == 0)
      try copy(other, over: path)
    }
  }

  @Test(arguments: Mishap.allCases)
  func `a server whose database is no longer there takes no writes`(_ mishap: Mishap) throws {
    let program = Program()
    let log = program.folder.file("log")
    try seed("a", program, program.database)
    let server = try ServingProgram(
      program, ["--log-file", log, "--log-format", "json"],
      environment: ["LOOKAHEAD_WRITE_TOKEN": Self.token])
    let client = try TestClient(port: server.port)
    func count() throws -> Int {
      try client.request("POST", "/v1/items/a/counters", Self.authorized, body: #"{"n":1}"#).status
    }
    #expect(try count() == 200)
    #expect(try client.get("/readyz").status == 200)
    try happen(mishap, program)
    for _ in 0..<3 { #expect(try count() == 503) }
    var status = 200
    try eventually {
      status = try client.get("/readyz").status
      return status != 200
    }
    #expect(status == 503)
    #expect(try client.get("/healthz").status == 200)
    #expect(server.terminate() == 0)

    let said = try String(contentsOfFile: log, encoding: .utf8).split(separator: "\n")
      .filter { $0.contains("\"level\":\"error\"") }
    #expect(said.count == 1, "\(said)")
    guard mishap != .deleted, mishap != .moved else { return }
    let checked = try program.run("check")
    #expect(checked.status == 0, "\(checked.output)\(checked.errors)")
    // A backup is no database before it is used as one.
    #expect(try program.run("migrate", "up").status == 0)
    let exported = try program.run("export").output
    if mishap == .backupCopiedOver {
      #expect(exported.contains(#""counters":{"n":1}"#), "\(exported)")
    } else {
      #expect(
        exported.contains(#""id":"other""#) && !exported.contains(#""id":"a""#), "\(exported)")
    }
  }
}
