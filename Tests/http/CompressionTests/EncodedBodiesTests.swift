import Compression
import HTTP
import Testing

struct EncodedBodiesTests {
  static let body = [UInt8](repeating: 0x61, count: 10_000)
  static let hash: (high: UInt64, low: UInt64) = (1, 2)

  @Test(arguments: [ContentCoding.gzip, .brotli])
  func `a body is found by its hash and coding once it was made`(_ coding: ContentCoding) throws {
    let bodies = EncodedBodies(maximumBytes: 1 << 20)
    #expect(bodies.find(hash: Self.hash, coding: coding) == nil)
    let made = try bodies.make(Self.body, hash: Self.hash, coding: coding)
    #expect(try decode(made, coding, capacity: Self.body.count) == Self.body)
    #expect(bodies.find(hash: Self.hash, coding: coding) == made)
    let figures = bodies.figures
    #expect((figures.hits, figures.misses, figures.entries) == (1, 1, 1))
    #expect(figures.bytes > made.count)
  }

  @Test func `another half of the hash or another coding is another body`() throws {
    let bodies = EncodedBodies(maximumBytes: 1 << 20)
    _ = try bodies.make(Self.body, hash: Self.hash, coding: .gzip)
    #expect(bodies.find(hash: (1, 3), coding: .gzip) == nil)
    #expect(bodies.find(hash: (3, 2), coding: .gzip) == nil)
    #expect(bodies.find(hash: (2, 1), coding: .gzip) == nil)
    #expect(bodies.find(hash: Self.hash, coding: .brotli) == nil)
  }

  @Test func `copies share what they keep`() throws {
    let bodies = EncodedBodies(maximumBytes: 1 << 20)
    let copy = bodies
    let made = try bodies.make(Self.body, hash: Self.hash, coding: .brotli)
    #expect(copy.find(hash: Self.hash, coding: .brotli) == made)
  }

  @Test func `identity is handed back and not kept`() throws {
    let bodies = EncodedBodies(maximumBytes: 1 << 20)
    #expect(try bodies.make(Self.body, hash: Self.hash, coding: .identity) == Self.body)
    #expect(bodies.find(hash: Self.hash, coding: .identity) == nil)
    #expect(bodies.figures == CacheFigures())
  }

  @Test func `a body too large to keep is made all the same`() throws {
    let bodies = EncodedBodies(maximumBytes: 100)
    let made = try bodies.make(Self.body, hash: Self.hash, coding: .gzip)
    #expect(try decode(made, .gzip, capacity: Self.body.count) == Self.body)
    #expect(bodies.figures.entries == 0)
  }

  @Test func `a body that cannot be compressed leaves nothing behind`() {
    let bodies = EncodedBodies(
      maximumBytes: 1 << 20, compressor: Compressor(maximumBytes: 9_999))
    #expect(throws: CompressionError.tooLarge(bytes: 10_000, maximumBytes: 9_999)) {
      try bodies.make(Self.body, hash: Self.hash, coding: .gzip)
    }
    #expect(bodies.figures == CacheFigures())
  }
}
