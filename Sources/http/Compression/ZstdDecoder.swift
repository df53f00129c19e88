import CZstd

/// Decompresses Zstandard (RFC 8878, also of several frames) piece by piece, and outputs the result in
/// pieces, whatever its size. A window of more than 128 MiB, which is memory, is refused.
///
/// Not `Sendable`: one thread at a time uses it.
public final class ZstdDecoder {
  private let stream: OpaquePointer
  /// Whether a frame has begun and not ended.
  private var isWithinFrame = false
  private var hasBegun = false
  /// The maximum number of bytes that one call outputs.
  private static let pieceBytes = 1 << 16
  private var piece = [UInt8](repeating: 0, count: pieceBytes)

  /// Whether bytes begin like Zstandard: with a frame (RFC 8878 section 3.1.1), or with a skippable frame
  /// (section 3.1.2), which parallel compressors write first.
  public static func reads(_ start: [UInt8]) -> Bool {
    guard start.count >= 4 else { return false }
    return start.starts(with: [0x28, 0xb5, 0x2f, 0xfd])
      || (0x50...0x5f).contains(start[0]) && start[1..<4].elementsEqual([0x2a, 0x4d, 0x18])
  }

  /// A decoder at the beginning of a stream.
  ///
  /// - Throws: `ZstdError.outOfMemory`.
  public init() throws(ZstdError) {
    guard let stream = ZSTD_createDStream() else { throw .outOfMemory }
    self.stream = stream
  }

  deinit { ZSTD_freeDStream(stream) }

  /// Decompresses the next bytes, and outputs the result.
  ///
  /// - Throws: `ZstdError`, and what `output` throws.
  public func decode(_ bytes: [UInt8], _ output: (ArraySlice<UInt8>) throws -> Void) throws {
    var taken = 0
    var isFull = false
    // Output that did not fit the last piece comes without further input.
    while taken < bytes.count || isFull {
      hasBegun = true
      let (result, made) = step(bytes, &taken)
      guard ZSTD_isError(result) == 0 else {
        throw ZstdError.refused(String(cString: ZSTD_getErrorName(result)))
      }
      isWithinFrame = result != 0
      // A frame at its end (0) has no more output; if it was asked for some, the library would begin another
      // frame.
      isFull = made == Self.pieceBytes && isWithinFrame
      if made > 0 { try output(piece[..<made]) }
    }
  }

  private func step(_ bytes: [UInt8], _ taken: inout Int) -> (result: Int, made: Int) {
    bytes.withUnsafeBytes { input in
      piece.withUnsafeMutableBytes { output in
        var source = ZSTD_inBuffer(src: input.baseAddress, size: input.count, pos: taken)
        var target = ZSTD_outBuffer(dst: output.baseAddress, size: output.count, pos: 0)
        let result = ZSTD_decompressStream(stream, &target, &source)
        taken = source.pos
        return (result, target.pos)
      }
    }
  }

  /// Checks that the stream is complete.
  ///
  /// - Throws: `ZstdError.cutShort`.
  public func finish() throws(ZstdError) {
    if isWithinFrame || !hasBegun { throw .cutShort }
  }
}

/// Why a Zstandard stream could not be read.
public enum ZstdError: Error, Hashable, Sendable, CustomStringConvertible {
  /// There was not enough memory for the library's state.
  case outOfMemory
  /// The stream is incomplete.
  case cutShort
  /// The library refused the bytes, for this reason.
  case refused(String)

  /// What is wrong, as the end of a sentence about a file.
  public var description: String {
    switch self {
    case .outOfMemory: "not enough memory for Zstandard"
    case .cutShort: "its Zstandard stream is incomplete"
    case .refused(let reason): "its Zstandard stream is damaged: \(reason)"
    }
  }
}
