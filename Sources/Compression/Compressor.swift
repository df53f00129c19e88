import HTTP

/// Encodes a body as a whole in a content coding (RFC 9110 section 8.4.1).
///
/// The same bytes, settings and library versions always give the same result: nothing in it tells the
/// time or the machine. So an entity tag per coding can rest on it.
///
/// Nothing is kept between two calls, and what a call takes is freed on each path: room for the
/// greatest result, which is slightly more than the input, and the library's state. That is 268 KB for
/// gzip; for brotli at its default quality 0.8 MB for a page of 30 posts, 32 MB whatever the input is,
/// and up to twice that at higher qualities.
public struct Compressor: Sendable {
  /// zlib's level, 1 (fast) to 9 (dense).
  public let gzipLevel: Int
  /// brotli's quality, 0 (fast) to 11 (dense).
  public let brotliQuality: Int
  /// More bytes than these are refused.
  public let maximumBytes: Int

  /// A compressor with these settings.
  ///
  /// The defaults are where the time starts to buy little. A real page of 30 posts (15 KB) and one of
  /// 100 (50 KB), on one core of an EPYC, in microseconds and how many times shorter it gets:
  ///
  /// | | 30 posts | 100 posts |
  /// |---|---|---|
  /// | gzip 1 | 90, 3.5 | 250, 3.7 |
  /// | gzip 5 | 120, 3.9 | 470, 4.2 |
  /// | gzip 9 | 150, 3.9 | 1050, 4.3 |
  /// | brotli 4 | 90, 3.9 | 560, 4.3 |
  /// | brotli 5 | 110, 4.2 | 820, 4.5 |
  /// | brotli 9 | 170, 4.2 | 940, 4.6 |
  /// | brotli 11 | 11 800, 4.7 | 40 400, 5.3 |
  public init(gzipLevel: Int = 5, brotliQuality: Int = 5, maximumBytes: Int = 64 << 20) {
    precondition((1...9).contains(gzipLevel), "not a level of gzip: \(gzipLevel)")
    precondition((0...11).contains(brotliQuality), "not a quality of brotli: \(brotliQuality)")
    // Half of what zlib's 32-bit counters hold, so that the greatest result fits them too.
    precondition((0...Int(Int32.max)).contains(maximumBytes), "not a limit: \(maximumBytes)")
    self.gzipLevel = gzipLevel
    self.brotliQuality = brotliQuality
    self.maximumBytes = maximumBytes
  }

  /// The bytes in a coding; in `identity`, the bytes themselves.
  ///
  /// The result may be longer than the bytes, where they do not compress.
  ///
  /// Throws `CompressionError`: too many bytes, or a library without memory.
  public func compress(
    _ bytes: [UInt8], as coding: ContentCoding
  ) throws(CompressionError) -> [UInt8] {
    guard coding != .identity else { return bytes }
    guard bytes.count <= maximumBytes else {
      throw .tooLarge(bytes: bytes.count, maximumBytes: maximumBytes)
    }
    return switch coding {
    case .identity: bytes
    case .gzip: try gzip(bytes)
    case .brotli: try brotli(bytes)
    }
  }
}
