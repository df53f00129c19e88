import CZlib

/// Makes one gzip member (RFC 1952) of bytes that come piece by piece, in the memory of one piece and
/// 256 KB.
///
/// Not `Sendable`: one thread at a time feeds it.
public final class GzipEncoder {
  private let stream: GzipStream

  /// An encoder at a level of zlib, 1 (fast) to 9 (dense).
  ///
  /// - Throws: `GzipError.outOfMemory`.
  public init(level: Int = 5) throws(GzipError) {
    precondition((1...9).contains(level), "not a level of gzip: \(level)")
    // 32 KB, deflate's largest window, plus 16, which asks zlib for gzip's framing; 8 is zlib's own
    // memory level.
    stream = try GzipStream(
      begin: {
        deflateInit2_(
          $0, Int32(level), Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY, ZLIB_VERSION,
          Int32(MemoryLayout<z_stream>.size))
      }, end: { deflateEnd($0) })
  }

  /// Takes the next bytes, and hands out what is ready.
  ///
  /// - Throws: `GzipError`, and what `output` throws.
  public func encode(
    _ bytes: [UInt8], _ output: (ArraySlice<UInt8>) throws -> Void
  ) throws {
    _ = try stream.run(bytes[...], { deflate($0, Z_NO_FLUSH) }, output)
  }

  /// Hands out the rest. Nothing may come after.
  ///
  /// - Throws: `GzipError`, and what `output` throws.
  public func finish(_ output: (ArraySlice<UInt8>) throws -> Void) throws {
    _ = try stream.run([], { deflate($0, Z_FINISH) }, output)
  }
}
