import MediaFormats
import System

/// The reason why nothing is known about a file. Each case describes itself in a clause that
/// follows the file's name.
package enum ProbeError: Error, Sendable {
  /// The file cannot be opened or read, or a program cannot be started.
  case system(SystemError)
  /// The file is a folder, a pipe or a device.
  case notAFile
  /// The structure is broken or unknown.
  case format(FormatError)
  /// The file ends before its declared content; it needs at least `neededBytes`.
  case cutShort(bytes: Int, neededBytes: Int)
  /// The file is larger than the limit.
  case tooLarge(bytes: Int, limitBytes: Int)
  /// Reading the whole file took too long.
  case readingTimedOut(milliseconds: Int)
  /// The file was written to while it was read.
  case changed
  /// The caller no longer wants the result.
  case cancelled
  /// The structure is valid, but the first frame is not; the value is FFmpeg's message.
  case undecodable(String)
  /// FFmpeg did not decode the first frame in time.
  case decodingTimedOut(milliseconds: Int)
  /// The output of a program is not plausible: the program and the reason.
  case unbelievable(program: String, String)
  /// The file could not be fetched.
  case remote(RemoteError)

  /// Wraps an error of a source of bytes.
  init(_ error: any Error) {
    switch error {
    case let error as ProbeError: self = error
    case let error as FormatError: self = .format(error)
    case let error as RemoteError: self = .remote(error)
    case let error as SystemError: self = .system(error)
    default:
      self = .unbelievable(program: "lookahead", "an unknown error: \(error)")
    }
  }
}

extension ProbeError: CustomStringConvertible {
  /// A clause, for example `its first frame cannot be decoded: Invalid data found`.
  package var description: String {
    switch self {
    case .system(let error): error.reason
    case .notAFile: "it is not a regular file"
    case .format(let error): error.description
    case .cutShort(let bytes, let neededBytes):
      "it is incomplete: it has \(bytes) bytes, but needs \(neededBytes) or more"
    case .tooLarge(let bytes, let limitBytes):
      "it has \(bytes) bytes, more than the limit of \(limitBytes) (--probe-file-bytes)"
    case .readingTimedOut(let milliseconds):
      "it was not read to its end within \(milliseconds) ms (--probe-read-timeout-milliseconds)"
    case .changed: "it changed while it was read"
    case .cancelled: "it was cancelled"
    case .undecodable(let words): "its first frame cannot be decoded: \(words)"
    case .decodingTimedOut(let milliseconds):
      "its first frame was not decoded within \(milliseconds) ms"
    case .unbelievable(let program, let words):
      "the output of \(program) is not plausible: \(words)"
    case .remote(let error): error.description
    }
  }
}
