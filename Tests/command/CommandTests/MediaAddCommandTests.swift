import Foundation
import SQLiteStore
import TestSupport
import Testing

/// `lookahead media add`, as a user runs it.
@Suite struct MediaAddCommandTests {
  private let program = Program()

  private var root: String { program.folder.file("media") }

  private func copy(_ fixture: String, to name: String, behind: [UInt8] = []) throws {
    try FileManager.default.createDirectory(atPath: root, withIntermediateDirectories: true)
    let url = URL(fileURLWithPath: SharedFeeds.fixtures + "/media/" + fixture)
    try (Data(contentsOf: url) + Data(behind)).write(to: URL(fileURLWithPath: "\(root)/\(name)"))
  }

  @Test func `a run says what it did, and what is wrong with which file`() throws {
    try copy("loom/0.mp4", to: "a.mp4")
    try copy("kite-day/0.gif", to: "we ird név 100%.gif")
    _ = try program.folder.write("", to: "media/empty.jpg")
    _ = try program.folder.write("Read me.", to: "media/README")
    let first = try program.run("media", "add", root)
    #expect(first.status == 1)
    #expect(
      first.output.hasPrefix(
        "2 probed, 0 recognized by content, 0 unchanged, 1 not media files, 1 failed in "),
      "\(first.output)")
    #expect(first.errorLines == ["\(root)/empty.jpg: the file is empty"])
    try FileManager.default.removeItem(atPath: root + "/empty.jpg")
    let second = try program.run("media", "add", root)
    #expect(second.status == 0 && second.errorLines.isEmpty)
    #expect(
      second.output.hasPrefix(
        "0 probed, 0 recognized by content, 2 unchanged, 1 not media files in "))
    let named = try program.run("media", "add", "--media-root", root, root + "/README")
    #expect(named.status == 1)
    #expect(named.errorLines == ["\(root)/README: not a known image, video or sound format"])
    #expect(try program.run("check").status == 0)
  }

  @Test func `without ffmpeg what can be known is, and the rest once it is there`() throws {
    try copy("loom/0.mp4", to: "a.mp4")
    let without = try program.run(
      "media", "add", root, environment: ["PATH": program.folder.path])
    #expect(without.status == 0 && without.output.hasPrefix("1 probed"))
    #expect(without.errors.hasPrefix("ffmpeg is not installed: 1 files were not decoded"))
    func truth() throws -> Bool? {
      let store = try SQLiteStore(path: program.database)
      defer { try? store.close() }
      return try store.media(at: ["/media/a.mp4"])[0].map { $0.truth.placeholder != nil }
    }
    #expect(try truth() == false)
    let again = try program.run(
      "media", "add", root, environment: ["PATH": program.folder.path])
    #expect(again.output.contains("1 unchanged"))
    #expect(try program.run("media", "add", root).output.hasPrefix("1 probed"))
    #expect(try truth() == true)
    #expect(try program.run("media", "add", root).output.contains("1 unchanged"))
    #expect(try program.run("media", "add", "--again", root).output.hasPrefix("1 probed"))
  }

  @Test func `a run that was killed goes on where it was`() throws {
    let count = TestRandom.often(20, nightly: 100)
    for index in 0..<count {
      try copy(
        "first-ferry/thumbnail.webp", to: "\(index).webp",
        behind: [UInt8(index & 255), UInt8(index >> 8)])
    }
    let process = program.process(["media", "add", "--jobs", "1", root])
    process.standardOutput = FileHandle.nullDevice
    _ = try program.run("migrate", "up")
    let store = try SQLiteStore(path: program.database)
    func known() throws -> Int { try store.media(after: nil, limit: 1_000).count }
    try process.run()
    try eventually { try !process.isRunning || known() > 0 }
    kill(process.processIdentifier, SIGKILL)
    process.waitUntilExit()
    let kept = try known()
    #expect(kept > 0)
    let outcome = try program.run("media", "add", root)
    #expect(outcome.status == 0, "\(outcome.errors)")
    #expect(
      outcome.output.hasPrefix(
        "\(count - kept) probed, 0 recognized by content, \(kept) unchanged in "),
      "\(kept): \(outcome.output)")
    #expect(try known() == count)
    try store.close()
  }

  @Test func `a server that runs shows it, and records stay as they are`() throws {
    try copy("loom/0.mp4", to: "we ird név 100%.mp4")
    let record =
      #"{"id":"p","feeds":[{"name":"f"}],"type":"video","media":"#
      + #"[{"kind":"video","url":"/media/we%20ird%20n%C3%A9v%20100%25.mp4"}]}"#
    #expect(try program.run("seed", "-", input: record).status == 0)
    let export = try program.run("export").output
    let server = try ServingProgram(
      program, ["--media-root", root, "--refresh-interval-milliseconds", "10"])
    let client = try TestClient(port: server.port)
    func page() throws -> TestAnswer { try client.get("/rp/?feed=f") }
    func media(_ page: TestAnswer) -> [String: Any]? {
      let items = page.json["items"] as? [[String: Any]]
      return (items?.first?["media"] as? [[String: Any]])?.first
    }
    #expect(media(try page())?["placeholder"] == nil)
    #expect(try program.run("media", "add", root).status == 0)
    var shown = media(try page())
    try eventually {
      shown = media(try page())
      return shown?["placeholder"] != nil
    }
    let start = try #require(shown?["start"] as? [String: Any])
    #expect(start["headBytes"] as? Int ?? 0 > 0)
    let url = try #require(shown?["url"] as? String)
    #expect(try client.get(url).body.count == shown?["bytes"] as? Int)
    #expect(try program.run("export").output == export)
    // The file goes, and with it what is known of it.
    try FileManager.default.removeItem(atPath: root + "/we ird név 100%.mp4")
    #expect(try program.run("media", "add", root).output.contains("2 forgotten"))
    #expect(try eventually { media(try page())?["placeholder"] == nil })
    #expect(server.terminate() == 0)
  }

  @Test func `a seed looks into the files that posts name, however they name them`() throws {
    try copy("loom/0.mp4", to: "a b.mp4")
    try copy("kite-day/0.gif", to: "nobody's.gif")
    let urls = ["/media/a%20b.mp4?v=2", "/media/missing.mp4", "https://cdn.example/a.mp4", "/x"]
    let records = urls.enumerated().map { index, url in
      #"{"id":"\#(index)","type":"video","feeds":[{"name":"f"}],"#
        + #""media":[{"kind":"video","url":"\#(url)"}]}"#
    }.joined(separator: "\n")
    let seeded = try program.run("seed", "--probe", "--media-root", root, "-", input: records)
    #expect(seeded.status == 1 && seeded.output.hasPrefix("4 added"))
    #expect(
      seeded.output.contains("\n1 probed, 0 recognized by content, 0 unchanged, 1 failed in "),
      "\(seeded.output)")
    #expect(seeded.errorLines == ["\(root)/missing.mp4: no such file"])
    let store = try SQLiteStore(path: program.database)
    let known = try store.media(after: nil, limit: 10).map(\.url)
    #expect(
      known == ["/media/a b.mp4", "/media/a%20b.mp4", "/media/a%20b.mp4?v=2", "/media/missing.mp4"])
    try store.close()
    try copy("loom/0.mp4", to: "missing.mp4")
    let again = try program.run(
      "seed", "--probe", "-", input: records, environment: ["LOOKAHEAD_MEDIA_ROOT": root])
    #expect(again.status == 0, "\(again.errors)")
    #expect(
      again.output.contains("\n0 probed, 1 recognized by content, 1 unchanged in "),
      "\(again.output)")
    let without = try program.run("seed", "--probe", "-", input: records)
    #expect(without.status == 64 && without.errors.contains("--probe needs --media-root"))
  }

  @Test func `what cannot be meant is refused`() throws {
    try copy("loom/0.mp4", to: "a.mp4")
    for (arguments, says) in [
      (["media", "add"], "Missing expected argument"),
      (["media", "add", root, root], "--media-root is required"),
      (["media", "add", "--jobs", "0", root], "--jobs: 0 is less than 1"),
      (
        ["media", "add", "--base-url", "cdn.example/", root],
        "--base-url: cdn.example/ is not a URL"
      ),
    ] {
      let outcome = try program.run(arguments)
      #expect(outcome.status == 64 && outcome.errors.contains(says), "\(outcome.errors)")
    }
    for (arguments, says) in [
      ([root + "/a.mp4"], "name the folder of /media/ with --media-root"),
      (["--media-root", root, program.folder.path], "is not in the media root"),
      ([root + "/b.mp4"], "No such file or directory"),
      (["--media-root", root, "nothing"], "No such file or directory"),
    ] {
      let outcome = try program.run(["media", "add"] + arguments)
      #expect(outcome.status == 1 && outcome.errors.contains(says), "\(outcome.errors)")
      #expect(!FileManager.default.fileExists(atPath: program.database))
    }
  }
}
