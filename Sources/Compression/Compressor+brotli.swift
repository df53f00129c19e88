import CBrotli
import HTTP

extension Compressor {
  /// The smallest window is 1 KB; 4 MB is the largest used here, so that decoders stay small.
  private static let windowBits = 10...22

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
    // With the greatest size at hand, memory is all that can be missing.
    guard let result else { throw .outOfMemory(.brotli) }
    return result
  }

  /// The binary logarithm of the smallest window that reaches over so many bytes; a window is 16
  /// bytes shorter than its power of two (RFC 7932 section 9.1).
  static func windowBits(fitting count: Int) -> Int {
    windowBits.first { count <= 1 << $0 - 16 } ?? windowBits.upperBound
  }
}
