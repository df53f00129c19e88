import Compression
import Foundation
import HTTP
import TestSupport
import Testing

@Suite struct GzipStreamTests {
  private func encode(_ bytes: [UInt8], piece: Int, level: Int = 5) throws -> [UInt8] {
    let encoder = try GzipEncoder(level: level)
    var result: [UInt8] = []
    for start in stride(from: 0, to: bytes.count, by: piece) {
      try encoder.encode(Array(bytes[start..<min(start + piece, bytes.count)])) { result += $0 }
    }
    try encoder.finish { result += $0 }
    return result
  }

  private func decode(_ bytes: [UInt8], piece: Int) throws -> [UInt8] {
    let decoder = try GzipDecoder()
    var result: [UInt8] = []
    for start in stride(from: 0, to: bytes.count, by: piece) {
      try decoder.decode(Array(bytes[start..<min(start + piece, bytes.count)])) { result += $0 }
    }
    try decoder.finish()
    return result
  }

  /// Nothing, a byte, what compresses and what does not, on both sides of the pieces' size.
  private static let texts: [[UInt8]] = {
    var random = TestRandom(5)
    return [
      [], [7], [UInt8](repeating: 0, count: 1_000_000),
      (0..<65_536).map { _ in UInt8.random(in: 0...255, using: &random) },
      (0..<200_001).map { _ in UInt8.random(in: 0...255, using: &random) },
      Array(String(repeating: "posts and feeds, ", count: 9_999).utf8),
    ]
  }()

  @Test(arguments: texts.indices)
  func `bytes come back, however they were cut`(_ index: Int) throws {
    let bytes = Self.texts[index]
    for piece in [1_009, 65_536, 1 << 20] {
      let encoded = try encode(bytes, piece: piece)
      #expect(try CompressionTests.decode(encoded, .gzip, capacity: bytes.count) == bytes)
      for other in [997, 65_536, 1 << 20] { #expect(try decode(encoded, piece: other) == bytes) }
    }
  }

  @Test func `a byte at a time is read, too, and several members are one text`() throws {
    let text = Array("one, two".utf8)
    let encoded = try encode(Array(text[..<4]), piece: 4) + encode(Array(text[4...]), piece: 4)
    for piece in [1, 2, 7, 100] { #expect(try decode(encoded, piece: piece) == text) }
  }

  @Test func `what is cut short or changed is no gzip`() throws {
    let encoded = try encode(Self.texts[5], piece: 65_536)
    for length in [0, 1, 10, encoded.count / 2, encoded.count - 1] {
      #expect(throws: GzipError.cutShort) { try decode(Array(encoded[..<length]), piece: 4_096) }
    }
    // The last eight bytes are a check sum and the length.
    for index in [0, 1, 2, encoded.count / 2, encoded.count - 8, encoded.count - 1] {
      var changed = encoded
      changed[index] ^= 0x55
      #expect(throws: GzipError.self, "\(index)") { try decode(changed, piece: 4_096) }
    }
    #expect(throws: GzipError.damaged) { try decode(Array("no gzip at all".utf8), piece: 4) }
  }
}
