import MediaFormats

/// The first frame of an animated WebP image as a still image for FFmpeg, which does not read the animation.
///
/// WebP Container Specification, "Animation": a chunk `ANMF` contains the frame's position on the canvas and
/// the chunks of an image without its header.
struct WebPStill {
  /// A WebP file.
  let bytes: [UInt8]
  /// The position of the frame's upper left corner on the canvas.
  let (x, y): (Int, Int)
  let (width, height): (Int, Int)

  /// The maximum number of chunks before the first frame, and the maximum size of a frame.
  private static let chunkLimit = 64
  private static let frameBytes = 64 << 20

  /// Reads the first frame; returns nil if there is none.
  ///
  /// - Throws: what the source throws.
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
    // A frame with a separate alpha channel needs the extended header: flags, and the size minus 1.
    let hasAlpha = image.starts(with: "ALPH".utf8)
    let header =
      hasAlpha
      ? Array("VP8X".utf8) + Self.bytes(10, 4) + [0x10, 0, 0, 0] + Self.bytes(width - 1, 3)
        + Self.bytes(height - 1, 3)
      : []
    let content = Array("WEBP".utf8) + header + image
    bytes = Array("RIFF".utf8) + Self.bytes(content.count, 4) + content
  }

  /// Returns a little-endian number.
  private static func number(_ bytes: ArraySlice<UInt8>) -> Int {
    bytes.reversed().reduce(0) { $0 << 8 | Int($1) }
  }

  private static func bytes(_ number: Int, _ count: Int) -> [UInt8] {
    (0..<count).map { UInt8(truncatingIfNeeded: number >> (8 * $0)) }
  }
}
