import Feed
import Glibc
import MediaFormats
import System

/// Makes renditions with FFmpeg, in a process with limits, and probes the results.
package struct RenditionMaker: Sendable {
  /// The limits for making one rendition.
  package struct Limits: Sendable, Hashable {
    /// The maximum time.
    package var timeMilliseconds = 3_600_000
    /// The address space of the program.
    package var memoryBytes = 2 << 30
    /// The minimum niceness of the program.
    package var nice = 0

    /// Creates the default limits.
    package init() {}
  }

  private let limits: Limits
  private let ffmpeg: String
  private let probe: MediaProbe

  /// The encoders of FFmpeg for renditions.
  static let encoders = ["libwebp", "libwebp_anim", "libx264", "aac"]

  /// Creates a maker with these limits.
  ///
  /// - Throws: `RenditionError` if ffmpeg is missing, or lacks an encoder.
  package init(probe: MediaProbe, limits: Limits = Limits()) throws(RenditionError) {
    guard let ffmpeg = probe.tools.ffmpeg else { throw .noFFmpeg }
    (self.limits, self.ffmpeg, self.probe) = (limits, ffmpeg, probe)
    let outcome = try Self.run(
      ffmpeg, ["-hide_banner", "-v", "error", "-encoders"],
      .init(timeMilliseconds: 10_000, memoryBytes: limits.memoryBytes, outputBytes: 1 << 20))
    let words = Set(String(decoding: outcome.output, as: UTF8.self).split { $0.isWhitespace })
    let missing = Self.encoders.filter { !words.contains($0[...]) }
    guard missing.isEmpty else { throw .noEncoder(missing) }
  }

  /// Makes a rendition and returns the facts about it; nil if it would save less than a tenth
  /// of the original's bytes.
  ///
  /// - Parameters:
  ///   - truth: the facts about the original.
  ///   - output: an empty file, open for reading and writing.
  /// - Throws: `RenditionError`; then the content of the output is undefined.
  package func make(
    _ rendition: Rendition, of file: OpenFile, _ truth: MediaTruth, to output: Descriptor
  ) throws(RenditionError) -> MediaTruth? {
    var (file, structure) = (file, try Self.structure(of: file))
    let converted = try picture(of: file, structure)
    if let converted { (file, structure) = (converted.file, converted.structure) }
    let isAnimated = structure.kind == .animation
    guard let demuxer = Demuxer(structure.type, isAnimated: isAnimated) else { throw .notRead }
    // Without libheif: FFmpeg does not decode their transparency, so the result would lack it.
    if structure.hasAlpha, demuxer.name == "mov", rendition.coding != .video {
      throw .transparencyNotDecoded
    }
    let arguments = RenditionArguments(rendition, structure, of: truth, demuxer).all
    var use = ChildProcess.Limits(
      timeMilliseconds: limits.timeMilliseconds, memoryBytes: limits.memoryBytes,
      outputBytes: Rendition.mostBytes(of: truth))
    use.nice = limits.nice
    let outcome = try Self.run(
      ffmpeg, arguments, use, input: file, output: output,
      cancellation: probe.settings.cancellation)
    let words = FFmpegWords(outcome.errors)
    switch outcome.end {
    case .exited(0): break
    // The limit on the file's size ended FFmpeg.
    case .signalled(SIGXFSZ), .wroteTooMuch: return nil
    case .cancelled: throw .unreadable(.cancelled)
    case .timedOut: throw .timedOut(milliseconds: limits.timeMilliseconds)
    case .exited, .signalled:
      if words.tellsOfMissingMemory { throw .outOfMemory(limitBytes: limits.memoryBytes) }
      throw .failed(program: "ffmpeg", words.first)
    }
    guard let made = OpenFile(output) else { throw .unreadable(.notAFile) }
    // FFmpeg has just written the file completely, and another start to decode the first frame
    // takes a tenth of a second.
    return try probe.look(at: made, rendition, of: truth, decodes: false)
  }

  private static func structure(of file: OpenFile) throws(RenditionError) -> MediaStructure {
    do {
      return try MediaStructure(reading: FileSource(file), limits: MediaLimits())
    } catch {
      throw .unreadable(ProbeError(error))
    }
  }

  /// Returns a HEIF image as decoded by libheif; nil for any other.
  private func picture(
    of file: OpenFile, _ structure: MediaStructure
  ) throws(RenditionError) -> HEIFPicture? {
    do {
      return try HEIFPicture(file, structure, probe.tools, probe.settings)
    } catch let error as HEIFError {
      switch error {
      case .broken(let words), .unsupported(let words):
        throw .failed(program: "heif-convert", words)
      case .outOfMemory: throw .outOfMemory(limitBytes: probe.settings.memoryBytes)
      case .timedOut: throw .timedOut(milliseconds: probe.settings.timeMilliseconds)
      case .cancelled: throw .unreadable(.cancelled)
      }
    } catch {
      throw .unreadable(ProbeError(error))
    }
  }

  private static func run(
    _ ffmpeg: String, _ arguments: [String], _ limits: ChildProcess.Limits,
    input: OpenFile? = nil, output: Descriptor? = nil, cancellation: Cancellation? = nil
  ) throws(RenditionError) -> ChildProcess.Outcome {
    do throws(SystemError) {
      return try ChildProcess(
        path: ffmpeg, arguments: arguments, environment: ["LC_ALL=C"], limits: limits
      ).run(input: input, output: output, cancellation: cancellation)
    } catch {
      throw .system(error)
    }
  }
}

