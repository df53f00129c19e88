import MediaFormats

/// The first frame of an animated WebP image as an image of its own, which FFmpeg reads: it reads no animation.
///
/// WebP Container Specification, "Animation": a chunk `ANMF` holds where the frame stands on the canvas and
/// the chunks of an image without its header.
struct WebPStill {
  /// A WebP file.
  let bytes: [UInt8]
  /// Where the frame's upper left corner is on the canvas.
  let (x, y): (Int, Int)
  let (width, height): (Int, Int)

  /// How many chunks stand before the first frame at the most, and how large a frame may be.
  private static let chunkLimit = 64
  private static let frameBytes = 64 << 20

  /// - Throws: what the source throws.
  /// - Returns: nil where no frame is found.
  init?(firstFrameOf source: some ByteSource) throws {
    var offset: Int64 = 12
    for _ in 0..<Self.chunkLimit {
      guard source.size - offset >= 8 else { return nil }
      let head = try source.bytes(at: offset, count: 8)
      guard head.count == 8 else { return nil }
      let size = Self.number(head[4..<8])
      if head[..<4].elementsEqual("ANMF".utf8) {
        guard (16...Self.frameBytes).contains(size), Int64(size) <= source.size - offset - 8 else {
          return nil
        }
        self.init(payload: try source.bytes(at: offset + 8, count: size))
        return
      }
      offset += 8 + Int64(size) + Int64(size & 1)
    }
    return nil
  }

  private init?(payload: [UInt8]) {
    guard payload.count > 24 else { return nil }
    (x, y) = (2 * Self.number(payload[0..<3]), 2 * Self.number(payload[3..<6]))
    (width, height) = (1 + Self.number(payload[6..<9]), 1 + Self.number(payload[9..<12]))
    let image = payload[16...]
    // With transparency apart, the frame needs the extended header that says so: flags, and the size less 1.
    let hasAlpha = image.starts(with: "ALPH".utf8)
    let header =
      hasAlpha
      ? Array("VP8X".utf8) + Self.bytes(10, 4) + [0x10, 0, 0, 0] + Self.bytes(width - 1, 3)
        + Self.bytes(height - 1, 3)
      : []
    let content = Array("WEBP".utf8) + header + image
    bytes = Array("RIFF".utf8) + Self.bytes(content.count, 4) + content
  }

  /// The least significant byte first.
  private static func number(_ bytes: ArraySlice<UInt8>) -> Int {
    bytes.reversed().reduce(0) { $0 << 8 | Int($1) }
  }

  private static func bytes(_ number: Int, _ count: Int) -> [UInt8] {
    (0..<count).map { UInt8(truncatingIfNeeded: number >> (8 * $0)) }
  }
}
