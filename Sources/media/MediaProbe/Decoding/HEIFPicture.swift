import Glibc
import MediaFormats
import System

/// A still image of the HEIF family, converted to a format that FFmpeg reads, upright and with its
/// transparency. libheif decodes it (`heif-convert`, in Debian's package `libheif-examples`), because FFmpeg
/// reads HEIC and grids of images only since 7.1, and without their transparency.
struct HEIFPicture {
  let file: OpenFile
  let structure: MediaStructure

  /// The types of such images.
  static let mimeTypes = ["image/avif", "image/heic", "image/heif"]
  /// The number of pixels from which an opaque image is converted to JPEG of the best quality: lossless
  /// compression of 12 million pixels takes seconds.
  private static let pixelsWithoutLoss = 1 << 20
  /// The maximum size of the output beyond eight bytes per pixel.
  private static let spareBytes = 1 << 20

  /// Converts an image; returns nil if it is of another kind, or libheif is not installed: then
  /// FFmpeg decodes what it can.
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
    // `heif-convert` takes the format from a file name, and the scratch file has none.
    let name = try ScratchName(
      isLossless ? "picture.png" : "picture.jpg", folder: settings.scratchFolder,
      to: "/dev/fd/1")
    let outcome = try ChildProcess(
      path: program, arguments: ["--quiet", "-q", "100", "/dev/fd/0", name.path],
      // Malloc arenas of its threads would use up its address space.
      environment: ["LC_ALL=C", "MALLOC_ARENA_MAX=1"],
      limits: .init(
        timeMilliseconds: settings.timeMilliseconds, memoryBytes: settings.memoryBytes,
        outputBytes: 8 * pixels + Self.spareBytes)
    ).run(input: file, output: scratch.descriptor, cancellation: settings.cancellation)
    try HEIFError.check(outcome, settings)
    guard let written = OpenFile(scratch.descriptor) else { throw ProbeError.notAFile }
    self.file = written
    // `heif-convert` copies EXIF's orientation, which HEIF ignores, and has already applied HEIF's own turns.
    self.structure = try MediaStructure(reading: FileSource(written)).shownAsStored
  }
}

/// The reason why libheif decodes no picture.
enum HEIFError: Error {
  /// The file is broken; the value is the message of libheif.
  case broken(String)
  /// libheif does not support such files; the value is its message.
  case unsupported(String)
  case outOfMemory
  case timedOut
  case cancelled

  /// Checks the outcome of a run.
  ///
  /// - Throws: `HEIFError` if the run failed.
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
