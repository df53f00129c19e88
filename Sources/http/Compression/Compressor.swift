import CBrotli
import CZlib
import HTTP

/// Encodes a whole body in a content coding (RFC 9110 section 8.4.1).
///
/// The same bytes, settings and library versions always give the same result, which does not contain the time
/// or the machine, so that an entity tag for each coding can rely on it.
///
/// Nothing is kept between two calls, and what a call allocates is freed on each path: memory for the largest
/// result, which is slightly more than the input, and the library's state. The state takes 268 KB for gzip;
/// for brotli at its default quality 0.8 MB for a page of 30 posts, 32 MB whatever the input is, and up to
/// twice that at higher qualities.
public struct Compressor: Sendable {
  /// zlib's level, 1 (fast) to 9 (dense).
  public let gzipLevel: Int
  /// brotli's quality, 0 (fast) to 11 (dense).
  public let brotliQuality: Int
  /// The maximum number of bytes of an input; more are refused.
  public let maximumBytes: Int

  /// A compressor with these settings.
  ///
  /// The defaults are where more time begins to gain little. For a real page of 30 posts (15 KB) and one of
  /// 100 (50 KB), on one core of an EPYC: the microseconds, and how many times shorter the page gets.
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
    // Half of what zlib's 32-bit counters hold, so that the largest result fits them too.
    precondition((0...Int(Int32.max)).contains(maximumBytes), "not a limit: \(maximumBytes)")
    self.gzipLevel = gzipLevel
    self.brotliQuality = brotliQuality
    self.maximumBytes = maximumBytes
  }

  /// The bytes in a coding; in `identity`, the bytes themselves.
  ///
  /// The result may be longer than the bytes if they do not compress.
  ///
  /// - Throws: `CompressionError`, for too many bytes or a library without memory.
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

extension Compressor {
  /// The smallest window is 1 KB; 4 MB is the largest that is used here, so that decoders stay small.
  private static let brotliWindowBits = 10...22

  /// The bytes as one brotli stream (RFC 7932).
  func brotli(_ bytes: [UInt8]) throws(CompressionError) -> [UInt8] {
    let bound = BrotliEncoderMaxCompressedSize(bytes.count)
    let result = withUnsafeTemporaryAllocation(of: UInt8.self, capacity: bound) {
      output -> [UInt8]? in
      var count = output.count
      let isDone = BrotliEncoderCompress(
        Int32(brotliQuality), Int32(Self.windowBits(fitting: bytes.count)), BROTLI_MODE_TEXT,
        bytes.count, bytes, &count, output.baseAddress)
      return isDone == BROTLI_TRUE ? [UInt8](output[..<count]) : nil
    }
    // With memory for the largest size, only the library's own memory can be missing.
    guard let result else { throw .outOfMemory(.brotli) }
    return result
  }

  /// The binary logarithm of the smallest window that covers this many bytes; a window is 16
  /// bytes shorter than its power of two (RFC 7932 section 9.1).
  static func windowBits(fitting count: Int) -> Int {
    brotliWindowBits.first { count <= 1 << $0 - 16 } ?? brotliWindowBits.upperBound
  }
}

extension Compressor {
  /// 32 KB, deflate's largest window, plus 16, which asks zlib for the gzip format.
  private static let gzipWindowBits: Int32 = 15 + 16
  /// zlib's own default: 256 KB of state with the window above.
  private static let memoryLevel: Int32 = 8
  /// The place of the system in a gzip header, and the value of an unknown system (RFC 1952 section 2.3.1).
  private static let systemOffset = 9
  private static let unknownSystem: UInt8 = 255

  /// The bytes as one gzip member (RFC 1952).
  func gzip(_ bytes: [UInt8]) throws(CompressionError) -> [UInt8] {
    // zlib's state points to the stream, so the stream must not move.
    let stream = UnsafeMutablePointer<z_stream>.allocate(capacity: 1)
    stream.initialize(to: z_stream())
    defer { stream.deallocate() }
    try Self.check(
      deflateInit2_(
        stream, Int32(gzipLevel), Z_DEFLATED, Self.gzipWindowBits, Self.memoryLevel,
        Z_DEFAULT_STRATEGY, ZLIB_VERSION, Int32(MemoryLayout<z_stream>.size)), is: Z_OK)
    defer { deflateEnd(stream) }

    let bound = Int(deflateBound(stream, UInt(bytes.count)))
    let (result, status) = withUnsafeTemporaryAllocation(of: UInt8.self, capacity: bound) {
      let status = Self.deflateWhole(bytes, to: $0, stream)
      return ([UInt8]($0[..<Int(stream.pointee.total_out)]), status)
    }
    // Within its bound, deflate finishes in one call.
    try Self.check(status, is: Z_STREAM_END)
    return result
  }

  private static func deflateWhole(
    _ bytes: [UInt8], to output: UnsafeMutableBufferPointer<UInt8>,
    _ stream: UnsafeMutablePointer<z_stream>
  ) -> Int32 {
    bytes.withUnsafeBufferPointer { input in
      // zlib's interface has no const, but it only reads its input.
      stream.pointee.next_in = UnsafeMutablePointer(mutating: input.baseAddress)
      stream.pointee.avail_in = UInt32(input.count)
      stream.pointee.next_out = output.baseAddress
      stream.pointee.avail_out = UInt32(output.count)
      let status = deflate(stream, Z_FINISH)
      // zlib leaves the header's time at 0, but names the system for which it was built.
      if status == Z_STREAM_END { output[systemOffset] = unknownSystem }
      return status
    }
  }

  private static func check(_ status: Int32, is expected: Int32) throws(CompressionError) {
    guard status != Z_MEM_ERROR else { throw .outOfMemory(.gzip) }
    guard status == expected else { throw .failed(.gzip, status: status) }
  }
}
