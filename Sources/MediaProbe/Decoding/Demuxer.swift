import MediaFormats

/// FFmpeg's reader of a format. It is named, so that FFmpeg takes no file for what it is not: a playlist that
/// is called a video would have it open other files.
struct Demuxer {
  /// As `ffmpeg -f` has it.
  let name: String

  /// The one for files of this type; nil where none is to read them, as SVG, which is never drawn.
  init?(_ type: MediaType, isAnimated: Bool = false) {
    switch type.value {
    case "image/jpeg": name = "jpeg_pipe"
    case "image/png": name = isAnimated ? "apng" : "png_pipe"
    case "image/gif": name = "gif"
    case "image/webp": name = "webp_pipe"
    case "image/bmp": name = "bmp_pipe"
    case "image/avif", "image/heic", "image/heif", "image/heic-sequence", "image/heif-sequence",
      "video/mp4", "audio/mp4", "video/quicktime", "video/3gpp", "video/3gpp2":
      name = "mov"
    case "video/webm", "audio/webm", "video/matroska", "audio/matroska": name = "matroska"
    case "audio/mpeg": name = "mp3"
    case "audio/aac": name = "aac"
    case "audio/flac": name = "flac"
    case "audio/wav": name = "wav"
    case "application/ogg", "audio/ogg", "video/ogg": name = "ogg"
    case "video/mp2t": name = "mpegts"
    default: return nil
    }
  }

  /// The arguments with which FFmpeg's programs read their standard input as such a file, from its beginning
  /// and anywhere in it, and nothing else: no name of a file reaches them.
  var inputArguments: [String] {
    ["-protocol_whitelist", "file", "-f", name, "-i", "file:/dev/fd/0"]
  }
}
