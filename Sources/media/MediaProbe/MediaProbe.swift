import Feed
import MediaFormats
import System

// Two parts inspect a file: `MediaFormats` parses its structure from a `ByteSource`, with bounds and without
// I/O; `MediaProbe` provides the bytes and runs a decoder. A local file is a `FileSource`. A URL is a
// `RemoteFile`, whose pieces are fetched on demand (`RangeClient` with curl; for an object store, its own
// client) and kept in a `ScratchFile` at their offsets, so that the decoder reads them like a local file
// (`PiecedFile`). `FrameDecoder` has ffmpeg decode the first frame: if it cannot, the file is broken,
// whatever its structure says (`ProbeError`); missing facts and the reasons are notes (`ProbeNote`).
// `PictureFilter` has the frame scaled down and `PixelImage` turns it, so that its ThumbHash is that of the
// upright picture. `MediaTruth` holds the facts, `PostJSON` writes them.
//
// Only `System.ChildProcess` runs other programs: with limits of time, memory and output, no files but
// three streams (the second may be a file to write), and sockets only if allowed; they end with the thread
// that waits for them. The library swift-subprocess does not build together with a module called `System`,
// which it takes for Apple's.

/// Determines facts about media files that clients cannot know.
///
/// The project's own parsers (`MediaFormats`), which are bounded and give exact numbers, read the file's
/// structure. Then FFmpeg, in a process with limits, has to decode the first frame: if it cannot, the file is
/// broken, whatever its structure says. The placeholder is made from that picture. For a URL, both use only
/// the few pieces that they need (`RemoteFile`).
package struct MediaProbe: Sendable {
  let settings: ProbeSettings
  let tools: MediaTools
  /// The limits for parsing a file.
  private let limits = MediaLimits()

  /// Creates a probe with these settings and programs.
  package init(settings: ProbeSettings = ProbeSettings(), tools: MediaTools = .installed()) {
    self.settings = settings
    self.tools = tools
  }

  /// Returns a copy that the cancellation ends, and that may keep its scratch files in another folder.
  package func cancelled(
    by cancellation: Cancellation, scratchFolder: String? = nil
  ) -> MediaProbe {
    var settings = settings
    settings.cancellation = cancellation
    settings.scratchFolder = scratchFolder ?? settings.scratchFolder
    return MediaProbe(settings: settings, tools: tools)
  }

  /// Whether this probe can determine more about a file than these facts, which were found without a decoder.
  package func knowsBetter(than truth: MediaTruth) -> Bool {
    guard let missing = truth.missingDecoder, tools.ffmpeg != nil else { return false }
    return missing == .ffmpeg || tools.heifConvert != nil
  }

  /// Returns the facts about a local file. The version is that of its content.
  package func probe(file path: String) throws(ProbeError) -> ProbeReport {
    let source = try FileSource(path: path)
    var report = try report(of: source, whole: source.file)
    report.truth.version = .content(sha256: try source.digest(settings))
    return report
  }

  /// Returns the SHA-256 of an open file.
  ///
  /// - Throws: `ProbeError.changed` if the file was written to since it was opened,
  ///   `tooLarge`, `readingTimedOut`.
  package func digest(of file: OpenFile) throws(ProbeError) -> [UInt8] {
    try FileSource(file).digest(settings)
  }

  /// Returns the facts about an open file whose content has this SHA-256; without decoding,
  /// those of its structure only.
  ///
  /// - Throws: `ProbeError.changed` if the file was written to since it was opened.
  package func probe(
    _ file: OpenFile, sha256: [UInt8], decodes: Bool = true
  ) throws(ProbeError) -> ProbeReport {
    let source = FileSource(file)
    var report: ProbeReport
    do throws(ProbeError) {
      report =
        decodes
        ? try self.report(of: source, whole: file)
        : ProbeReport(truth: MediaTruth(try structure(of: source)))
    } catch {
      // An error from a file that is being written does not mean that it is broken.
      try source.requireUnchanged()
      throw error
    }
    try source.requireUnchanged()
    report.truth.version = .content(sha256: sha256)
    return report
  }

  /// Returns the facts about the file at a URL, of which it reads as little as possible. The version is the
  /// one that the server states, or unknown.
  package func probe(url: String) throws(ProbeError) -> ProbeReport {
    do {
      guard let curl = tools.curl else { throw RemoteError.noCurl }
      let source = try RemoteFile(url, curl, settings)
      return try probe(source.file, version: source.version)
    } catch {
      throw ProbeError(error)
    }
  }

  /// Returns the facts about a remote file, of which it reads as little as possible.
  package func probe(
    _ file: PiecedFile, version: MediaVersion?
  ) throws(ProbeError) -> ProbeReport {
    do {
      let structure = try structure(of: file)
      var report = ProbeReport(truth: MediaTruth(structure))
      report.truth.version = version
      if let pieces = structure.piecesOfFirstFrame(within: settings.remoteBytes) {
        for piece in pieces { try file.fetch(piece) }
        try look(at: file.scratch.file, structure, into: &report)
      } else {
        report.notes.append(.tooLargeToFetch(limitBytes: settings.remoteBytes))
      }
      return report
    } catch {
      throw ProbeError(error)
    }
  }

  /// The maximum number of bytes read in pieces of a remote file, the maximum size of one that is read as a
  /// whole, and the folder for both.
  package var remoteLimits: (bytes: Int, wholeBytes: Int, scratchFolder: String) {
    (settings.remoteBytes, settings.fileBytes, settings.scratchFolder)
  }

  /// The cancellation that ends all work of the probe.
  package var cancellation: Cancellation? { settings.cancellation }

  private func report(
    of source: FileSource, whole file: OpenFile
  ) throws(ProbeError) -> ProbeReport {
    let structure: MediaStructure
    do throws(ProbeError) {
      structure = try self.structure(of: source)
    } catch {
      // FFmpeg may support a format that this project does not.
      if let report = try FFprobe(tools, settings)?.report(of: file, insteadOf: error) {
        return report
      }
      throw error
    }
    var report = ProbeReport(truth: MediaTruth(structure))
    try look(at: file, structure, into: &report)
    return report
  }

  private func structure(of source: some ByteSource) throws(ProbeError) -> MediaStructure {
    let structure: MediaStructure
    do {
      structure = try MediaStructure(reading: source, limits: limits)
    } catch {
      throw ProbeError(error)
    }
    for flaw in structure.flaws {
      switch flaw {
      case .cutShort(let neededBytes):
        throw .cutShort(bytes: Int(structure.bytes), neededBytes: Int(neededBytes))
      }
    }
    return structure
  }

  private func look(
    at file: OpenFile, _ structure: MediaStructure, into report: inout ProbeReport
  ) throws(ProbeError) {
    defer { if !structure.start.isStartable { report.notes.append(.tablesBehind) } }
    // A decoder would report an encrypted file as broken, or show a wrong picture.
    if structure.isEncrypted {
      report.notes.append(.encrypted)
      return
    }
    let size = try size(of: file, structure, into: &report)
    let frame = try FrameDecoder(tools: tools, settings: settings)
      .firstFrame(of: file, structure, size)
    report.truth.placeholder = frame.image.flatMap { MediaPlaceholder($0) }
    report.notes += frame.notes
    if frame.notes.contains(.noFFmpeg) {
      report.truth.missingDecoder = .ffmpeg
    } else if tools.heifConvert == nil, !frame.notes.isEmpty,
      HEIFPicture.mimeTypes.contains(structure.type.value)
    {
      report.truth.missingDecoder = .heifConvert
    }
  }
}

