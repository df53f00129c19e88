import Foundation
import HTTP
import TestSupport
import Testing

@testable import Compression

struct CompressorTests {
  static let codings = ContentCoding.allCases
  static let page = [UInt8](
    FileManager.default.contents(atPath: SharedFeeds.fixtures + "/featured.ndjson")!)

  static func noise(_ count: Int) -> [UInt8] {
    var random = TestRandom()
    return (0..<count).map { _ in UInt8(truncatingIfNeeded: random.next()) }
  }

  /// By name: the tests' library writes out every argument, which takes seconds for megabytes.
  static let bodies: [String: [UInt8]] = [
    "empty": [],
    "1 byte": [0x7b],
    "zeros": [UInt8](repeating: 0, count: 100_000),
    "a page": page,
    "noise": noise(70_000),
    "5 MB of text": (0..<200).flatMap { _ in page },
    "5 MB of noise": noise(5 << 20),
  ]

  @Test(arguments: bodies.keys.sorted(), codings)
  func `a body comes back from the library's own decoder`(
    _ name: String, _ coding: ContentCoding
  ) throws {
    let body = try #require(Self.bodies[name])
    let encoded = try Compressor().compress(body, as: coding)
    let isSame = try decode(encoded, coding, capacity: body.count) == body
    #expect(isSame, TestRandom.replay)
  }

  @Test(arguments: TestRandom.seeds) func `a body of any length comes back at any setting`(
    seed: UInt64
  ) throws {
    var random = TestRandom(seed)
    for _ in 0..<300 {
      let compressor = Compressor(
        gzipLevel: random.number(1...9), brotliQuality: random.number(0...11))
      let text = Array(random.text(0...3_000).utf8)
      for coding in Self.codings {
        let encoded = try compressor.compress(text, as: coding)
        let decoded = try decode(encoded, coding, capacity: text.count)
        try #require(decoded == text, TestRandom.replay)
      }
    }
  }

  @Test(arguments: [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11])
  func `noise comes back at each quality and grows by little`(_ quality: Int) throws {
    let noise = Self.noise(40_000)
    let compressor = Compressor(gzipLevel: max(1, min(quality, 9)), brotliQuality: quality)
    for coding in Self.codings {
      let encoded = try compressor.compress(noise, as: coding)
      #expect(encoded.count <= noise.count + 64)
      #expect(try decode(encoded, coding, capacity: noise.count) == noise, TestRandom.replay)
    }
  }

  @Test func `identity is the bytes themselves, however many`() throws {
    let compressor = Compressor(maximumBytes: 10)
    #expect(try compressor.compress(Self.page, as: .identity) == Self.page)
  }

  @Test(arguments: [ContentCoding.gzip, .brotli])
  func `a page gets three times shorter`(_ coding: ContentCoding) throws {
    let encoded = try Compressor().compress(Self.page, as: coding)
    #expect(encoded.count * 3 < Self.page.count)
  }

  @Test(arguments: [ContentCoding.gzip, .brotli])
  func `a result holds no more memory than its bytes`(_ coding: ContentCoding) throws {
    let encoded = try Compressor().compress(Self.page, as: coding)
    #expect(encoded.capacity < encoded.count + 64)
  }

  @Test(arguments: codings)
  func `the same bytes give the same result, on any thread`(_ coding: ContentCoding) throws {
    let expected = try Compressor().compress(Self.page, as: coding)
    let results = Results<[UInt8]?>()
    DispatchQueue.concurrentPerform(iterations: 16) { _ in
      results.add(try? Compressor().compress(Self.page, as: coding))
    }
    #expect(results.all == [[UInt8]?](repeating: expected, count: 16))
  }

  @Test(arguments: 1...9)
  func `a gzip header names neither time nor system`(_ level: Int) throws {
    let header = try Compressor(gzipLevel: level).compress(Self.page, as: .gzip).prefix(10)
    #expect(header.prefix(8) == [0x1f, 0x8b, 8, 0, 0, 0, 0, 0])
    #expect(header.last == 255)
  }

  static let windows = [
    (0, 10), (1_008, 10), (1_009, 11), (16_368, 14), (16_369, 15), (65_520, 16),
    (4_194_288, 22), (4_194_289, 22), (1 << 30, 22),
  ]

  @Test(arguments: windows)
  func `the brotli window is the smallest that reaches over the body`(_ count: Int, _ bits: Int) {
    #expect(Compressor.windowBits(fitting: count) == bits)
  }

  @Test(arguments: [ContentCoding.gzip, .brotli])
  func `one byte more than the limit is refused`(_ coding: ContentCoding) throws {
    let compressor = Compressor(maximumBytes: 1_000)
    let body = Self.page.prefix(1_000)
    #expect(throws: Never.self) { try compressor.compress(Array(body), as: coding) }
    let error = #expect(throws: CompressionError.self) {
      try compressor.compress(body + [0], as: coding)
    }
    #expect(error == .tooLarge(bytes: 1_001, maximumBytes: 1_000))
    #expect(
      error?.description == "1001 bytes exceed the 1000 bytes that can be compressed at once.")
  }
}
