import Foundation
import TestSupport
import Testing

@Suite struct SeedCommandTests {
  @Test(arguments: ["d", "é"])
  func `a database may have a name of one character`(_ name: String) throws {
    let program = Program()
    let record = #"{"id":"p","type":"text"}"#
    let seeded = try program.run("seed", "--database", name, "-", input: record)
    #expect(seeded.status == 0, "\(seeded.errors)")
    #expect(try program.run("check", "--database", name).status == 0)
    #expect(try program.run("backup", "--database", name, "b").status == 0)
    #expect(try program.run("restore", "--database", "r", "b").status == 0)
    #expect(try program.run("config", "--database", name, "--media-root", "m").status == 0)
  }

  let program = Program()

  private let good = #"{"id":"a","feeds":[{"name":"f"}],"type":"text"}"#
  private let other = #"{"id":"b","feeds":[{"name":"f"}],"type":"text"}"#

  @Test func `a seed says what it did, and the second one that nothing changed`() throws {
    let file = try program.folder.write(good + "\n" + other + "\n", to: "posts.ndjson")
    let first = try program.run("seed", file)
    #expect(first.status == 0)
    #expect(first.output.hasPrefix("2 added, 0 changed, 0 unchanged"))
    let second = try program.run("seed", file)
    #expect(second.status == 0)
    #expect(second.output.hasPrefix("nothing changed: 0 added, 0 changed, 2 unchanged"))
    let check = try program.run("check")
    #expect(check.status == 0)
    #expect(check.output.contains("is sound: f 2"))
  }

  @Test(arguments: ["ndjson", "array", "stdin"])
  func `lines, an array and standard input are read alike`(_ form: String) throws {
    let text = form == "array" ? "[\n \(good),\n \(other)\n]\n" : "\(good)\r\n\n\(other)"
    let outcome: Program.Outcome
    if form == "stdin" {
      outcome = try program.run("seed", "-", input: text)
    } else {
      outcome = try program.run("seed", try program.folder.write(text, to: "posts"))
    }
    #expect(outcome.status == 0, "\(outcome.errors)")
    #expect(try program.run("export").output == good + "\n" + other + "\n")
  }

  @Test func `a bad line is named, the others are loaded, and the last line counts the skipped`()
    throws
  {
    let lines = [
      good, #"{"id":"x"}"#, "nonsense", #"{"id":"","feeds":[],"type":"text"}"#,
      #"{"id":"y","type":"poem"}"#, #"{"id":"z","type":"text","likes":5}"#, other,
      #"{"id":"cut","feeds":[{"na"#,
    ]
    let file = try program.folder.write(lines.joined(separator: "\n"), to: "posts.ndjson")
    let outcome = try program.run("seed", file)
    #expect(outcome.status == 1)
    let expected = [
      (2, "post \"x\": type: is missing"), (3, "is not JSON"), (4, "id: is empty"),
      (5, "post \"y\": type: \"poem\" is not one of"), (6, "post \"z\": likes: unknown field"),
      (8, "is not JSON"),
    ]
    #expect(outcome.errorLines.count == expected.count + 1)
    for ((line, problem), said) in zip(expected, outcome.errorLines) {
      #expect(said.hasPrefix("\(file):\(line): \(problem)"), "\(said)")
    }
    #expect(outcome.errorLines.last == "6 lines skipped")
    #expect(try program.run("export").output == good + "\n" + other + "\n")
  }

