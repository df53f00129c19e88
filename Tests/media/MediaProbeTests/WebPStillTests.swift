import MediaFormats
import TestSupport
import Testing

@testable import MediaProbe

/// The first frame of an animation is an image of its own.
struct WebPStillTests {
  @Test func `the first frame of a real animation is a WebP file of its size`() throws {
    let source = BytesInMemory(try MadeMedia.bytes(MadeMedia.animatedWebP))
    let still = try #require(try WebPStill(firstFrameOf: source))
    #expect(still.width == 160 && still.height == 120 && still.x == 0 && still.y == 0)
    let structure = try MediaStructure(reading: BytesInMemory(still.bytes))
    #expect(structure.kind == .image && structure.displaySize == PixelSize(width: 160, height: 120))
    #expect(structure.flaws == [])
  }

  @Test(arguments: TestRandom.seeds)
  func `damaged animations have a frame or none`(seed: UInt64) throws {
    var random = TestRandom(seed)
    let bytes = try MadeMedia.bytes(MadeMedia.animatedWebP)
    for _ in 0..<500 {
      var damaged = Array(bytes.prefix(random.number(0...bytes.count)))
      for _ in 0..<random.number(0...4) where !damaged.isEmpty {
        damaged[random.number(0...min(90, damaged.count - 1))] = UInt8(random.number(0...255))
      }
      _ = try WebPStill(firstFrameOf: BytesInMemory(damaged))
    }
  }
}
