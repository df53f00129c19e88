import Feed
import TestSupport
import Testing

@testable import RowStore
@testable import SQLiteStore

/// What is known of media files, as rows have it.
struct PackedTruthTests {
  private static func truth(_ bytes: [UInt8]) throws(PackedError) -> MediaTruth {
    // Typed throws do not pass through `withUnsafeBufferPointer`.
    try bytes.withUnsafeBufferPointer { bytes in
      Result { () throws(PackedError) in try PackedTruth.truth(in: bytes) }
    }.get()
  }

  private static func variants(_ bytes: [UInt8]) throws(PackedError) -> [MediaVariant] {
    try bytes.withUnsafeBufferPointer { bytes in
      Result { () throws(PackedError) in try PackedTruth.variants(in: bytes) }
    }.get()
  }

  @Test(arguments: TestRandom.seeds)
  func `each truth reads back as itself, in a third of the bytes of its JSON`(seed: UInt64) throws {
    var random = TestRandom(seed)
    var (packed, json) = (0, 0)
    for _ in 0..<1_000 {
      let truth = MediaTruth.random(&random)
      let bytes = PackedTruth.bytes(of: truth)
      try #require(try Self.truth(bytes) == truth, TestRandom.replay)
      packed += bytes.count
      json += truth.json.count
    }
    #expect(packed * 3 < json)
  }

  @Test(arguments: TestRandom.seeds)
  func `variants read back as themselves`(seed: UInt64) throws {
    var random = TestRandom(seed)
    for _ in 0..<100 {
      let variants = MediaVariant.random(&random)
      let bytes = PackedTruth.bytes(of: variants)
      try #require(try Self.variants(bytes) == variants, TestRandom.replay)
    }
  }

  @Test func `what is smallest and what is largest reads back`() throws {
    let least = MediaTruth(kind: .sound, bytes: 0, mimeType: "a")
    let limit = MediaTiming.rowLimit
    var most = MediaTruth(
      kind: .video, bytes: RecordLimits.fileBytes,
      mimeType: String(repeating: "é", count: RecordLimits.mediaTypeBytes / 2), codec: "x",
      soundCodec: "y", hasSound: true, width: RecordLimits.pixels, height: RecordLimits.pixels,
      frameCount: RecordLimits.number, durationMilliseconds: RecordLimits.number,
      placeholder: MediaPlaceholder(
        thumbHash: Array(repeating: 255, count: 25), color: .init(red: 255, green: 0, blue: 1)),
      start: MediaTiming(
        isStartable: false, headBytes: RecordLimits.fileBytes,
        neededRanges: (0..<limit).map { 2 * $0..<2 * $0 + 1 }, scanEnds: Array(1...limit),
        curve: (0..<limit).map { _ in
          .init(milliseconds: RecordLimits.number, bytes: RecordLimits.fileBytes)
        },
        lead: (0..<limit).map {
          .init(kilobitsPerSecond: RecordLimits.number - limit + 1 + $0, bytes: 0)
        }),
      version: .entityTag("\"" + String(repeating: "e", count: 1_000) + "\""))
    most.missingDecoder = .heifConvert
    for truth in [least, most] {
      #expect(truth.problem == nil)
      #expect(try Self.truth(PackedTruth.bytes(of: truth)) == truth)
    }
  }

  @Test(arguments: TestRandom.seeds)
  func `a truth reads back, or has a problem that says so before`(seed: UInt64) throws {
    var random = TestRandom(seed)
    for _ in 0..<1_000 {
      var truth = MediaTruth.random(&random)
      let number = random.one(of: [-1, 0, 1, 1 << 40, 1 << 54, Int.max, Int.min])
      switch random.number(0...7) {
      case 0: truth.bytes = number
      case 1: truth.width = number
      case 2: truth.mimeType = random.one(of: ["", String(repeating: "m", count: 4_097)])
      case 3: truth.start?.headBytes = number
      case 4: truth.start?.curve.append(.init(milliseconds: number, bytes: number))
      case 5: truth.start?.lead.insert(.init(kilobitsPerSecond: number, bytes: number), at: 0)
      case 6: truth.start?.scanEnds = [number, number]
      default: truth.start?.neededRanges.append(truth.bytes..<truth.bytes + 1)
      }
      let bytes = PackedTruth.bytes(of: truth)
      if truth.problem == nil {
        try #require(try Self.truth(bytes) == truth, TestRandom.replay)
      } else {
        #expect(throws: PackedError.self, TestRandom.replay) { try Self.truth(bytes) }
      }
    }
  }

  @Test(arguments: TestRandom.seeds)
  func `what is damaged is refused, and never read beyond its end`(seed: UInt64) throws {
    var random = TestRandom(seed)
    for _ in 0..<500 {
      let bytes = PackedTruth.bytes(of: MediaTruth.random(&random))
      var damaged = bytes
      damaged[random.number(0...bytes.count - 1)] ^= 1 << random.number(0...7)
      #expect(throws: PackedError.self, TestRandom.replay) { try Self.truth(damaged) }
      let cut = Array(bytes.prefix(random.number(0...bytes.count - 1)))
      #expect(throws: PackedError.self, TestRandom.replay) { try Self.truth(cut) }
      #expect(throws: PackedError.self, TestRandom.replay) { try Self.truth(bytes + [0]) }
      #expect(throws: PackedError.self, TestRandom.replay) { try Self.variants(bytes) }
    }
    #expect(throws: PackedError.unknownForm(nil)) { try Self.truth([]) }
    #expect(throws: PackedError.unknownForm(2)) { try Self.truth([2, 0, 0, 0, 0]) }
    #expect(throws: PackedError.wrongLength) { try Self.truth([1, 0, 0]) }
    #expect(throws: PackedError.damaged) { try Self.truth([1, 0, 0, 0, 0]) }
  }

  @Test(arguments: TestRandom.seeds)
  func `whatever has the right check sum is refused, or is what can be`(seed: UInt64) throws {
    var random = TestRandom(seed)
    var readable = 0
    for _ in 0..<5_000 {
      var content = Array(PackedTruth.bytes(of: MediaTruth.random(&random)).dropFirst(5))
      for _ in 0..<random.number(1...3) {
        content[random.number(0...content.count - 1)] = UInt8(random.number(0...255))
      }
      if random.once(in: 4) { content.removeLast(random.number(0...content.count)) }
      var writer = PackedWriter()
      writer.append(raw: content)
      guard let truth = try? Self.truth(writer.sealed(form: PackedTruth.form)) else { continue }
      readable += 1
      // Texts apart, of which the check sum alone says that they are whole.
      if let field = truth.problem?.field {
        #expect(["mimeType", "codec", "soundCodec", "version"].contains(field), TestRandom.replay)
      }
    }
    #expect(readable > 0)
  }
}
