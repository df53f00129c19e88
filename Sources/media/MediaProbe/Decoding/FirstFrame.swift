import MediaFormats
import System
import ThumbHash

/// What the first frame looks like, which shows that it decodes.
struct FirstFrame {
  /// Upright, as displayed, no side longer than 100; nil if there is none to see, or it is not known.
  var image: PixelImage?
  var notes: [ProbeNote] = []
}

/// Has FFmpeg decode the first frame of a file.
struct FrameDecoder {
  let tools: MediaTools
  let settings: ProbeSettings

  /// How much sound is as good as a first frame.
  private static let soundBytes = 1 << 20

  /// - Parameter file: the file, or as much of it as shows the first frame, each byte in its place.
  /// - Throws: `ProbeError` where it does not decode.
  func firstFrame(
    of file: OpenFile, _ structure: MediaStructure, _ size: PictureSize?
  ) throws(ProbeError) -> FirstFrame {
    guard let demuxer = Demuxer(structure.type, isAnimated: structure.kind == .animation) else {
      return FirstFrame()
    }
    guard let ffmpeg = tools.ffmpeg else { return FirstFrame(notes: [.noFFmpeg]) }
    if structure.kind == .sound {
      return FirstFrame(notes: try decodeSound(ffmpeg, file, demuxer))
    }
    guard let size else { return FirstFrame() }
    if let frame = try decodeHEIF(ffmpeg, file, structure, size) { return frame }
    if structure.kind == .animation, structure.type.value == "image/webp" {
      return try decodeWebP(ffmpeg, file, structure, size)
    }
    return try decode(
      ffmpeg, file, demuxer, structure, PictureFilter(size, structure))
  }

  /// Nil where it is no image that libheif is asked for.
  private func decodeHEIF(
    _ ffmpeg: String, _ file: OpenFile, _ structure: MediaStructure, _ size: PictureSize
  ) throws(ProbeError) -> FirstFrame? {
    do {
      guard let picture = try HEIFPicture(file, structure, tools, settings),
        let coded = picture.structure.codedSize, let demuxer = Demuxer(picture.structure.type)
      else { return nil }
      let filter = PictureFilter(
        PictureSize(shown: size.shown, coded: coded), picture.structure)
      return try decode(ffmpeg, picture.file, demuxer, picture.structure, filter)
    } catch let error as HEIFError {
      switch error {
      case .broken(let words): throw .undecodable(words)
      case .unsupported(let words): return FirstFrame(notes: [.decoderMissing(words)])
      case .outOfMemory:
        return FirstFrame(notes: [.decoderOutOfMemory(limitBytes: settings.memoryBytes)])
      case .timedOut: throw .decodingTimedOut(milliseconds: settings.timeMilliseconds)
      case .cancelled: throw .cancelled
      }
    } catch {
      throw ProbeError(error)
    }
  }

  private func decodeWebP(
    _ ffmpeg: String, _ file: OpenFile, _ structure: MediaStructure, _ size: PictureSize
  ) throws(ProbeError) -> FirstFrame {
    do {
      guard
        let still = try WebPStill(firstFrameOf: OpenFileSource(file: file, size: structure.bytes)),
        let demuxer = Demuxer(structure.type)
      else { throw ProbeError.undecodable("it has no frame") }
      let scratch = try ScratchFile(folder: settings.scratchFolder)
      try scratch.write(still.bytes, at: 0)
      let filter = PictureFilter(size, structure, still: still)
      return try decode(ffmpeg, scratch.file, demuxer, structure, filter)
    } catch {
      throw ProbeError(error)
    }
  }

  private func decode(
    _ ffmpeg: String, _ file: OpenFile, _ demuxer: Demuxer, _ structure: MediaStructure,
    _ filter: PictureFilter
  ) throws(ProbeError) -> FirstFrame {
    let arguments =
      Self.quiet + ["-max_alloc", "\(Self.largestBlock(filter.size, structure))"]
      + ["-threads", "1", "-noautorotate"] + demuxer.inputArguments + [
        "-map", "0:V:0", "-frames:v", "1", "-vf", filter.text, "-f", "rawvideo",
        "-pix_fmt", "rgba", "pipe:1",
      ]
    let outcome = try run(ffmpeg, arguments, file, outputBytes: filter.outputBytes)
    let words = FFmpegWords(outcome.errors)
    // Without libheif: HEIC and grids are beyond FFmpeg before 7.1, which then says anything of them.
    if demuxer.name == "mov", structure.kind == .image, outcome.end != .exited(0) {
      return FirstFrame(notes: [.decoderMissing(words.first)])
    }
    if let notes = try failure(outcome, words) { return FirstFrame(notes: notes) }
    if outcome.output.isEmpty {
      guard structure.frameCount == 0, words.isEmpty else { throw .undecodable(words.first) }
      return FirstFrame(notes: [.noFrame])
    }
    let orientation = structure.orientation
    guard
      let image = PixelImage(width: filter.width, height: filter.height, rgba: outcome.output)
    else {
      throw .unbelievable(
        program: "ffmpeg", "a frame of \(outcome.output.count) bytes, not \(filter.outputBytes)")
    }
    var frame = FirstFrame(
      image: image.turned(
        isMirrored: orientation.isMirrored,
        clockwiseQuarterTurns: orientation.clockwiseQuarterTurns))
    if !words.isEmpty { frame.notes.append(.decodedWithErrors(words.first)) }
    if structure.hasAlpha, demuxer.name == "mov", image.isOpaque {
      frame.notes.append(.transparencyNotDecoded)
    }
    return frame
  }

