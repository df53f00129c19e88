import Foundation
import Glibc
import TestSupport
import Testing

@testable import MediaFiles

/// A walk finds what is served, in order, whatever is in memory at once.
@Suite struct MediaWalkTests {
  private let folder = TemporaryFolder()

  private func make(_ path: String) throws {
    let parent = (folder.file(path) as NSString).deletingLastPathComponent
    try FileManager.default.createDirectory(atPath: parent, withIntermediateDirectories: true)
    try folder.write("x", to: path)
  }

  private struct Found: Equatable {
    var files: [String] = []
    var notServed: [String] = []
    var passedOver: [String] = []
    var problems: [String] = []
  }

  private func walk(
    below segments: [String] = [], passingOver name: String? = nil, namesAtOnce: Int = 8
  ) throws -> Found {
    let root = try MediaRoot(path: folder.path)
    var walk = try MediaWalk(
      root, below: segments, passingOver: name, namesAtOnce: namesAtOnce)
    var found = Found()
    while let step = walk.next() {
      switch step {
      case .file(let segments): found.files.append(segments.joined(separator: "/"))
      case .notServed(let segments): found.notServed.append(segments.joined(separator: "/"))
      case .passedOver(let segments): found.passedOver.append(segments.joined(separator: "/"))
      case .problem(let path, let problem): found.problems.append("\(path): \(problem)")
      }
    }
    return found
  }

  @Test(arguments: TestRandom.seeds)
  func `each file is found once, by the bytes of its names, however few are read at a time`(
    _ seed: UInt64
  ) throws {
    var random = TestRandom(seed)
    let names = ["a", "B", "ab", "a b", "ä", "a\u{308}", "0", "10", "9", "ž", "%", "~"]
    var paths: Set<String> = []
    for _ in 0..<200 {
      let folders = (0..<random.number(0...4)).map { _ in "d" + random.one(of: names) }
      paths.insert((folders + [random.one(of: names)]).joined(separator: "/"))
    }
    for path in paths { try make(path) }
    let expected = paths.map { $0.split(separator: "/").map { Array($0.utf8) } }
      .sorted { $0.lexicographicallyPrecedes($1) { $0.lexicographicallyPrecedes($1) } }
      .map { $0.map { String(decoding: $0, as: UTF8.self) }.joined(separator: "/") }
    for namesAtOnce in [1, 2, 3, 1_000] {
      let found = try walk(namesAtOnce: namesAtOnce)
      #expect(found == Found(files: expected), TestRandom.replay)
    }
  }

  @Test func `links, pipes and what is hidden are not served, and a folder bounds the walk`() throws
  {
    for path in ["in/a", "in/.hidden", "in/.git/b", "in/sub/c", "inside", "z"] { try make(path) }
    symlink("a", folder.file("in/link"))
    symlink(".", folder.file("in/loop"))
    mkfifo(folder.file("in/pipe"), 0o600)
    #expect(
      try walk()
        == Found(
          files: ["in/a", "in/sub/c", "inside", "z"], notServed: ["in/link", "in/loop", "in/pipe"]))
    #expect(try walk(below: ["in", "sub"]) == Found(files: ["in/sub/c"]))
    #expect(throws: MediaError.notFound(.noSuchFile)) { try walk(below: ["in", "loop"]) }
    #expect(throws: MediaError.notFound(.noSuchFile)) { try walk(below: ["nowhere"]) }
  }

  @Test func `folders of a name are passed over, and files of it are not`() throws {
    for path in ["in/_r/a", "in/_r/_r/b", "in/c", "sub/_r", "_r/d"] { try make(path) }
    #expect(
      try walk(passingOver: "_r")
        == Found(files: ["in/c", "sub/_r"], passedOver: ["_r", "in/_r"]))
    // Who names it means it.
    #expect(
      try walk(below: ["in", "_r"], passingOver: "_r")
        == Found(files: ["in/_r/a"], passedOver: ["in/_r/_r"]))
  }

  @Test func `names that no URL can have, and folders that are too deep, are problems`() throws {
    try make("good")
    let path = Array(folder.file("bad").utf8CString.dropLast()) + [CChar(bitPattern: 0xff), 0]
    close(creat(path, 0o600))
    let deepest = (0..<MediaRoot.depthLimit).map { "d\($0)" }
    try make((deepest + ["too", "far"]).joined(separator: "/"))
    let found = try walk()
    #expect(found.files == ["good"])
    #expect(
      found.problems == [
        "bad\u{fffd}: its name is not UTF-8, so it has no URL",
        (deepest + ["too"]).joined(separator: "/") + ": the path has 33 segments, more than 32",
      ])
  }
}
