import CZstd
import Compression
import Testing

/// Bytes as gzip has them, one member.
func gzipped(_ text: String) throws -> [UInt8] { try gzipped(Array(text.utf8)) }

/// Bytes as gzip has them, one member.
func gzipped(_ input: [UInt8]) throws -> [UInt8] {
  var bytes: [UInt8] = []
  let encoder = try GzipEncoder()
  try encoder.encode(input) { bytes += $0 }
  try encoder.finish { bytes += $0 }
  return bytes
}

/// Bytes as Zstandard has them, one frame with a check sum.
func zstandarded(_ text: String) throws -> [UInt8] {
  let context = try #require(ZSTD_createCCtx())
  defer { ZSTD_freeCCtx(context) }
  ZSTD_CCtx_setParameter(context, ZSTD_c_checksumFlag, 1)
  let input = Array(text.utf8)
  return [UInt8](unsafeUninitializedCapacity: ZSTD_compressBound(input.count)) { buffer, count in
    count = ZSTD_compress2(context, buffer.baseAddress, buffer.count, input, input.count)
  }
}
