import Foundation
import SQLiteStore
import TestSupport
import Testing

/// `lookahead media renditions`, as a user runs it.
@Suite struct MediaRenditionsCommandTests {
  private let program = Program()

  private var root: String { program.folder.file("media") }

  private func copy(_ fixture: String, to name: String, behind: [UInt8] = []) throws {
    try FileManager.default.createDirectory(atPath: root, withIntermediateDirectories: true)
    let url = URL(fileURLWithPath: SharedFeeds.fixtures + "/media/" + fixture)
    try (Data(contentsOf: url) + Data(behind)).write(to: URL(fileURLWithPath: "\(root)/\(name)"))
  }

  private func made() -> [String] {
    ((try? FileManager.default.contentsOfDirectory(atPath: root + "/_renditions")) ?? []).sorted()
  }

  @Test func `a run says what it did, and the next one finds it done`() throws {
    try copy("lighthouse-steps/5.jpg", to: "a b.jpg")
    try copy("first-ferry/thumbnail.webp", to: "small.webp")
    let dry = try program.run("media", "renditions", "--dry-run", root)
    #expect(dry.status == 0 && dry.output.hasSuffix("renditions: 1 would be made\n"))
    #expect(dry.errorLines == ["\(root)/a b.jpg: would be made 320 × 400, image/webp"])
    #expect(made().isEmpty)
    let first = try program.run("media", "renditions", root)
    // One that takes long says how far it is.
    let problems = first.errorLines.filter { !$0.contains(" renditions made, ") }
    #expect(first.status == 0 && problems.isEmpty, "\(first.errors)")
    #expect(first.output.hasPrefix("2 probed") && first.output.hasSuffix("renditions: 1 made\n"))
    #expect(made().count == 1)
    let second = try program.run("media", "renditions", root)
    #expect(second.status == 0 && second.output.hasPrefix("0 probed"))
    #expect(second.output.hasSuffix("renditions: 0 made, 1 already there\n"), "\(second.output)")
    let store = try SQLiteStore(path: program.database)
    #expect(try store.media(at: ["/media/a%20b.jpg"])[0]?.truth.variants.count == 1)
    try store.close()
    #expect(try program.run("check").status == 0)
  }

  @Test func `without ffmpeg nothing is done, and it says why`() throws {
    try copy("lighthouse-steps/5.jpg", to: "a.jpg")
    let outcome = try program.run(
      "media", "renditions", root, environment: ["PATH": program.folder.path])
    #expect(outcome.status == 1 && made().isEmpty)
    #expect(
      outcome.errors.contains("ffmpeg is not installed, but renditions require it"),
      "\(outcome.errors)")
  }

  @Test func `a run that was killed goes on where it was`() throws {
    let count = TestRandom.often(4, nightly: 12)
    for index in 0..<count {
      try copy("lighthouse-steps/5.jpg", to: "\(index).jpg", behind: [UInt8(index)])
    }
    let process = program.process(["media", "renditions", "--jobs", "1", root])
    process.standardOutput = FileHandle.nullDevice
    try process.run()
    eventually {
      !process.isRunning || made().count(where: { $0.hasSuffix(".webp") }) >= 2
    }
    kill(process.processIdentifier, SIGKILL)
    process.waitUntilExit()
    let kept = made().filter { $0.hasSuffix(".webp") }
    #expect(kept.count >= 2)
    let bytes = try kept.map {
      try Data(contentsOf: URL(fileURLWithPath: "\(root)/_renditions/\($0)"))
    }
    let outcome = try program.run("media", "renditions", root)
    #expect(outcome.status == 0, "\(outcome.errors)")
    #expect(
      outcome.output.hasSuffix(
        "renditions: \(count - kept.count) made, \(kept.count) already there\n"),
      "\(outcome.output)")
    #expect(made().count == count && made().allSatisfy { $0.hasSuffix(".webp") })
    for (name, bytes) in zip(kept, bytes) {
      #expect(try Data(contentsOf: URL(fileURLWithPath: "\(root)/_renditions/\(name)")) == bytes)
    }
  }
}
