import Glibc
import MediaFormats
import System

/// A still image of the HEIF family as a format that FFmpeg reads, upright and with its transparency, as
/// libheif decodes it (`heif-convert`, of Debian's package `libheif-examples`): FFmpeg reads HEIC and grids of
/// images from 7.1 on only, and sees none of their transparency.
struct HEIFPicture {
  let file: OpenFile
  let structure: MediaStructure

  /// The types of such images.
  static let mimeTypes = ["image/avif", "image/heic", "image/heif"]
  /// The pixels from which on what is opaque is written as JPEG of the best quality: to compress 12 million
  /// pixels without loss takes seconds.
  private static let pixelsWithoutLoss = 1 << 20
  /// What it may write beside eight bytes a pixel.
  private static let spareBytes = 1 << 20

  /// Nil where it is no such image, or libheif is not there: then FFmpeg is asked for what it can.
  ///
  /// - Throws: `HEIFError`, `SystemError`, or what the parser of the picture throws.
  init?(
    _ file: OpenFile, _ structure: MediaStructure, _ tools: MediaTools, _ settings: ProbeSettings
  ) throws {
    guard structure.kind == .image, Self.mimeTypes.contains(structure.type.value),
      let program = tools.heifConvert, let size = structure.codedSize
    else { return nil }
    let pixels = size.width * size.height
    let isLossless = structure.hasAlpha || pixels <= Self.pixelsWithoutLoss
    let scratch = try ScratchFile(folder: settings.scratchFolder)
    // The format is told by the name of the file, and the file has none.
    let name = try ScratchName(
      isLossless ? "picture.png" : "picture.jpg", folder: settings.scratchFolder,
      to: "/dev/fd/1")
    let outcome = try ChildProcess(
      path: program, arguments: ["--quiet", "-q", "100", "/dev/fd/0", name.path],
      // Arenas of its threads would use up the address space that it may have.
      environment: ["LC_ALL=C", "MALLOC_ARENA_MAX=1"],
      limits: .init(
        timeMilliseconds: settings.timeMilliseconds, memoryBytes: settings.memoryBytes,
        outputBytes: 8 * pixels + Self.spareBytes)
    ).run(input: file, output: scratch.descriptor, cancellation: settings.cancellation)
    try HEIFError.check(outcome, settings)
    guard let written = OpenFile(scratch.descriptor) else { throw ProbeError.notAFile }
    self.file = written
    // What EXIF says of turns is copied along, and does not count in HEIF, whose own turns are done.
    self.structure = try MediaStructure(reading: FileSource(written)).shownAsStored
  }
}

/// Why libheif shows nothing of an image.
enum HEIFError: Error {
  /// What it says of the file.
  case broken(String)
  /// What it cannot do, whatever the file.
  case unsupported(String)
  case outOfMemory
  case timedOut
  case cancelled

  /// - Throws: `HEIFError` where it did not end well.
  static func check(_ outcome: ChildProcess.Outcome, _ settings: ProbeSettings) throws(HEIFError) {
    let text = String(decoding: outcome.errors, as: UTF8.self)
    let words = FFmpegWords(outcome.errors)
    switch outcome.end {
    case .exited(0): return
    case .timedOut: throw .timedOut
    case .cancelled: throw .cancelled
    case .wroteTooMuch: throw .broken("libheif wrote more than the pixels need")
    case .signalled(let number) where !words.tellsOfMissingMemory && !text.contains("bad_alloc"):
      throw .broken("heif-convert was killed by signal \(number)")
    case .exited, .signalled:
      if words.tellsOfMissingMemory || text.contains("Memory allocation")
        || text.contains("bad_alloc")
      {
        throw .outOfMemory
      }
      if words.tellsOfMissingDecoder || text.contains("Unsupported") {
        throw .unsupported(words.first)
      }
      throw .broken(words.first)
    }
  }
}
