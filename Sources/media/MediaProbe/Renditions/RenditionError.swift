import System

/// Why there is no rendition. Each describes itself in a clause.
package enum RenditionError: Error, Sendable {
  /// A file cannot be made or read, or a program not be started.
  case system(SystemError)
  /// Nothing can be coded without it.
  case noFFmpeg
  /// This ffmpeg does not have these encoders.
  case noEncoder([String])
  /// FFmpeg has no reader for the original.
  case notRead
  /// Without libheif such a picture is decoded without its transparent parts.
  case transparencyNotDecoded
  /// What a program says that decodes or codes.
  case failed(program: String, String)
  /// FFmpeg was not done in time.
  case timedOut(milliseconds: Int)
  /// FFmpeg may have no more memory than this, and needs more.
  case outOfMemory(limitBytes: Int)
  /// It cannot be told what is in the original, or in what was made.
  case unreadable(ProbeError)
  /// What was made is not what was to be made.
  case unlike(String)
  /// Another program is making it.
  case isBeingMade
}

extension RenditionError: CustomStringConvertible {
  /// A clause, for example `ffmpeg: Invalid data found`.
  package var description: String {
    switch self {
    case .system(let error): error.description
    case .noFFmpeg: "ffmpeg is not installed, but renditions require it"
    case .noEncoder(let names):
      "this ffmpeg cannot encode with \(names.joined(separator: ", ")); Debian's ffmpeg can"
    case .notRead: "ffmpeg does not support such files"
    case .transparencyNotDecoded:
      "the transparency of such files is decoded by heif-convert (Debian's libheif-examples), "
        + "which is not installed"
    case .failed(let program, let words): "\(program): \(words)"
    case .timedOut(let milliseconds): "it was not made within \(milliseconds) ms"
    case .outOfMemory(let limitBytes): "it needs more than \(limitBytes) bytes of memory"
    case .unreadable(let error): error.description
    case .unlike(let words): "the result differs from the original: \(words)"
    case .isBeingMade: "another program is making it"
    }
  }
}
