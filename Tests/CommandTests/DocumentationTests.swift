import Foundation
import TestSupport
import Testing
import Version

/// What is not in the README does not exist for a user.
@Suite struct DocumentationTests {
  static let readme = try! text("README.md")

  /// A file of the project.
  private static func text(_ path: String) throws -> String {
    try String(
      contentsOf: URL(fileURLWithPath: #filePath).deletingLastPathComponent()
        .deletingLastPathComponent().deletingLastPathComponent().appendingPathComponent(path),
      encoding: .utf8)
  }

  @Test func `what names the release beside the program names the same one`() throws {
    let number = ProgramVersion.number
    #expect(try Self.text("docker/Dockerfile").contains("ARG VERSION=\(number)\n"))
    #expect(try Self.text("Sources/FeedServer/openapi.json").contains(#""version": "\#(number)","#))
  }

  private static let commands = [
    ["serve"], ["seed"], ["migrate", "up"], ["migrate", "status"], ["migrate", "verify"],
    ["export"], ["check"], ["backup"], ["restore"], ["vacuum"], ["prune"],
    ["config"], ["health"],
  ]

  @Test(arguments: commands)
  func `every option of a command is in the README, with its variable`(_ command: [String]) throws {
    #expect(Self.readme.contains("`" + command.joined(separator: " ")), "\(command)")
    let program = Program()
    let process = program.process(command + ["--help"])
    let output = try program.folder.write("", to: "help")
    process.standardOutput = FileHandle(forWritingAtPath: output)
    try process.run()
    process.waitUntilExit()
    let help = try String(contentsOfFile: output, encoding: .utf8)
    let options = help.matches(of: /^ +(?:-\w, )?--([a-z-]+)/.anchorsMatchLineEndings())
      .map { String($0.output.1) }
    #expect(options.contains("help"))
    // What is to be said each time has no variable.
    let without = [
      "generate", "overwrite", "older-than", "keep-posts", "feed", "dry-run", "format",
    ]
    for option in options where !["help", "version", "generate"].contains(option) {
      #expect(Self.readme.contains("`--\(option)`"), "--\(option)")
      if without.contains(option) { continue }
      let variable = "LOOKAHEAD_" + option.uppercased().replacingOccurrences(of: "-", with: "_")
      #expect(Self.readme.contains(variable), "\(variable)")
    }
  }

  @Test func `every route, parameter and problem of the API is in the README`() throws {
    let program = Program()
    let server = try ServingProgram(program)
    let document = try TestClient(port: server.port).get("/openapi.json")
    let paths: [String: [String: Any]] = try #require(document.value("paths"))
    for (path, operations) in paths {
      // What holds for every path is said once.
      for method in operations.keys where !["parameters", "head", "options"].contains(method) {
        let route = "\(method.uppercased()) \(path)"
        #expect(Self.readme.contains("`\(route)`"), "\(route)")
      }
    }
    let parameters = document.text.matches(of: /"name": "(\w+)",\s*"in": "query"/)
      .map { String($0.output.1) }
    #expect(parameters.count > 10)
    for name in Set(parameters) { #expect(Self.readme.contains("`\(name)`"), "\(name)") }
    let problems = document.text.matches(of: /urn:lookahead:problem:([a-z-]+)/)
      .map { String($0.output.1) }
    #expect(problems.count > 10)
    for problem in Set(problems) { #expect(Self.readme.contains("`\(problem)`"), "\(problem)") }
  }
}
