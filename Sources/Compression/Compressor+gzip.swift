import CZlib
import HTTP

extension Compressor {
  /// 32 KB, deflate's largest window, plus 16, which asks zlib for gzip's framing.
  private static let windowBits: Int32 = 15 + 16
  /// zlib's own default: 256 KB of state with the window above.
  private static let memoryLevel: Int32 = 8
  /// Where a gzip header names the system, and its word for an unknown one (RFC 1952 section 2.3.1).
  private static let systemOffset = 9
  private static let unknownSystem: UInt8 = 255

  /// The bytes as one gzip member (RFC 1952).
  func gzip(_ bytes: [UInt8]) throws(CompressionError) -> [UInt8] {
    // zlib's state points back at the stream, so the stream must not move.
    let stream = UnsafeMutablePointer<z_stream>.allocate(capacity: 1)
    stream.initialize(to: z_stream())
    defer { stream.deallocate() }
    try Self.check(
      deflateInit2_(
        stream, Int32(gzipLevel), Z_DEFLATED, Self.windowBits, Self.memoryLevel,
        Z_DEFAULT_STRATEGY, ZLIB_VERSION, Int32(MemoryLayout<z_stream>.size)), is: Z_OK)
    defer { deflateEnd(stream) }

    let bound = Int(deflateBound(stream, UInt(bytes.count)))
    let (result, status) = withUnsafeTemporaryAllocation(of: UInt8.self, capacity: bound) {
      let status = Self.deflateWhole(bytes, to: $0, stream)
      return ([UInt8]($0[..<Int(stream.pointee.total_out)]), status)
    }
    // Within its bound, deflate ends in one call.
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
      // zlib leaves the header's time at 0, but names the system that it was built for.
      if status == Z_STREAM_END { output[systemOffset] = unknownSystem }
      return status
    }
  }

  private static func check(_ status: Int32, is expected: Int32) throws(CompressionError) {
    guard status != Z_MEM_ERROR else { throw .outOfMemory(.gzip) }
    guard status == expected else { throw .failed(.gzip, status: status) }
  }
}
