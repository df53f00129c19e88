import Foundation
import TestSupport
import Testing
import Version

/// What is not in the documents does not exist for a user.
@Suite struct DocumentationTests {
  private static let root = Repository.root
  static let settings = try! text("docs/settings.md")
  private static let api = try! text("docs/api.md")

  /// A file of the project.
  private static func text(_ path: String) throws -> String {
    try String(contentsOf: root.appendingPathComponent(path), encoding: .utf8)
  }

  /// The document with the reference of a command, besides docs/settings.md.
  private static func reference(of command: [String]) -> String {
    switch command[0] {
    case "seed": "docs/seeding.md"
    case "probe", "media": "docs/media.md"
    case "browse": "docs/client.md"
    case "lab", "tune": "docs/lab.md"
    default: "docs/settings.md"
    }
  }

  @Test func `what names the release beside the program names the same one`() throws {
    let number = ProgramVersion.number
    #expect(try Self.text("docker/Dockerfile").contains("ARG VERSION=\(number)\n"))
    let openAPI = try Self.text("Sources/server/FeedServer/openapi.json")
    #expect(openAPI.contains(#""version": "\#(number)","#))
  }

  private static let commands = [
    ["serve"], ["seed"], ["migrate", "up"], ["migrate", "status"], ["migrate", "verify"],
    ["export"], ["check"], ["copy"], ["backup"], ["restore"], ["vacuum"], ["prune"], ["probe"],
    ["plan"], ["media", "add"], ["media", "renditions"], ["media", "sweep"],
    ["config"], ["health"], ["browse"], ["lab", "run"], ["lab", "sweep"], ["lab", "compare"],
    ["lab", "report"], ["lab", "apply"], ["lab", "validate"], ["lab", "replay"], ["live"],
    ["experiment", "start"], ["experiment", "begin"], ["experiment", "list"],
    ["experiment", "stop"],
    ["experiment", "undo"], ["tune"],
  ]

