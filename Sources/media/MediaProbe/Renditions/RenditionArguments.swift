import Feed
import Glibc
import MediaFormats

/// The arguments with which FFmpeg makes a rendition. It reads the original from its standard input and
/// writes to the file that is its standard output: no file name reaches it.
struct RenditionArguments {
  let all: [String]

  /// Creates the arguments.
  ///
  /// - Parameter original: the facts about the original.
  init(
    _ rendition: Rendition, _ structure: MediaStructure, of original: MediaTruth,
    _ demuxer: Demuxer
  ) {
    all =
      ["-hide_banner", "-nostdin", "-v", "error", "-y", "-threads", "1", "-filter_threads", "1"]
      + (rendition.coding == .video ? [] : ["-noautorotate"]) + demuxer.inputArguments
      + ["-map", "0:V:0", "-map_metadata", "-1", "-map_chapters", "-1", "-sn", "-dn"]
      + Self.coding(rendition, structure, original)
      + ["-threads", "1", "-fflags", "+bitexact", "-flags", "+bitexact", "file:/dev/fd/1"]
  }

  private static func coding(
    _ rendition: Rendition, _ structure: MediaStructure, _ original: MediaTruth
  ) -> [String] {
    switch rendition.coding {
    case .picture:
      return ["-frames:v", "1", "-vf", picture(rendition, structure)] + webP("libwebp")
    case .animation:
      // Each picture keeps its duration.
      return ["-fps_mode", "passthrough", "-vf", picture(rendition, structure)]
        + webP("libwebp_anim") + ["-loop", "0"]
    case .video: return video(rendition, original)
    }
  }

  private static func webP(_ encoder: String) -> [String] {
    ["-c:v", encoder, "-quality", "75", "-compression_level", "4", "-f", "webp"]
  }

  /// Returns the filters that scale and turn the picture. The orientation comes from the project's own
  /// parser: FFmpeg does not turn every format.
  private static func picture(_ rendition: Rendition, _ structure: MediaStructure) -> String {
    let orientation = structure.orientation
    let (width, height) =
      orientation.swapsAxes
      ? (rendition.height, rendition.width) : (rendition.width, rendition.height)
    let size = "\(width):\(height):flags=lanczos+accurate_rnd+full_chroma_int"
    // WebP supports only the colours of BT.601 (RFC 9649 section 2.5).
    var filters =
      structure.hasAlpha
      // Premultiplied alpha, so that invisible pixels do not affect the colours of others.
      ? [
        "format=gbrap", "premultiply=inplace=1", "scale=\(size)", "unpremultiply=inplace=1",
      ] : ["scale=\(size):out_color_matrix=bt601:out_range=tv", "format=yuv420p"]
    if orientation.isMirrored { filters.append("hflip") }
    switch orientation.clockwiseQuarterTurns {
    case 1: filters.append("transpose=clock")
    case 2: filters += ["hflip", "vflip"]
    case 3: filters.append("transpose=cclock")
    default: break
    }
    return (filters + ["setsar=1"] + (structure.hasAlpha ? ["format=bgra"] : []))
      .joined(separator: ",")
  }

  /// Returns the arguments for a video: with a key frame every two seconds, so that a clip continues at once
  /// after a loop or a seek; with the frames' own times; and with at most two channels of sound.
  private static func video(_ rendition: Rendition, _ original: MediaTruth) -> [String] {
    let (kilobits, soundKilobits) = rendition.kilobits(of: original)
    let scale = "scale=\(rendition.width):\(rendition.height):flags=bicubic+accurate_rnd"
    return [
      "-vf", scale + ",setsar=1,format=yuv420p", "-fps_mode", "vfr", "-enc_time_base", "-1",
      "-c:v", "libx264", "-preset", "medium", "-profile:v", "high", "-crf", "24",
      "-maxrate", "\(kilobits)k", "-bufsize", "\(max(1, kilobits / 2))k",
      "-force_key_frames", "expr:gte(t,n_forced*2)",
      "-map", "0:a:0?", "-c:a", "aac", "-b:a", "\(soundKilobits)k",
      "-af", "aformat=channel_layouts=mono|stereo", "-movflags", "+faststart", "-f", "mp4",
    ]
  }
}

extension Rendition {
  /// Half as many pixels look as good with six tenths of the bits.
  private static let bitsByPixelsExponent = 0.75

  /// Returns the maximum bit rates of pictures and sound in kbit/s: those of the rung, but no more than looks
  /// like an original with few bits for its pixels.
  fileprivate func kilobits(of original: MediaTruth) -> (pictures: Int, sound: Int) {
    let most = Self.videoRungs.first { $0.0 == rung }?.1 ?? 0
    let mostOfSound = rung <= 240 ? 64 : 96
    guard let milliseconds = original.durationMilliseconds, milliseconds > 0,
      let fullWidth = original.width, let fullHeight = original.height
    else { return (most, mostOfSound) }
    let all = Double(original.bytes) * 8 / Double(milliseconds)
    let pixels = Double(width * height) / Double(fullWidth * fullHeight)
    let sound = min(Double(mostOfSound), max(all / 5, 32))
    let pictures =
      max(all - (original.hasSound == true ? sound : 0), 0) * pow(pixels, Self.bitsByPixelsExponent)
    return (Int(min(Double(most), max(pictures, 20))), Int(sound))
  }
}
