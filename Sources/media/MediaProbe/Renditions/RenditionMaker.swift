import Feed
import Glibc
import MediaFormats
import System

/// Has FFmpeg make renditions, in a process with limits, and looks into what came of it.
package struct RenditionMaker: Sendable {
  /// What making one rendition may cost.
  package struct Limits: Sendable, Hashable {
    /// How long it may take.
    package var timeMilliseconds = 3_600_000
    /// The address space of the program.
    package var memoryBytes = 2 << 30
    /// How nice the program is at the least.
    package var nice = 0

    /// The limits as they usually are.
    package init() {}
  }

  private let limits: Limits
  private let ffmpeg: String
  private let probe: MediaProbe

  /// The encoders of FFmpeg that renditions are made with.
  static let encoders = ["libwebp", "libwebp_anim", "libx264", "aac"]

  /// A maker with these limits.
  ///
  /// - Throws: `RenditionError` where there is no ffmpeg, or it lacks an encoder.
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

  /// Makes a rendition, and says what is known of it; nil where it would save less than a tenth of the
  /// original's bytes, and so is no use.
  ///
  /// - Parameters:
  ///   - truth: what is known of the original.
  ///   - output: an empty file, open for reading and writing.
  /// - Throws: `RenditionError`; then what is in the output is nothing.
  package func make(
    _ rendition: Rendition, of file: OpenFile, _ truth: MediaTruth, to output: Descriptor
  ) throws(RenditionError) -> MediaTruth? {
    var (file, structure) = (file, try Self.structure(of: file))
    let converted = try picture(of: file, structure)
    if let converted { (file, structure) = (converted.file, converted.structure) }
    let isAnimated = structure.kind == .animation
    guard let demuxer = Demuxer(structure.type, isAnimated: isAnimated) else { throw .notRead }
    // Without libheif: FFmpeg sees no transparency in them, and what it makes would be without.
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
    // It is ended where its file becomes larger.
    case .signalled(SIGXFSZ), .wroteTooMuch: return nil
    case .cancelled: throw .unreadable(.cancelled)
    case .timedOut: throw .timedOut(milliseconds: limits.timeMilliseconds)
    case .exited, .signalled:
      if words.tellsOfMissingMemory { throw .outOfMemory(limitBytes: limits.memoryBytes) }
      throw .failed(program: "ffmpeg", words.first)
    }
    guard let made = OpenFile(output) else { throw .unreadable(.notAFile) }
    // FFmpeg has just written it to its end: to start it once more, for the first frame, takes a tenth of a second.
    return try probe.look(at: made, rendition, of: truth, decodes: false)
  }

  private static func structure(of file: OpenFile) throws(RenditionError) -> MediaStructure {
    do {
      return try MediaStructure(reading: FileSource(file), limits: MediaLimits())
    } catch {
      throw .unreadable(ProbeError(error))
    }
  }

  /// An image of the HEIF family as libheif decodes it; nil for any other.
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
  /// What is known of a file that is said to be this rendition of a file of which that is known; nil where it
  /// has too many bytes to be of use. It has no placeholder: that of the original stands for both.
  ///
  /// - Throws: `RenditionError` where it is no such rendition.
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
  /// How much longer or shorter a video may be than its original, beside a tenth: a frame, or a last moment
  /// of sound.
  private static let durationMilliseconds = 500

  /// What of a file is not as the rendition is to be; nil where all is.
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
  /// What an operator can set: media files.
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
