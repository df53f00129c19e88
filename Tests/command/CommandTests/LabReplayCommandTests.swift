import Foundation
import TestSupport
import Testing

/// `lookahead lab replay`, as a user runs it.
@Suite struct LabReplayCommandTests {
  private let program = Program()
  private static let fixtures = Repository.url("Fixtures").path

  private func server(_ more: [String] = []) throws -> ServingProgram {
    try #require(try program.run("seed", Self.fixtures + "/featured.ndjson").status == 0)
    return try ServingProgram(program, ["--media-root", Self.fixtures + "/media"] + more)
  }

  private func browse(_ server: ServingProgram, _ more: String...) throws {
    let outcome = try program.run(
      [
        "browse", "http://127.0.0.1:\(server.port)", "--feed", "featured", "--items", "8",
        "--pace", "1s", "--speed", "4", "--network", "3g", "--strategy", "plain",
      ] + more)
    #expect(outcome.status == 0, "\(outcome.errors)")
  }

  private func replay(_ path: String, _ more: String...) throws -> Program.Outcome {
    try program.run(
      ["lab", "replay", path, "--plain-http", "--strategy", "plain", "--strategy", "endless"] + more
    )
  }

  private func object(_ outcome: Program.Outcome) throws -> [String: Any] {
    #expect(outcome.status == 0, "\(outcome.errors)")
    return try #require(
      try JSONSerialization.jsonObject(with: Data(outcome.output.utf8)) as? [String: Any])
  }

  @Test func `a recorded session is replayed, and one that cannot be is named`() throws {
    let server = try server()
    try browse(server, "--record", "session.ndjson")
    let table = try replay("session.ndjson")
    #expect(table.status == 0, "\(table.errors)")
    #expect(table.output.contains("recorded: plain"))
    #expect(table.output.contains("\nendless") && table.output.contains("1 sessions with 8 items."))
    let json = try object(try replay("session.ndjson", "--format", "json"))
    let recorded = try #require(json["recorded"] as? [String: Any])
    #expect(json["sessions"] as? Int == 1 && recorded["items"] as? Int == 8)
    let strategies = try #require(json["strategies"] as? [[String: Any]])
    #expect(strategies.map { $0["strategy"] as? String } == ["plain", "endless"])
    for strategy in strategies {
      for bound in ["slow", "fast"] {
        let figures = try #require(strategy[bound] as? [String: Any])
        #expect(figures["items"] as? Int == 8)
        #expect(figures["kilobytesPerItem"] != nil)
      }
    }
    // The same twice.
    #expect(try replay("session.ndjson").output == table.output)

    for (path, text, words) in [
      ("missing", nil, "missing: there is no such file"),
      ("empty", "", "empty: "),
      ("other", "{}\n", "other: line 1: strategy: is missing"),
      ("nothing", #"{"strategy":{"name":"plain"}}"# + "\n", "nothing: it has no page with items"),
    ] {
      if let text { try program.folder.write(text, to: path) }
      let refused = try replay(path)
      #expect(refused.status == 1 && refused.errors.contains(words), "\(path): \(refused.errors)")
    }
  }

  @Test func `sessions that clients share are replayed as a folder`() throws {
    let folder = program.folder.file("sessions")
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: false)
    let server = try server([
      "--record-share", "1000", "--record-folder", folder, "--report-flush-milliseconds", "10",
    ])
    try browse(server, "--report")
    try browse(server, "--report")
    // One that reports nothing shares nothing.
    try browse(server)
    func names() throws -> [String] {
      try FileManager.default.contentsOfDirectory(atPath: folder).filter { !$0.hasPrefix(".") }
    }
    #expect(try eventually { try names().count == 2 })
    #expect(server.terminate() == 0)
    for name in try names() {
      let text = try String(contentsOfFile: folder + "/" + name, encoding: .utf8)
      #expect(!text.contains("first-ferry") && !text.contains("127.0.0.1"), "\(text)")
    }
    // What a server was writing as it was killed is none, and people leave before anything came.
    try program.folder.write("{", to: "sessions/.new-1")
    try program.folder.write(#"{"strategy":{"name":"plain"}}"# + "\n", to: "sessions/left.ndjson")
    let outcome = try replay("sessions", "--format", "json")
    #expect(outcome.errors.contains("1 of 3 sessions cannot be replayed"))
    let json = try object(outcome)
    #expect(json["sessions"] as? Int == 2)
    #expect((json["recorded"] as? [String: Any])?["items"] as? Int == 16)
  }

  @Test func `a server that would ask without a place for it does not start`() throws {
    for (more, words) in [
      ([], "--record-share needs --record-folder"),
      (["--record-folder", "nowhere"], "--record-folder: nowhere is not a folder"),
    ] {
      let refused = try program.run(["serve", "--port", "0", "--record-share", "5"] + more)
      #expect(refused.status != 0 && refused.errors.contains(words), "\(refused)")
    }
  }
}