  @Test func `what a stranger's file holds reaches no terminal as a command`() throws {
    let evil = "\u{1b}[2J\u{7f}\u{9b}31m\u{202e}\u{2028}"
    let escaped = #"\u001b[2J\u007f\u009b31m\u202e\u2028"#
    let json = evil.replacing("\u{1b}", with: #"\u001b"#)
    let lines = [
      #"{"id":"a","type":"text","x\#(json)":1}"#, #"{"id":"b","type":"\#(json)"}"#,
      #"{"id":"c","type":"text","publishedAt":"\#(json)"}"#,
      #"{"id":"d\#(evil.dropFirst(4))","feeds":[{"name":"f\#(evil.dropFirst(5))"}],"type":"poem"}"#,
      #"{"id":"e","feeds":[{"name":"f\#(evil.dropFirst(5))"}],"type":"text"}"#,
    ]
    let file = try program.folder.write(lines.joined(separator: "\n"), to: "posts\u{1b}[31m")
    let shown = program.folder.file(#"posts\u001b[31m"#)
    let outcome = try program.run("seed", file)
    #expect(outcome.status == 1)
    for (line, problem) in [
      (1, #"post "a": x\#(escaped): unknown field"#), (2, #"post "b": type: "\#(escaped)" is not"#),
      (3, #"post "c": publishedAt: "\#(escaped)" is not"#),
    ] {
      #expect(outcome.errorLines[line - 1].hasPrefix("\(shown):\(line): \(problem)"))
    }
    let check = try program.run("check")
    #expect(check.output.contains(#"is sound: f\u009b31m\u202e\u2028 1"#), "\(check.output)")
    let missing = try program.run("seed", program.folder.file("no\u{1b}[2J"))
    #expect(missing.errors.contains(#"no\u001b[2J: No such file"#))
    let prune = try program.run("prune", "--keep-posts", "1", "--feed", "x\u{9b}")
    #expect(prune.errors.contains(#"there is no feed "x\u009b""#))
    for text in [outcome.errors, check.output, missing.errors, prune.errors] {
      #expect(
        text.unicodeScalars.allSatisfy { $0 == "\n" || ($0.value >= 0x20 && $0.value != 0x7f) })
      #expect(!text.contains("\u{9b}") && !text.contains("\u{202e}"))
    }
  }

  @Test func `strict stops at the first bad line and keeps what stood before it`() throws {
    let file = try program.folder.write([good, "nonsense", other].joined(separator: "\n"), to: "p")
    let outcome = try program.run("seed", "--strict", file)
    #expect(outcome.status == 1)
    #expect(outcome.errorLines.first?.hasPrefix("\(file):2: is not JSON") == true)
    #expect(try program.run("export").output == good + "\n")
    #expect(try program.run("check").status == 0)
  }

  @Test func `a file that is not there is named before anything is written`() throws {
    let file = try program.folder.write(good, to: "posts.ndjson")
    let outcome = try program.run("seed", file, program.folder.file("missing"))
    #expect(outcome.status == 1)
    #expect(outcome.errors.contains("missing: No such file or directory"))
    #expect(!FileManager.default.fileExists(atPath: program.database))
    #expect(try program.run("seed", program.folder.path).errors.contains("Is a directory"))
  }

  @Test func `the fixtures are loaded where no file is named, and come back from an export`() throws
  {
    let outcome = try program.run("seed", "--fixtures", SharedFeeds.fixtures)
    #expect(outcome.status == 0, "\(outcome.errors)")
    let export = try program.run("export")
    let file = try program.folder.write(export.output, to: "export.ndjson")
    let again = ["LOOKAHEAD_DATABASE": program.folder.file("again.sqlite")]
    #expect(try program.run("seed", file, environment: again).status == 0)
    #expect(try program.run("export", environment: again).output == export.output)
    let missing = try program.run("seed", "--fixtures", "/nowhere")
    #expect(missing.status == 1 && missing.errors.contains("/nowhere: there is no such folder"))
  }

  @Test func `generated posts are the same for the same seed`() throws {
    let exports = try ["7", "7", "8"].enumerated().map { index, seed in
      let place = ["LOOKAHEAD_DATABASE": program.folder.file("\(index).sqlite")]
      let outcome = try program.run(
        "seed", "--generate", "500", "--random-seed", seed, environment: place)
      #expect(outcome.output.hasPrefix("500 added"))
      return try program.run("export", environment: place).output
    }
    #expect(exports[0] == exports[1])
    #expect(exports[0] != exports[2])
  }

  @Test func `a killed seed leaves a sound database from which the same seed completes`() throws {
    let count = TestRandom.often(4_000, nightly: 10_000)
    var lines: [String] = []
    for index in 0..<count {
      lines.append(
        #"{"id":"p\#(index)","feeds":[{"name":"f","rank":\#(index)},{"name":"t"}],"type":"text","publishedAt":"2024-01-01T00:00:00Z"}"#
      )
    }
    let file = try program.folder.write(lines.joined(separator: "\n"), to: "posts.ndjson")
    // Again ranked the other way round, so that a ranking is killed in the making.
    let reversed = lines.enumerated().map { index, line in
      line.replacingOccurrences(of: "\"rank\":\(index)}", with: "\"rank\":\(lines.count - index)}")
    }
    let second = try program.folder.write(reversed.joined(separator: "\n"), to: "reversed.ndjson")
    for input in [file, second] {
      for delayMicroseconds in TestRandom.some(1, of: [60_000, 200_000, 400_000] as [UInt32]) {
        let process = program.process(["seed", "--batch-records", "200", input])
        process.standardOutput = FileHandle.nullDevice
        process.standardError = FileHandle.nullDevice
        try process.run()
        usleep(delayMicroseconds)
        kill(process.processIdentifier, SIGKILL)
        process.waitUntilExit()
        guard FileManager.default.fileExists(atPath: program.database) else { continue }
        _ = try program.run("migrate", "up")
        let check = try program.run("check")
        #expect(check.status == 0, "\(check.output)")
      }
      #expect(try program.run("seed", input).status == 0)
      let check = try program.run("check")
      #expect(check.status == 0)
      #expect(check.output.contains("f \(count), t \(count)"))
      #expect(!check.output.contains("note"))
    }
    let top = try program.run("export").output.split(separator: "\n").first {
      $0.contains("\"rank\":1}")
    }
    #expect(top?.contains("\"id\":\"p\(count - 1)\"") == true)
  }
}
