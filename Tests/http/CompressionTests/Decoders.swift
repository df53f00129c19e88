import CBrotliDecoder
import CZlib
import HTTP
import Testing

/// The bytes that a coded body stands for, as the libraries' own decoders read it; fails unless the
/// body is one whole stream and nothing else.
func decode(_ body: [UInt8], _ coding: ContentCoding, capacity: Int) throws -> [UInt8] {
  switch coding {
  case .identity: body
  case .gzip: try gunzip(body, capacity: capacity)
  case .brotli: try unbrotli(body, capacity: capacity)
  }
}

private func gunzip(_ body: [UInt8], capacity: Int) throws -> [UInt8] {
  var body = body
  // With room for a byte too many, so that one would be seen.
  var output = [UInt8](repeating: 0, count: capacity + 1)
  let stream = UnsafeMutablePointer<z_stream>.allocate(capacity: 1)
  stream.initialize(to: z_stream())
  defer { stream.deallocate() }
  let onlyGzip: Int32 = 15 + 16
  try #require(
    inflateInit2_(stream, onlyGzip, ZLIB_VERSION, Int32(MemoryLayout<z_stream>.size)) == Z_OK)
  defer { inflateEnd(stream) }
  let status = body.withUnsafeMutableBufferPointer { input in
    output.withUnsafeMutableBufferPointer { output in
      stream.pointee.next_in = input.baseAddress
      stream.pointee.avail_in = UInt32(input.count)
      stream.pointee.next_out = output.baseAddress
      stream.pointee.avail_out = UInt32(output.count)
      return inflate(stream, Z_FINISH)
    }
  }
  try #require(status == Z_STREAM_END)
  try #require(stream.pointee.avail_in == 0)
  return Array(output[..<Int(stream.pointee.total_out)])
}

private func unbrotli(_ body: [UInt8], capacity: Int) throws -> [UInt8] {
  var output = [UInt8](repeating: 0, count: capacity + 1)
  var count = output.count
  try #require(
    BrotliDecoderDecompress(body.count, body, &count, &output) == BROTLI_DECODER_RESULT_SUCCESS)
  return Array(output[..<count])
}
