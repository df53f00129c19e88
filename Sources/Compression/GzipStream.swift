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
    case .outOfMemory: "there is no memory for zlib"
    case .damaged: "its gzip stream is damaged"
    case .cutShort: "its gzip stream is cut short"
    case .failed(let status): "zlib failed with status \(status)"
    }
  }
}