extension MediaProbe {
  /// Returns the size of a file's pictures. If the container does not state it, ffprobe finds it in the
  /// pictures. Nil for sound, for formats that are not decoded, and if it is unknown, which is noted.
  private func size(
    of file: OpenFile, _ structure: MediaStructure, into report: inout ProbeReport
  ) throws(ProbeError) -> PictureSize? {
    if let shown = structure.displaySize, let coded = structure.codedSize {
      return PictureSize(shown: shown, coded: coded)
    }
    guard structure.kind != .sound, let demuxer = Demuxer(structure.type) else { return nil }
    let answer = try FFprobe(tools, settings)?.ask(file, demuxer)
    guard let shown = answer?.picture?.displaySize, let coded = answer?.picture?.codedSize else {
      report.notes.append(.noSize)
      return nil
    }
    report.notes.append(.sizeFromFFprobe)
    report.truth.width = shown.width
    report.truth.height = shown.height
    return PictureSize(shown: shown, coded: coded)
  }
}

extension MediaStructure {
  /// Returns the ranges from which FFmpeg decodes the first frame: all of an image, and the needed ranges of
  /// a video. Nil if they exceed this many bytes.
  fileprivate func piecesOfFirstFrame(within limitBytes: Int) -> [Range<Int>]? {
    let isImage = kind == .image || kind == .animation
    let pieces =
      isImage || start.neededRanges.isEmpty
      ? [0..<Int(isImage ? bytes : start.headBytes)]
      : start.neededRanges.map { Int($0.lowerBound)..<Int($0.upperBound) }
    return pieces.reduce(0) { $0 + $1.count } <= limitBytes ? pieces : nil
  }
}

