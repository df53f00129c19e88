import MediaFormats
import System

/// Why there is nothing to tell of a file. Each describes itself in a clause, to stand behind the file's name.
package enum ProbeError: Error, Sendable {
  /// It cannot be opened or read, or a program not be started.
  case system(SystemError)
  /// It is a folder, a pipe or a device.
  case notAFile
  /// Its structure is broken, or none that is known.
  case format(FormatError)
  /// It ends before what it says it holds does: it would have `neededBytes` at least.
  case cutShort(bytes: Int, neededBytes: Int)
  /// It is larger than what is looked into.
  case tooLarge(bytes: Int, limitBytes: Int)
  /// It could not be read to its end in time.
  case readingTimedOut(milliseconds: Int)
  /// It was written to while it was read.
  case changed
  /// The caller no longer wants the result.
  case cancelled
  /// Its structure is sound, but its first frame is not: what FFmpeg says of it.
  case undecodable(String)
  /// FFmpeg was not done with its first frame in time.
  case decodingTimedOut(milliseconds: Int)
  /// A program's answer cannot be true: which, and why.
  case unbelievable(program: String, String)
  /// It could not be fetched.
  case remote(RemoteError)

  /// Whatever a source of bytes threw.
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
