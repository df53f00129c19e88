import Compression

/// The compression of an input, detected by its first bytes.
enum Decompression: Sendable {
  case none, gzip, zstandard

  /// The number of an input's bytes that identify its compression.
  static let tellingBytes = 4

  /// Detects the compression by the bytes at the start of an input.
  init(start: [UInt8]) {
    if start.starts(with: GzipDecoder.magic) {
      self = .gzip
    } else if ZstdDecoder.reads(start) {
      self = .zstandard
    } else {
      self = .none
    }
  }

  /// Returns a decoder for an input.
  func decoder() throws -> Decoder {
    switch self {
    case .none: .none
    case .gzip: .gzip(try GzipDecoder())
    case .zstandard: .zstandard(try ZstdDecoder())
    }
  }

  /// The state of decoding one input.
  enum Decoder {
    case none
    case gzip(GzipDecoder)
    case zstandard(ZstdDecoder)

    func decode(_ bytes: [UInt8], _ output: (ArraySlice<UInt8>) throws -> Void) throws {
      switch self {
      case .none: try output(bytes[...])
      case .gzip(let decoder): try decoder.decode(bytes, output)
      case .zstandard(let decoder): try decoder.decode(bytes, output)
      }
    }

    func finish() throws {
      switch self {
      case .none: break
      case .gzip(let decoder): try decoder.finish()
      case .zstandard(let decoder): try decoder.finish()
      }
    }
  }
}
