import System

/// The reason why there is no rendition. Each case describes itself in a clause.
package enum RenditionError: Error, Sendable {
  /// A file cannot be created or read, or a program cannot be started.
  case system(SystemError)
  /// ffmpeg is missing, which makes the renditions.
  case noFFmpeg
  /// This ffmpeg lacks these encoders.
  case noEncoder([String])
  /// FFmpeg does not support the original's format.
  case notRead
  /// Without libheif, such a picture would lose its transparent parts.
  case transparencyNotDecoded
  /// A program for decoding or encoding failed, with this message.
  case failed(program: String, String)
  /// FFmpeg did not finish in time.
  case timedOut(milliseconds: Int)
  /// FFmpeg needs more memory than this limit.
  case outOfMemory(limitBytes: Int)
  /// The original or the result cannot be probed.
  case unreadable(ProbeError)
  /// The result is not the intended rendition.
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