/// Limits of probing a file, and the allowed URLs.
package struct ProbeSettings: Sendable, Hashable {
  /// The maximum time to decode a file's first frame, and to fetch all that is read of a URL; each on its own.
  package var timeMilliseconds = 10_000
  /// The maximum size of a local file.
  package var fileBytes = 16 << 30
  /// The maximum time to read a whole local file.
  package var readMilliseconds = 120_000
  /// The address space of each program: decoding needs some 300 MB of it for any file,
  /// most of which is never used.
  package var memoryBytes = 512 << 20
  /// The maximum number of bytes read of one URL.
  package var remoteBytes = 32 << 20
  /// The folder for pieces of URLs, in files without a name.
  package var scratchFolder = "/tmp"
  /// The hosts that URLs may name; if empty, no host is allowed.
  package var allowedHosts: [HostPattern] = []
  /// Whether hosts may be this machine or in its networks.
  package var allowsPrivateAddresses = false
  /// The cancellation that ends all work; nil for none.
  package var cancellation: Cancellation?

  /// Creates the default settings.
  package init() {}
}

/// The programs for decoding and fetching, as in Debian's packages `ffmpeg`, `curl` and `libheif-examples`.
/// Each may be missing; the facts that require it are then unknown, which is noted.
package struct MediaTools: Sendable, Hashable {
  /// The path of ffmpeg, which decodes.
  package var ffmpeg: String?
  /// The path of ffprobe, which lists streams and packets.
  package var ffprobe: String?
  /// The path of curl, which fetches.
  package var curl: String?
  /// The path of heif-convert, which decodes images of the HEIF family completely.
  package var heifConvert: String?

  /// Creates tools with programs at these paths.
  package init(
    ffmpeg: String? = nil, ffprobe: String? = nil, curl: String? = nil, heifConvert: String? = nil
  ) {
    self.ffmpeg = ffmpeg
    self.ffprobe = ffprobe
    self.curl = curl
    self.heifConvert = heifConvert
  }

  /// Returns the programs in the folders of `PATH`.
  package static func installed() -> MediaTools {
    MediaTools(
      ffmpeg: ChildProcess.path(ofProgram: "ffmpeg"),
      ffprobe: ChildProcess.path(ofProgram: "ffprobe"),
      curl: ChildProcess.path(ofProgram: "curl"),
      heifConvert: ChildProcess.path(ofProgram: "heif-convert"))
  }
}
