import System

/// The programs that decode and that fetch, as Debian's packages `ffmpeg`, `curl` and
/// `libheif-examples` bring them. Each may be
/// missing: then what it would have told is not known, and that is said.
public struct MediaTools: Sendable, Hashable {
  /// Decodes.
  public var ffmpeg: String?
  /// Lists streams and packets.
  public var ffprobe: String?
  /// Fetches.
  public var curl: String?
  /// Decodes images of the HEIF family with all that belongs to them.
  public var heifConvert: String?

  /// Programs at these paths.
  public init(
    ffmpeg: String? = nil, ffprobe: String? = nil, curl: String? = nil, heifConvert: String? = nil
  ) {
    self.ffmpeg = ffmpeg
    self.ffprobe = ffprobe
    self.curl = curl
    self.heifConvert = heifConvert
  }

  /// Those in the folders of `PATH`.
  public static func installed() -> MediaTools {
    MediaTools(
      ffmpeg: ChildProcess.path(ofProgram: "ffmpeg"),
      ffprobe: ChildProcess.path(ofProgram: "ffprobe"),
      curl: ChildProcess.path(ofProgram: "curl"),
      heifConvert: ChildProcess.path(ofProgram: "heif-convert"))
  }
}
