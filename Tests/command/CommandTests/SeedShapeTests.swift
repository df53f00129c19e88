import Foundation
import TestSupport
import Testing

/// `seed` as a user of other formats meets it.
@Suite struct SeedShapeTests {
  let program = Program()

  private static let samples = Repository.url("Fixtures/formats").path

  private static let columns = [
    "number=id", "headline=title", "body=text", "when=publishedAt", "picture=media.url",
    "likes=counters.likes", "labels=tags",
  ].flatMap { ["--map", $0] }

  @Test(arguments: [
    ("news.rss", 3), ("clips.atom", 2), ("journal.json", 2), ("timeline.json", 2),
    ("listing.json", 4),
    ("table.csv", 3),
  ])
  func `a sample goes in, comes out, and the second time changes nothing`(
    _ name: String, _ posts: Int
  ) throws {
    let arguments = ["seed", "--feed", "new"] + Self.columns + ["\(Self.samples)/\(name)"]
    let first = try program.run(arguments)
    #expect(first.status == 0, "\(first.errors)")
    #expect(first.output.hasPrefix("\(posts) added"), "\(first.output)")
    let second = try program.run(arguments)
    #expect(second.output.hasPrefix("nothing changed"), "\(second.output)")
    let export = try program.run("export").output
    #expect(
      export.split(separator: "\n").filter { $0.contains("\"feeds\":[{\"name\":\"new\"}]") }.count
        == posts)
    let again = ["LOOKAHEAD_DATABASE": program.folder.file("again.sqlite")]
    let file = try program.folder.write(export, to: "export.ndjson")
    #expect(try program.run("seed", file, environment: again).status == 0)
    #expect(try program.run("export", environment: again).output == export)
  }

  @Test func `posts in no feed and what is not kept are counted in warnings`() throws {
    let outcome = try program.run("seed", "\(Self.samples)/news.rss")
    #expect(outcome.status == 0)
    #expect(
      outcome.errorLines.first?.hasPrefix("not kept: 1 further rendition") == true,
      "\(outcome.errors)")
    #expect(outcome.errorLines.last?.hasPrefix("warning: 3 posts name no feed") == true)
  }

  @Test(arguments: [
    ("id,title\n1,a\n", [], "this is a CSV: --map column=field is required"),
    (
      "id,title\n1,a\n", ["--map", "name=title"],
      "there is no column \"name\"; the columns are id, title; the fields are id, type"
    ),
    ("[]", ["--time-zone", "Mars/Olympus"], "--time-zone"),
    ("{\n \"id\": \"a\"\n}", [], "one JSON object over several lines"),
    ("<html>", [], "an HTML page"), ("{}", ["--format", "rss"], "this is JSON, not RSS"),
  ])
  func `what cannot be read is named before anything is written`(
    _ text: String, _ options: [String], _ expected: String
  ) throws {
    let good = try program.folder.write(#"{"id":"a","type":"text"}"#, to: "good.ndjson")
    let bad = try program.folder.write(text, to: "bad")
    let outcome = try program.run(["seed"] + options + [good, bad])
    #expect(outcome.status != 0)
    #expect(outcome.errors.contains(expected), "\(outcome.errors)")
    #expect(!FileManager.default.fileExists(atPath: program.database))
  }

  @Test func `a compressed file that is cut short says where, and what is loaded`() throws {
    let lines = (0..<9_000).map { #"{"id":"p\#($0)","feeds":[{"name":"f"}],"type":"text"}"# }
    let path = try program.folder.write(lines.joined(separator: "\n"), to: "posts.ndjson")
    let gzip = Process()
    gzip.executableURL = URL(fileURLWithPath: "/bin/gzip")
    gzip.arguments = [path]
    try gzip.run()
    gzip.waitUntilExit()
    let whole = try program.run("seed", path + ".gz")
    #expect(whole.status == 0 && whole.output.hasPrefix("9000 added"), "\(whole.errors)")
    let bytes = try Data(contentsOf: URL(fileURLWithPath: path + ".gz"))
    #expect(bytes.count > 16_384)
    try bytes.dropLast(5).write(to: URL(fileURLWithPath: path + ".gz"))
    let cut = try program.run("seed", path + ".gz")
    #expect(cut.status == 1)
    #expect(cut.errors.contains("is incomplete (found at byte \(bytes.count - 5)"), "\(cut.errors)")
    #expect(cut.errors.contains("batches before it are loaded"))
  }

  @Test(arguments: [
    ["--map", "title"], ["--map", "a=poem"], ["--format", "word"], ["--feed", ""],
    ["--feed", "a\u{1}b"],
  ])
  func `an option that says nothing is refused`(_ options: [String]) throws {
    let outcome = try program.run(["seed"] + options)
    #expect(outcome.status == 64, "\(outcome.errors)")
    #expect(outcome.errors.contains(options[0]), "\(outcome.errors)")
  }

  @Test func `of like problems twenty are shown and the rest counted`() throws {
    var lines = (0..<50).map { #"{"id":"p\#($0)","type":"poem"}"# }
    lines += (0..<3).map { #"{"id":"q\#($0)"}"# }
    let outcome = try program.run("seed", "-", input: lines.joined(separator: "\n"))
    #expect(outcome.status == 1)
    #expect(outcome.errorLines.count == 20 + 3 + 2, "\(outcome.errors)")
    #expect(outcome.errorLines.suffix(2).first?.hasPrefix("and 30 more: post \"…\": type:") == true)
    #expect(outcome.errorLines.last == "53 lines skipped")
  }

  @Test func `a server of an empty database says how to fill it, and one of posts does not`() throws
  {
    func said() throws -> String {
      let process = program.process(["serve", "--port", "0", "--log-level", "error"])
      let errors = try program.folder.write("", to: "errors")
      process.standardError = FileHandle(forWritingAtPath: errors)
      let output = Pipe()
      process.standardOutput = output
      try process.run()
      _ = output.fileHandleForReading.availableData
      process.terminate()
      process.waitUntilExit()
      return try String(contentsOfFile: errors, encoding: .utf8)
    }
    #expect(try said().contains("the database has no feed yet: `lookahead seed"))
    #expect(try program.run("seed", "--feed", "f", "\(Self.samples)/news.rss").status == 0)
    #expect(try said() == "")
  }
}