  private func decodeSound(
    _ ffmpeg: String, _ file: OpenFile, _ demuxer: Demuxer
  ) throws(ProbeError) -> [ProbeNote] {
    let arguments =
      Self.quiet + ["-threads", "1"] + demuxer.inputArguments
      + ["-map", "0:a:0", "-frames:a", "1", "-f", "s16le", "pipe:1"]
    let outcome = try run(ffmpeg, arguments, file, outputBytes: Self.soundBytes)
    let words = FFmpegWords(outcome.errors)
    if let notes = try failure(outcome, words) { return notes }
    guard !outcome.output.isEmpty else { throw .undecodable(words.first) }
    return words.isEmpty ? [] : [.decodedWithErrors(words.first)]
  }

  /// What FFmpeg may take of memory at one time: a frame of eight bytes a pixel, an image's bytes, and what it
  /// has of its own. Without that, 50 KB of compressed text in a PNG become 200 MB.
  private static func largestBlock(_ size: PictureSize, _ structure: MediaStructure) -> Int {
    let pixels = size.coded.width * size.coded.height
    let isImage = structure.kind == .image || structure.kind == .animation
    return (32 << 20) + 8 * pixels + (isImage ? Int(structure.bytes) : 0)
  }

  private static let quiet = ["-hide_banner", "-nostdin", "-v", "error", "-filter_threads", "1"]

  private func run(
    _ path: String, _ arguments: [String], _ file: OpenFile, outputBytes: Int
  ) throws(ProbeError) -> ChildProcess.Outcome {
    do throws(SystemError) {
      return try ChildProcess(
        path: path, arguments: arguments, environment: ["LC_ALL=C"],
        limits: .init(
          timeMilliseconds: settings.timeMilliseconds, memoryBytes: settings.memoryBytes,
          outputBytes: outputBytes)
      ).run(input: file, cancellation: settings.cancellation)
    } catch {
      throw .system(error)
    }
  }

  /// What a run that came to nothing says: of this FFmpeg, as notes, or of the file, as an error; nil where it
  /// ended well.
  private func failure(
    _ outcome: ChildProcess.Outcome, _ words: FFmpegWords
  ) throws(ProbeError) -> [ProbeNote]? {
    switch outcome.end {
    case .exited(0): return nil
    case .timedOut: throw .decodingTimedOut(milliseconds: settings.timeMilliseconds)
    case .cancelled: throw .cancelled
    case .wroteTooMuch: throw .unbelievable(program: "ffmpeg", "more than one frame")
    case .exited, .signalled:
      if words.tellsOfMissingMemory {
        return [.decoderOutOfMemory(limitBytes: settings.memoryBytes)]
      }
      if words.tellsOfMissingDecoder { return [.decoderMissing(words.first)] }
      if case .signalled(let number) = outcome.end {
        throw .undecodable("ffmpeg was killed by signal \(number)")
      }
      throw .undecodable(words.first)
    }
  }
}

extension PixelImage {
  /// Whether nothing shows through.
  fileprivate var isOpaque: Bool {
    stride(from: 3, to: rgba.count, by: 4).allSatisfy { rgba[$0] == 255 }
  }
}

/// A file as the parsers read it.
struct OpenFileSource: ByteSource {
  let file: OpenFile
  /// Of a piece by piece copy, the size of what it is a copy of.
  let size: Int64

  func bytes(at offset: Int64, count: Int) throws -> [UInt8] {
    try file.read(at: Int(offset), count: count)
  }
}

/// What FFmpeg writes to its standard error, for a person: bytes of a stranger's file may stand in it.
struct FFmpegWords {
  /// The first line, without who says it and of which file: `moov atom not found`.
  let first: String
  private let all: String

  /// How much of it is shown, in characters.
  private static let shownCharacters = 160

  init(_ errors: [UInt8]) {
    all = String(decoding: errors, as: UTF8.self)
    var line = all.split(whereSeparator: \.isNewline).first.map(String.init) ?? ""
    // `[mov,mp4,m4a,3gp,3g2,mj2 @ 0x5644e2d95d40] `
    if line.hasPrefix("["), let end = line.firstRange(of: "] ") {
      line.removeSubrange(..<end.upperBound)
    }
    line = line.replacing("file:/dev/fd/0: ", with: "")
    first = line.isEmpty ? "no message" : String(line.prefix(Self.shownCharacters))
  }

  var isEmpty: Bool { all.isEmpty }

  /// It is this FFmpeg that cannot do it, not the file that cannot be done.
  var tellsOfMissingDecoder: Bool {
    [
      "Decoder (codec", "Unknown decoder", "not implemented", "not currently supported",
      "error while loading shared libraries",
    ].contains { all.contains($0) }
  }

  /// It wanted more memory than it may have.
  var tellsOfMissingMemory: Bool {
    [
      "Cannot allocate memory", "Failed to allocate", "failed to allocate",
      // The dynamic linker's.
      "failed to map segment",
    ].contains { all.contains($0) }
  }
}

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