extension MediaProbe {
  /// Returns the facts about a file that should be this rendition of an original with those facts; nil if it
  /// is too large to be of use. It has no placeholder: that of the original applies to both.
  ///
  /// - Throws: `RenditionError` if the file is not such a rendition.
  package func look(
    at file: OpenFile, _ rendition: Rendition, of original: MediaTruth, decodes: Bool = true
  ) throws(RenditionError) -> MediaTruth? {
    guard file.size <= Rendition.mostBytes(of: original) else { return nil }
    var truth: MediaTruth
    do throws(ProbeError) {
      truth = try probe(file, sha256: try digest(of: file), decodes: decodes).truth
    } catch {
      throw .unreadable(error)
    }
    truth.placeholder = nil
    if let words = rendition.difference(from: truth, of: original) { throw .unlike(words) }
    return truth
  }
}

extension Rendition {
  /// The tolerance for a video's duration beyond a tenth: a frame, or a last moment of sound.
  private static let durationMilliseconds = 500

  /// Returns the difference between a file and this rendition; nil if there is none.
  fileprivate func difference(from truth: MediaTruth, of original: MediaTruth) -> String? {
    if truth.kind != original.kind { return "it is \(truth.kind.rawValue)" }
    if truth.mimeType != mimeType { return "its type is \(truth.mimeType)" }
    if truth.width != width || truth.height != height {
      return "it is \(truth.width ?? 0) × \(truth.height ?? 0), not \(width) × \(height)"
    }
    if let (field, words) = truth.problem { return "its \(field) \(words)" }
    guard coding == .video else { return nil }
    if truth.start?.isStartable != true { return "its beginning alone does not start it" }
    if truth.hasSound != original.hasSound { return "one has sound, the other has none" }
    guard let long = original.durationMilliseconds, let own = truth.durationMilliseconds else {
      return nil
    }
    let difference = own > long ? own - long : long - own
    return difference <= long / 10 + Self.durationMilliseconds
      ? nil : "it plays for \(own) ms, not \(long) ms"
  }
}

extension RenditionMaker.Limits {
  /// The settings that an operator can change, in the group of media files.
  package static let numbers: [SettableNumber<Self>] = [
    .init(
      "rendition-timeout-milliseconds", 1...Most.dayMilliseconds, \.timeMilliseconds,
      "Time to make one rendition, without the time in which no processor is free."),
    .init(
      "rendition-memory-bytes", (1 << 20)...Most.tebibyte, \.memoryBytes,
      "Address space of each program that makes a rendition."),
    .init(
      "rendition-nice", 0...19, \.nice,
      "Niceness of the programs that make renditions; at 19 they have a processor only while no other process wants it."
    ),
  ]
}
