import CZlib

/// zlib's state, which points back at itself and so must not move.
///
/// Not `Sendable`: one thread at a time feeds it.
final class GzipStream {
  private let stream = UnsafeMutablePointer<z_stream>.allocate(capacity: 1)
  private let end: (UnsafeMutablePointer<z_stream>) -> Void
  /// What one call puts out at the most.
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

  /// Calls zlib once, for what moves no bytes.
  func call(_ body: (UnsafeMutablePointer<z_stream>) -> Int32) throws(GzipError) {
    let status = body(stream)
    guard status == Z_OK else { throw GzipError(status) }
  }

  deinit {
    end(stream)
    stream.deallocate()
  }

  /// Calls zlib until it has taken all of the bytes and gives no more, or until it says that the
  /// member is at its end.
  ///
  /// - Returns: zlib's last word, and how many of the bytes it has taken.
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
      // No progress was possible: more input is needed, which is no error.
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
  /// There was no memory for zlib's state.
  case outOfMemory
  /// The bytes are not gzip, or were changed: their check sum is another.
  case damaged
  /// The stream ends before its end.
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
