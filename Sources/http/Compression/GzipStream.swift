import CZlib

/// The state of zlib, which points to itself and so must not move.
///
/// Not `Sendable`: one thread at a time uses it.
final class GzipStream {
  private let stream = UnsafeMutablePointer<z_stream>.allocate(capacity: 1)
  private let end: (UnsafeMutablePointer<z_stream>) -> Void
  /// The maximum number of bytes that one call outputs.
  private static let pieceBytes = 1 << 16
  private var piece = [UInt8](repeating: 0, count: pieceBytes)

  /// - Parameters:
  ///   - begin: zlib's `…Init2`.
  ///   - end: zlib's `…End`.
  init(
    begin: (UnsafeMutablePointer<z_stream>) -> Int32,
    end: @escaping (UnsafeMutablePointer<z_stream>) -> Void
  ) throws(GzipError) {
    stream.initialize(to: z_stream())
    self.end = end
    let status = begin(stream)
    guard status == Z_OK else {
      stream.deallocate()
      throw GzipError(status)
    }
  }

  /// Calls zlib once, for a function that moves no bytes.
  func call(_ body: (UnsafeMutablePointer<z_stream>) -> Int32) throws(GzipError) {
    let status = body(stream)
    guard status == Z_OK else { throw GzipError(status) }
  }

  deinit {
    end(stream)
    stream.deallocate()
  }

  /// Calls zlib until it has consumed all bytes and outputs no more, or until it reports the end of the
  /// member.
  ///
  /// - Returns: zlib's last status, and the number of bytes that it has consumed.
  func run(
    _ bytes: ArraySlice<UInt8>, _ step: (UnsafeMutablePointer<z_stream>) -> Int32,
    _ output: (ArraySlice<UInt8>) throws -> Void
  ) throws -> (status: Int32, taken: Int) {
    var status = Z_OK
    var taken = 0
    repeat {
      let rest = bytes.dropFirst(taken)
      let made = rest.withUnsafeBufferPointer { input in
        piece.withUnsafeMutableBufferPointer { output in
          // zlib's interface has no const, but it only reads its input.
          stream.pointee.next_in = UnsafeMutablePointer(mutating: input.baseAddress)
          stream.pointee.avail_in = UInt32(input.count)
          stream.pointee.next_out = output.baseAddress
          stream.pointee.avail_out = UInt32(output.count)
          status = step(stream)
          return output.count - Int(stream.pointee.avail_out)
        }
      }
      taken += rest.count - Int(stream.pointee.avail_in)
      if made > 0 { try output(piece[..<made]) }
      // No progress was possible: more input is needed, which is not an error.
      if status == Z_BUF_ERROR { return (Z_OK, taken) }
      guard status == Z_OK || status == Z_STREAM_END else { throw GzipError(status) }
      if status == Z_STREAM_END { break }
      if made < Self.pieceBytes, taken == bytes.count { break }
    } while true
    return (status, taken)
  }
}

/// Why a stream could not be compressed or read.
public enum GzipError: Error, Hashable, Sendable {
  /// There was not enough memory for zlib's state.
  case outOfMemory
  /// The bytes are not gzip, or were changed: their checksum differs.
  case damaged
  /// The stream is incomplete.
  case cutShort
  /// zlib refused, with a status of its own.
  case failed(status: Int32)

  init(_ status: Int32) {
    self =
      switch status {
      case Z_MEM_ERROR: .outOfMemory
      case Z_DATA_ERROR, Z_NEED_DICT: .damaged
      default: .failed(status: status)
      }
  }
}

extension GzipError: CustomStringConvertible {
  /// What is wrong, as the end of a sentence about a file.
  public var description: String {
    switch self {
    case .outOfMemory: "not enough memory for zlib"
    case .damaged: "its gzip stream is damaged"
    case .cutShort: "its gzip stream is incomplete"
    case .failed(let status): "zlib failed with status \(status)"
    }
  }
}

/// Compresses bytes, piece by piece, into one gzip member (RFC 1952), in the memory of one piece and 256 KB.
///
/// Not `Sendable`: one thread at a time uses it.
public final class GzipEncoder {
  private let stream: GzipStream

  /// An encoder at a level of zlib, 1 (fast) to 9 (dense).
  ///
  /// - Throws: `GzipError.outOfMemory`.
  public init(level: Int = 5) throws(GzipError) {
    precondition((1...9).contains(level), "not a level of gzip: \(level)")
    // 32 KB, deflate's largest window, plus 16, which asks zlib for the gzip format; 8 is zlib's own memory
    // level.
    stream = try GzipStream(
      begin: {
        deflateInit2_(
          $0, Int32(level), Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY, ZLIB_VERSION,
          Int32(MemoryLayout<z_stream>.size))
      }, end: { deflateEnd($0) })
  }

  /// Compresses the next bytes, and outputs what is ready.
  ///
  /// - Throws: `GzipError`, and what `output` throws.
  public func encode(
    _ bytes: [UInt8], _ output: (ArraySlice<UInt8>) throws -> Void
  ) throws {
    _ = try stream.run(bytes[...], { deflate($0, Z_NO_FLUSH) }, output)
  }

  /// Outputs the rest. Nothing may come after it.
  ///
  /// - Throws: `GzipError`, and what `output` throws.
  public func finish(_ output: (ArraySlice<UInt8>) throws -> Void) throws {
    _ = try stream.run([], { deflate($0, Z_FINISH) }, output)
  }
}

/// Decompresses gzip (RFC 1952, also of several members) piece by piece, and outputs the result in pieces,
/// whatever its size.
///
/// Not `Sendable`: one thread at a time uses it.
public final class GzipDecoder {
  private let stream: GzipStream
  /// Whether a member has begun and not ended.
  private var isWithinMember = false
  private var hasBegun = false

  /// The first bytes of a gzip file (RFC 1952 section 2.3.1).
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

  /// Decompresses the next bytes, and outputs the result.
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

  /// Checks that the stream is complete.
  ///
  /// - Throws: `GzipError.cutShort`.
  public func finish() throws(GzipError) {
    if isWithinMember || !hasBegun { throw .cutShort }
  }
}
