import CZlib

/// Reads gzip (RFC 1952, several members too) that comes piece by piece, and hands out what it stands
/// for in pieces, however much that is.
///
/// Not `Sendable`: one thread at a time feeds it.
public final class GzipDecoder {
  private let stream: GzipStream
  /// A member has begun and not ended.
  private var isWithinMember = false
  private var hasBegun = false

  /// How a gzip file begins (RFC 1952 section 2.3.1).
  public static let magic: [UInt8] = [0x1f, 0x8b]

  /// A decoder at the beginning of a stream.
  ///
  /// - Throws: `GzipError.outOfMemory`.
  public init() throws(GzipError) {
    stream = try GzipStream(
      begin: {
        inflateInit2_($0, 15 + 16, ZLIB_VERSION, Int32(MemoryLayout<z_stream>.size))
      }, end: { inflateEnd($0) })
  }

  /// Takes the next bytes, and hands out what they stand for.
  ///
  /// - Throws: `GzipError`, and what `output` throws.
  public func decode(
    _ bytes: [UInt8], _ output: (ArraySlice<UInt8>) throws -> Void
  ) throws {
    var rest = bytes[...]
    while !rest.isEmpty {
      (isWithinMember, hasBegun) = (true, true)
      let (status, taken) = try stream.run(
        rest, { inflate($0, Z_NO_FLUSH) }, output)
      rest = rest.dropFirst(taken)
      if status == Z_STREAM_END {
        isWithinMember = false
        // Another member may follow (RFC 1952 section 2.2).
        try stream.call { inflateReset($0) }
      }
    }
  }

  /// Sees that the stream is whole.
  ///
  /// - Throws: `GzipError.cutShort`.
  public func finish() throws(GzipError) {
    if isWithinMember || !hasBegun { throw .cutShort }
  }
}
