import Foundation
import TestSupport
import Testing
import ThumbHash

/// Hashes are those of the reference, to the byte.
struct ThumbHashTests {
  @Test func `each picture has the hash that the reference gives it`() throws {
    let lines = referenceHashes.split(separator: "\n").map { $0.split(separator: " ") }
    #expect(lines.count == 143)
    for line in lines {
      let (name, width, height) = (String(line[0]), Int(line[1])!, Int(line[2])!)
      let image = try #require(
        PixelImage(width: width, height: height, rgba: DrawnPicture.rgba(name, width, height)))
      let hash = Data(image.thumbHash).base64EncodedString()
      #expect(hash == line[3], "\(name) of \(width) × \(height)")
    }
  }

  @Test(arguments: TestRandom.seeds)
  func `a hash has as many bytes as its shape asks for, whatever the picture`(seed: UInt64) {
    var random = TestRandom(seed)
    for _ in 0..<100 {
      let (width, height) = (random.number(1...40), random.number(1...40))
      let isOpaque = random.once(in: 2)
      let rgba = (0..<width * height * 4).map { index in
        isOpaque && index % 4 == 3 ? 255 : UInt8(random.number(0...255))
      }
      let hash = PixelImage(width: width, height: height, rgba: rgba)?.thumbHash ?? []
      #expect((5...25).contains(hash.count), TestRandom.replay)
      #expect(hash[2] & 0x80 == (isOpaque ? 0 : 0x80), TestRandom.replay)
      #expect(hash[4] & 0x80 == (width > height ? 0x80 : 0), TestRandom.replay)
    }
  }

  @Test(arguments: [
    (0, 1, 0), (1, 0, 0), (101, 1, 404), (1, 101, 404), (2, 2, 15), (2, 2, 17), (-1, -1, 4),
  ])
  func `what is no small picture is none`(width: Int, height: Int, count: Int) {
    let rgba = [UInt8](repeating: 0, count: count)
    #expect(PixelImage(width: width, height: height, rgba: rgba) == nil)
  }

  /// The letters of a picture of single letters: red is the letter, all else is 255.
  private static func letters(_ image: PixelImage) -> [String] {
    stride(from: 0, to: image.rgba.count, by: image.width * 4).map { row in
      String(
        decoding: stride(from: row, to: row + image.width * 4, by: 4).map { image.rgba[$0] },
        as: UTF8.self)
    }
  }

  @Test(arguments: [
    (false, 0, ["abc", "def"]), (true, 0, ["cba", "fed"]), (false, 2, ["fed", "cba"]),
    (true, 2, ["def", "abc"]), (true, 3, ["ad", "be", "cf"]), (false, 1, ["da", "eb", "fc"]),
    (true, 1, ["fc", "eb", "da"]), (false, 3, ["cf", "be", "ad"]), (false, 4, ["abc", "def"]),
  ])
  func `a picture is mirrored and then turned clockwise`(
    isMirrored: Bool, turns: Int, expected: [String]
  ) throws {
    let rgba = "abcdef".utf8.flatMap { letter -> [UInt8] in [letter, 255, 255, 255] }
    let image = try #require(PixelImage(width: 3, height: 2, rgba: rgba))
    #expect(
      Self.letters(image.turned(isMirrored: isMirrored, clockwiseQuarterTurns: turns)) == expected)
  }

  @Test func `the average counts a pixel as much as it covers`() throws {
    let image = try #require(
      PixelImage(width: 3, height: 1, rgba: [200, 0, 10, 255, 99, 99, 99, 0, 100, 0, 40, 85]))
    let color = try #require(image.averageColor)
    #expect([color.red, color.green, color.blue] == [175, 0, 18])
    let clear = try #require(PixelImage(width: 1, height: 1, rgba: [1, 2, 3, 0]))
    #expect(clear.averageColor == nil)
  }
}
