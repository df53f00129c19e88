import MediaFormats
import System
import ThumbHash

/// The decoded first frame, which proves that it decodes.
struct FirstFrame {
  /// The upright picture as displayed, with sides of at most 100; nil if there is no picture, or it is unknown.
  var image: PixelImage?
  var notes: [ProbeNote] = []
}

/// Decodes the first frame of a file with FFmpeg.
struct FrameDecoder {
  let tools: MediaTools
  let settings: ProbeSettings

  /// The maximum size of the first frame of sound.
  private static let soundBytes = 1 << 20

  /// Decodes the first frame.
  ///
  /// - Parameter file: the file, or the pieces of it for the first frame, each in its place.
  /// - Throws: `ProbeError` if it does not decode.
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

  /// Returns nil if libheif does not apply to the image.
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
    // Without libheif: FFmpeg before 7.1 does not support HEIC and grids, and its
    // messages for them are arbitrary.
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

  /// Returns the largest block of memory that FFmpeg may allocate: a frame of eight bytes per pixel, an image's
  /// bytes, and FFmpeg's own use. Without this limit, 50 KB of compressed text in a PNG become 200 MB.
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

  /// Interprets a failed run: a failure of this FFmpeg returns notes, one of the file throws;
  /// nil if the run succeeded.
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
  /// Whether all pixels are opaque.
  fileprivate var isOpaque: Bool {
    stride(from: 3, to: rgba.count, by: 4).allSatisfy { rgba[$0] == 255 }
  }
}

/// An open file as the source of a parser.
struct OpenFileSource: ByteSource {
  let file: OpenFile
  /// The size; for a copy in pieces, that of the original.
  let size: Int64

  func bytes(at offset: Int64, count: Int) throws -> [UInt8] {
    try file.read(at: Int(offset), count: count)
  }
}

/// The standard error of FFmpeg, for the operator. It may contain bytes of an untrusted file.
struct FFmpegWords {
  /// The first line, without the names of the component and the file: `moov atom not found`.
  let first: String
  private let all: String

  /// The maximum number of characters shown.
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

  /// Whether FFmpeg lacks the decoder, as opposed to a broken file.
  var tellsOfMissingDecoder: Bool {
    [
      "Decoder (codec", "Unknown decoder", "not implemented", "not currently supported",
      "error while loading shared libraries",
    ].contains { all.contains($0) }
  }

  /// Whether FFmpeg exceeded its memory limit.
  var tellsOfMissingMemory: Bool {
    [
      "Cannot allocate memory", "Failed to allocate", "failed to allocate",
      // From the dynamic linker.
      "failed to map segment",
    ].contains { all.contains($0) }
  }
}

/// FFmpeg's reader of a format. It is set explicitly, so that FFmpeg does not guess: a playlist with the name
/// of a video would make it open other files.
struct Demuxer {
  /// The name for `ffmpeg -f`.
  let name: String

  /// Returns the reader of files of this type; nil if none may read them, such as SVG, which is never rendered.
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

  /// The arguments with which FFmpeg's programs read such a file from their standard input, seekable, and
  /// nothing else: no file name reaches them.
  var inputArguments: [String] {
    ["-protocol_whitelist", "file", "-f", name, "-i", "file:/dev/fd/0"]
  }
}
