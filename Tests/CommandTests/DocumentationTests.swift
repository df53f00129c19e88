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
    ["export"], ["check"], ["copy"], ["backup"], ["restore"], ["vacuum"], ["prune"], ["probe"],
    ["plan"], ["media", "add"], ["media", "renditions"],
    ["config"], ["health"], ["browse"], ["lab", "run"], ["lab", "sweep"], ["lab", "compare"],
    ["lab", "report"], ["lab", "apply"], ["lab", "validate"],
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
      "generate", "overwrite", "older-than", "keep-posts", "feed", "dry-run", "format", "again",
      "items", "pace", "strategy", "network", "speed", "store", "record", "json", "trace", "map",
      "time-zone",
      "watch", "without-hints", "explain", "max-cost", "video-cost", "image-cost",
      "input", "precision", "price", "search", "budget-kilobytes", "megabyte-loaders",
      "output", "csv", "without-grid", "undo", "together", "validation",
    ]
    for option in options where !["help", "version", "generate"].contains(option) {
      #expect(Self.readme.contains("`--\(option)`"), "--\(option)")
      if without.contains(option) { continue }
      let variable = "LOOKAHEAD_" + option.uppercased().replacingOccurrences(of: "-", with: "_")
      #expect(Self.readme.contains(variable), "\(variable)")
    }
  }

  /// The text between two headings.
  private static func section(_ heading: String, upTo next: String) -> Substring {
    let start = readme.range(of: "\n### \(heading)\n")!.upperBound
    let end = readme.range(of: "\n### \(next)\n") ?? readme.range(of: "\n## \(next)\n")!
    return readme[start..<end.lowerBound]
  }

  /// The options of a section's table, and their defaults.
  private static func defaults(_ section: Substring) -> [(option: String, value: String)] {
    section.matches(of: /\n\| `--([a-z-]+)` \| (?:`LOOKAHEAD_\w+`)? ?\| ([^|]*)\|/).map {
      (String($0.output.1), $0.output.2.trimmingCharacters(in: [" ", "`"]))
    }
  }

  /// The defaults in a command's help.
  private static func help(_ command: String) throws -> [String: String] {
    let text = try Program().run(command, "--help", environment: ["LOOKAHEAD_DATABASE": ""]).output
    let options = text.matches(of: /\n +(?:-\w, )?--([a-z-]+)((?:.|\n(?! +-|\n))*)/)
    return options.reduce(into: [:]) { defaults, option in
      let words = option.output.2.split(whereSeparator: \.isWhitespace).joined(separator: " ")
      let value = words.firstMatch(of: /\(default: ([^)]*)\)/)
      defaults[String(option.output.1)] = value.map { String($0.output.1) } ?? ""
    }
  }

  @Test func `every default of serve in the README is the one that config shows`() throws {
    let outcome = try Program().run(
      "config", "--format", "json", environment: ["LOOKAHEAD_DATABASE": ""])
    let document = try JSONSerialization.jsonObject(with: Data(outcome.output.utf8))
    let list = try #require((document as? [String: Any])?["settings"] as? [[String: Any]])
    let settings = Dictionary(
      uniqueKeysWithValues: list.map { ($0["name"] as? String ?? "?", $0["value"] ?? NSNull()) })
    let defaults = Self.defaults(Self.section("Serving", upTo: "Logs and figures"))
    #expect(defaults.count > 45)
    // What depends on where the program runs is said in words.
    let inWords = ["log-format"]
    for (option, value) in defaults where !inWords.contains(option) {
      let setting = try #require(settings[option], "\(option)")
      switch value {
      case "none", "standard error":
        // Of a secret only whether there is one is shown.
        let isUnset = option == "write-token" ? setting as? Bool == false : setting is NSNull
        #expect(isUnset, "\(option)")
      case "on", "off": #expect(setting as? Bool == (value == "on"), "\(option)")
      default:
        #expect("\(setting)" == value.replacing(" (off)", with: ""), "\(option)")
      }
    }
  }

  @Test func `every other default in the README is the one that the command's help names`() throws {
    let seed = try Self.help("seed")
    let defaults = Self.defaults(Self.section("Seeding", upTo: "Serving"))
    #expect(defaults.count == 16)
    for (option, value) in defaults {
      #expect(seed[option] == (value == "off" ? "" : value), "\(option)")
    }
    let probe = try Self.help("probe")
    let probing = Self.defaults(
      Self.section("Looking into media files", upTo: "Keeping what is known of media files"))
    #expect(probing.count == 8)
    for (option, value) in probing {
      #expect(probe[option] == (value == "off" ? "" : value), "\(option)")
    }
    // What stands in the text, for all commands or for one.
    let others = Self.readme.matches(of: /`--([a-z-]+)`\s+\(`LOOKAHEAD_\w+`, `?([^)`]+)`?\)/)
    #expect(others.count == 3)
    let health = try Self.help("health")
    for other in others {
      let option = String(other.output.1)
      #expect((seed[option] ?? health[option]) == String(other.output.2), "\(option)")
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
