import Testing

@testable import MediaFormats

/// Interlaced PNGs, by zlib streams that are made by hand: their passes end where the bytes say.
struct InterlacedTests {
  private static func chunk(_ name: String, _ content: [UInt8]) -> [UInt8] {
    MediaBytes.number(content.count) + MediaBytes.text(name) + content + [0, 0, 0, 0]
  }

  /// 8 by 8 grey pixels: passes of 2, 2, 3, 6, 10, 20 and 36 bytes, with a byte in front of each row.
  static func png(_ data: [[UInt8]], width: Int = 8, height: Int = 8) -> [UInt8] {
    MediaBytes.hex("89504e470d0a1a0a")
      + chunk("IHDR", MediaBytes.number(width) + MediaBytes.number(height) + [8, 0, 0, 0, 1])
      + data.flatMap { chunk("IDAT", $0) } + chunk("IEND", [])
  }

  private static func scanEnds(_ file: [UInt8]) throws -> [Int64] {
    try MediaStructure(reading: BytesInMemory(file)).start.scanEnds
  }

  /// A block that is not compressed.
  static func stored(_ count: Int) -> [UInt8] {
    [1] + MediaBytes.number(count).suffix(2).reversed()
      + MediaBytes.number(~count).suffix(2).reversed() + [UInt8](repeating: 5, count: count)
  }

  @Test func `each pass ends with the last byte of its last row`() throws {
    let sums = [2, 4, 7, 13, 23, 43, 79]
    let file = Self.png([[0x78, 1] + Self.stored(79) + [0, 0, 0, 0]])
    // 8 bytes, IHDR of 25, 8 of the chunk, 2 of zlib, 5 of the block.
    #expect(try Self.scanEnds(file) == sums.map { Int64(48 + $0) })
  }

  @Test func `the data may be in any number of chunks, some of them empty`() throws {
    let stream = [0x78, 1] + Self.stored(79) + [0, 0, 0, 0]
    let file = Self.png([Array(stream[..<10]), [], Array(stream[10..<11]), Array(stream[11...])])
    let ends = try Self.scanEnds(file)
    // The first chunk has three bytes of data, the third is one byte alone.
    #expect(ends[0] == 50)
    #expect(ends[1] == 76)
  }

  @Test func `passes without a pixel are none`() throws {
    let file = Self.png([[0x78, 1] + Self.stored(4) + [0, 0, 0, 0]], width: 1, height: 2)
    // The first pass has the first row, the last one the second.
    #expect(try Self.scanEnds(file) == [50, 52])
  }

  @Test func `a stream of fixed codes with a long repetition is counted, not unpacked`() throws {
    // A literal, then matches of 258 bytes at distance 1: 1000 by 1000 pixels from few bytes.
    var bits = Bits()
    bits.append(0b1, 1)
    bits.append(0b01, 2)
    bits.code(0x30, 8)
    for _ in 0..<3900 {
      bits.code(0b1100_0101, 8)
      bits.code(0, 5)
    }
    bits.code(0, 7)
    let file = Self.png([[0x78, 1] + bits.bytes + [0, 0, 0, 0]], width: 1000, height: 1000)
    let ends = try Self.scanEnds(file)
    #expect(ends.count == 7)
    #expect(ends == ends.sorted())
    // 125 rows of 126 bytes are 62 matches of 13 bits each, and a few bits.
    #expect(ends[0] == 8 + 25 + 8 + 2 + (11 + 62 * 13 + 7) / 8)
  }

  @Test(
    arguments: [[], [0x78], [0x78, 1], [0x78, 1, 7], [0x78, 1, 5, 0xff, 0xff, 0xff]] as [[UInt8]])
  func `a stream that ends early or breaks the rules has fewer passes`(_ stream: [UInt8]) throws {
    #expect(try Self.scanEnds(Self.png([stream])) == [])
  }

  /// Bits as deflate has them.
  private struct Bits {
    var bytes: [UInt8] = []
    private var count = 0

    /// The lowest bit first.
    mutating func append(_ value: Int, _ width: Int) {
      for bit in 0..<width {
        if count % 8 == 0 { bytes.append(0) }
        bytes[bytes.count - 1] |= UInt8(value >> bit & 1) << UInt8(count % 8)
        count += 1
      }
    }

    /// A code has its highest bit first.
    mutating func code(_ value: Int, _ width: Int) {
      for bit in (0..<width).reversed() { append(value >> bit & 1, 1) }
    }
  }
}
