import Foundation
import TestSupport
import Testing

import PrefetchClient

/// What a folder holds after its process, or its machine, has ended anywhere.
struct KeptFilesTests {
  private let file = KeptFile(
    url: "http://server.test/clip.mp4",
    version: FileVersion(validator: .entityTag("\"v0\""), bytes: 10_000), mimeType: "video/mp4")
  private let content = Array(WildServer.kept(0)[..<10_000])

  private func opened(_ folder: String) throws(RangeStoreError) -> KeptFiles {
    try KeptFiles(folder: folder, limits: RangeStoreLimits())
  }

  /// Keeps random pieces, lets go of some, and says what is held at the end.
  private func fill(_ folder: String, _ random: inout TestRandom) throws -> ByteRangeSet {
    var kept = try opened(folder)
    try kept.begin(file)
    for _ in 0..<20 {
      let start = random.number(0...9_000)
      let range = start..<start + random.number(1...900)
      if random.chance(20) {
        kept.discard(range, of: file.url)
        if kept[file.url] == nil { try kept.begin(file) }
      } else {
        _ = try kept.keep(Array(content[range]), at: start, of: file.url)
      }
    }
    return kept[file.url]?.held ?? ByteRangeSet()
  }

  /// All that is said to be held is read, and is right.
  private func check(_ folder: String) throws -> Int {
    var kept = try opened(folder)
    var count = 0
    for range in kept[file.url]?.held.ranges ?? [] {
      // A piece that is broken is let go of, and the rest is read again.
      for start in stride(from: range.lowerBound, to: range.upperBound, by: 100) {
        let piece = start..<min(start + 100, range.upperBound)
        guard let bytes = kept.read(piece, of: file.url) else { continue }
        #expect(bytes == Array(content[piece]), "\(piece)")
        count += bytes.count
      }
    }
    return count
  }

  private func name(_ kind: String, in folder: String) throws -> String {
    let names = try FileManager.default.contentsOfDirectory(atPath: folder)
    return folder + "/" + (try #require(names.first { $0.hasSuffix(kind) }))
  }

  private func copy(_ folder: TemporaryFolder) throws -> TemporaryFolder {
    let copy = TemporaryFolder()
    for name in try FileManager.default.contentsOfDirectory(atPath: folder.path) {
      try FileManager.default.copyItem(atPath: folder.file(name), toPath: copy.file(name))
    }
    return copy
  }

  @Test(arguments: TestRandom.seeds)
  func `a start finds what was kept`(seed: UInt64) throws {
    var random = TestRandom(seed)
    let folder = TemporaryFolder()
    let held = try fill(folder.path, &random)
    // Of a piece of which a part was let go of, the rest is lost at a start: never more.
    let found = try opened(folder.path)[file.url]?.held ?? ByteRangeSet()
    #expect(found.ranges.allSatisfy(held.contains), TestRandom.replay)
    #expect(try check(folder.path) == found.count, TestRandom.replay)
    #expect(found.count > 0)
  }

  @Test(arguments: TestRandom.seeds)
  func `an index that ends anywhere loses ranges and gives no wrong byte`(seed: UInt64) throws {
    var random = TestRandom(seed)
    let folder = TemporaryFolder()
    _ = try fill(folder.path, &random)
    let size = try FileHandle(forReadingAtPath: name(".index", in: folder.path))!.seekToEnd()
    for length in 0...size {
      let torn = try copy(folder)
      let handle = try #require(FileHandle(forUpdatingAtPath: name(".index", in: torn.path)))
      try handle.truncate(atOffset: length)
      try handle.close()
      _ = try check(torn.path)
      // It is written on, too.
      var kept = try opened(torn.path)
      try kept.begin(file)
      _ = try kept.keep(content, at: 0, of: file.url)
      #expect(kept.read(0..<10_000, of: file.url) == content)
    }
  }

  @Test(arguments: TestRandom.seeds)
  func `bytes that never reached the disk, or changed there, are not read`(seed: UInt64) throws {
    var random = TestRandom(seed)
    let folder = TemporaryFolder()
    _ = try fill(folder.path, &random)
    for _ in 0..<100 {
      let torn = try copy(folder)
      let path = try name(random.chance(50) ? ".bytes" : ".index", in: torn.path)
      var bytes = [UInt8](try Data(contentsOf: URL(fileURLWithPath: path)))
      let start = random.number(0...bytes.count - 1)
      for index in start..<min(start + random.number(1...600), bytes.count) {
        bytes[index] = random.chance(50) ? 0 : UInt8(random.number(0...255))
      }
      if random.chance(20) { bytes.removeLast(random.number(0...bytes.count)) }
      try Data(bytes).write(to: URL(fileURLWithPath: path))
      _ = try check(torn.path)
    }
  }

  @Test func `a folder has one store at a time`() throws {
    let folder = TemporaryFolder()
    var first: KeptFiles? = try opened(folder.path)
    #expect(first?.count == 0)
    #expect(throws: RangeStoreError.folderInUse(folder.path)) { try opened(folder.path) }
    first = nil
    _ = try opened(folder.path)
  }

  @Test func `limits that are lower than at the last start are kept to`() throws {
    let folder = TemporaryFolder()
    do {
      var kept = try opened(folder.path)
      for number in 0..<5 {
        let file = KeptFile(url: "\(number)", version: file.version, mimeType: nil)
        try kept.begin(file)
        _ = try kept.keep(content, at: 0, of: file.url)
      }
    }
    var limits = RangeStoreLimits()
    limits.bytes = 25_000
    let kept = try KeptFiles(folder: folder.path, limits: limits)
    #expect(kept.count == 2 && kept.bytes == 20_000)
  }
}