  @Test(arguments: commands)
  func `every option of a command is in its document, with its variable`(_ command: [String]) throws
  {
    Self.expect("docs/settings.md", Self.settings, has: "`" + command.joined(separator: " "))
    let reference = Self.reference(of: command)
    let document = try Self.settings + Self.text(reference)
    let places = "docs/settings.md or \(reference)"
    // An option of several commands has its variable where the first of them is described.
    let variables = try document + Self.text("docs/seeding.md") + Self.text("docs/media.md")
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
      "delete",
      "items", "pace", "strategy", "network", "speed", "store", "record", "json", "trace", "map",
      "time-zone",
      "watch", "without-hints", "without-survival", "explain", "max-cost", "video-cost",
      "image-cost",
      "input", "precision", "price", "search", "bitrates", "by", "budget-kilobytes",
      "megabyte-loaders",
      "output", "csv", "without-grid", "undo", "together", "validation", "against", "begin",
      "suggest",
      "wrong", "path-known", "plain-http", "decoder-milliseconds", "stress",
    ]
    for option in options where !["help", "version", "generate"].contains(option) {
      Self.expect(places, document, has: "`--\(option)`")
      if without.contains(option) { continue }
      let variable = "LOOKAHEAD_" + option.uppercased().replacingOccurrences(of: "-", with: "_")
      Self.expect(places, variables, has: variable)
    }
  }

  /// Names the file and what is missing, and does not print the file.
  private static func expect(
    _ file: String, _ text: String, has words: String,
    _ location: SourceLocation = #_sourceLocation
  ) {
    if !text.contains(words) {
      Issue.record("\(file) does not have \(words)", sourceLocation: location)
    }
  }

  /// The text below a heading of the second level, up to the next one.
  private static func section(_ heading: String, of document: String) -> Substring {
    let rest = document[document.range(of: "\n## \(heading)\n")!.upperBound...]
    return rest[..<(rest.range(of: "\n## ")?.lowerBound ?? rest.endIndex)]
  }

  /// The options of a table, and their defaults.
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

  @Test func `every default of serve in the settings is the one that config shows`() throws {
    let outcome = try Program().run(
      "config", "--format", "json", environment: ["LOOKAHEAD_DATABASE": ""])
    let document = try JSONSerialization.jsonObject(with: Data(outcome.output.utf8))
    let list = try #require((document as? [String: Any])?["settings"] as? [[String: Any]])
    let settings = Dictionary(
      uniqueKeysWithValues: list.map { ($0["name"] as? String ?? "?", $0["value"] ?? NSNull()) })
    let defaults = Self.defaults(Self.section("Serving", of: Self.settings))
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
      case "on" where setting is Bool, "off" where setting is Bool:
        #expect(setting as? Bool == (value == "on"), "\(option)")
      default:
        #expect("\(setting)" == value.replacing(" (off)", with: ""), "\(option)")
      }
    }
  }

  @Test func `every other default in the documents is the one that the command's help names`()
    throws
  {
    let seed = try Self.help("seed")
    let defaults = Self.defaults(Substring(try Self.text("docs/seeding.md")))
    #expect(defaults.count == 16)
    for (option, value) in defaults {
      #expect(seed[option] == (value == "off" ? "" : value), "\(option)")
    }
    let probe = try Self.help("probe")
    let probing = Self.defaults(
      Self.section("Probe media files", of: try Self.text("docs/media.md")))
    #expect(probing.count == 7)
    for (option, value) in probing {
      #expect(probe[option] == (value == "off" ? "" : value), "\(option)")
    }
    // What stands in the text, for all commands or for one.
    let others = Self.settings.matches(of: /`--([a-z-]+)`\s+\(`LOOKAHEAD_\w+`, `?([^)`]+)`?\)/)
    #expect(others.count == 4)
    let (health, live) = (try Self.help("health"), try Self.help("live"))
    for other in others {
      let option = String(other.output.1)
      #expect(
        (seed[option] ?? health[option] ?? live[option]) == String(other.output.2), "\(option)")
    }
  }

  @Test func `every route, parameter and problem of the API is in docs/api.md`() throws {
    let program = Program()
    let server = try ServingProgram(program)
    let document = try TestClient(port: server.port).get("/openapi.json")
    let paths: [String: [String: Any]] = try #require(document.value("paths"))
    for (path, operations) in paths {
      // What holds for every path is said once.
      for method in operations.keys where !["parameters", "head", "options"].contains(method) {
        let route = "\(method.uppercased()) \(path)"
        Self.expect("docs/api.md", Self.api, has: "`\(route)`")
      }
    }
    let parameters = document.text.matches(of: /"name": "(\w+)",\s*"in": "query"/)
      .map { String($0.output.1) }
    #expect(parameters.count > 10)
    for name in Set(parameters) { Self.expect("docs/api.md", Self.api, has: "`\(name)`") }
    let problems = document.text.matches(of: /urn:lookahead:problem:([a-z-]+)/)
      .map { String($0.output.1) }
    #expect(problems.count > 10)
    for problem in Set(problems) { Self.expect("docs/api.md", Self.api, has: "`\(problem)`") }
  }

  /// The documents of the project: all of its files in Markdown, by their paths.
  private static let documents: [String: String] = {
    let files = FileManager.default.enumerator(
      at: root, includingPropertiesForKeys: nil, options: .skipsHiddenFiles)!
    var documents: [String: String] = [:]
    for case let file as URL in files where file.pathExtension == "md" {
      let path = file.standardizedFileURL.path.dropFirst(root.standardizedFileURL.path.count + 1)
      documents[String(path)] = try! String(contentsOf: file, encoding: .utf8)
    }
    return documents
  }()

  /// The anchors of a document's headings, as GitHub makes them.
  private static func anchors(_ document: String) -> Set<String> {
    var anchors: Set<String> = []
    var isCode = false
    for line in document.split(separator: "\n", omittingEmptySubsequences: false) {
      if line.drop(while: { $0 == " " }).hasPrefix("```") { isCode.toggle() }
      guard !isCode, let heading = line.wholeMatch(of: /#+ (.+)/)?.output.1 else { continue }
      let kept = heading.lowercased().filter { $0.isLetter || $0.isNumber || " -_".contains($0) }
      var anchor = kept.replacing(" ", with: "-")
      var count = 0
      while !anchors.insert(anchor).inserted {
        count += 1
        anchor = kept.replacing(" ", with: "-") + "-\(count)"
      }
    }
    return anchors
  }

  @Test func `every relative link in a document leads to a file, and to a heading of it`() throws {
    #expect(Self.documents.count > 15)
    var count = 0
    for (path, text) in Self.documents {
      for match in text.matches(of: /\]\(([^()\s]+)\)/) {
        let target = String(match.output.1)
        if target.contains(":") { continue }
        count += 1
        let parts = target.split(separator: "#", maxSplits: 1, omittingEmptySubsequences: false)
        let folder = Self.root.appendingPathComponent(path).deletingLastPathComponent()
        let place =
          parts[0].isEmpty
          ? Self.root.appendingPathComponent(path).standardizedFileURL.path
          : folder.appendingPathComponent(String(parts[0])).standardizedFileURL.path
        #expect(FileManager.default.fileExists(atPath: place), "\(path): \(target)")
        guard parts.count == 2 else { continue }
        let file = String(place.dropFirst(Self.root.standardizedFileURL.path.count + 1))
        let document = try #require(Self.documents[file], "\(path): \(target)")
        #expect(Self.anchors(document).contains(String(parts[1])), "\(path): \(target)")
      }
    }
    #expect(count > 100)
  }

  @Test func `every Swift file that a document names is there`() throws {
    var names: Set<String> = ["Package.swift"]
    for folder in ["Sources", "Tests", "Migrations"] {
      let files = FileManager.default.enumerator(
        at: Self.root.appendingPathComponent(folder), includingPropertiesForKeys: nil)
      for case let file as URL in try #require(files) { names.insert(file.lastPathComponent) }
    }
    var count = 0
    for (path, text) in Self.documents {
      for match in text.matches(of: /[\w+]+\.swift\b/) {
        count += 1
        #expect(names.contains(String(match.output)), "\(path): \(match.output)")
      }
    }
    #expect(count > 20)
  }

  @Test func `the documents that everybody reads first stay short`() throws {
    for (path, most) in [("README.md", 350), ("CONTRIBUTING.md", 250)] {
      let lines = try Self.text(path).split(separator: "\n", omittingEmptySubsequences: false)
      #expect(lines.count <= most, "\(path)")
    }
    #expect(try Self.text("ARCHITECTURE.md").split(whereSeparator: \.isWhitespace).count <= 2500)
  }
}
