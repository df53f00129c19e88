import HTTP

/// Why bytes could not be compressed.
public enum CompressionError: Error, Sendable, Hashable {
  /// The input has more bytes than the compressor accepts.
  case tooLarge(bytes: Int, maximumBytes: Int)
  /// There was not enough memory for the library's state.
  case outOfMemory(ContentCoding)
  /// The library refused, with a status of its own (zlib's; brotli's is always 0).
  case failed(ContentCoding, status: Int32)
}

extension CompressionError: CustomStringConvertible {
  /// One sentence for a log.
  public var description: String {
    switch self {
    case .tooLarge(let bytes, let maximumBytes):
      "\(bytes) bytes exceed the \(maximumBytes) bytes that can be compressed at once."
    case .outOfMemory(let coding): "Not enough memory to compress with \(coding.rawValue)."
    case .failed(let coding, let status): "\(coding.rawValue) failed with status \(status)."
    }
  }
}
