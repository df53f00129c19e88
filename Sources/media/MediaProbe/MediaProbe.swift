import Feed
import MediaFormats
import System

// What a file holds is told by two: `MediaFormats` reads its structure, over a `ByteSource`,
// bounded and without I/O, and `MediaProbe` brings the bytes and asks a decoder. A file of this
// machine is a `FileSource`; a URL is a `RemoteFile`, whose pieces are fetched as they are asked
// for (`RangeClient`, curl; of an object store by its own client) and kept in a `ScratchFile`, each in
// its place, so that the decoder reads them as if the file were there (`PiecedFile`). `FrameDecoder` has ffmpeg decode the first frame: if it
// cannot, the file is broken, whatever its structure says (`ProbeError`); what is not known, and
// why, are notes (`ProbeNote`). `PictureFilter` has the frame made small and `PixelImage` turns
// it, so that its ThumbHash is of the upright picture. `MediaTruth` holds all of it, `PostJSON`
// writes it.
//
// Other programs are run by `System.ChildProcess` and nothing else: limits of time, memory and
// output, no files but three streams (the second may be a file to be written), no sockets unless
// they are to have them, and the end of the thread that waits is theirs. The library swift-
// subprocess does not build beside a module called `System`, which it takes for Apple's.

/// Finds out about media files what clients cannot know.
///
/// Theory of operation. The file's structure is read by our own parsers (`MediaFormats`), which are bounded
/// and give exact numbers. FFmpeg, in a process with limits, then has to decode the first frame: a file of
/// which it cannot is broken, whatever its structure says, and of the picture the placeholder is made. Of a
/// URL both are done with the few pieces that they need (`RemoteFile`).
package struct MediaProbe: Sendable {
  let settings: ProbeSettings
  let tools: MediaTools
  /// What is looked at in a file at the most.
  private let limits = MediaLimits()

  /// A probe with these settings and programs.
  package init(settings: ProbeSettings = ProbeSettings(), tools: MediaTools = .installed()) {
    self.settings = settings
    self.tools = tools
  }

  /// The same, which ends when it is told to, and may keep what it works on in another folder.
  package func cancelled(
    by cancellation: Cancellation, scratchFolder: String? = nil
  ) -> MediaProbe {
    var settings = settings
    settings.cancellation = cancellation
    settings.scratchFolder = scratchFolder ?? settings.scratchFolder
    return MediaProbe(settings: settings, tools: tools)
  }

  /// Whether more can be told of a file than what is known of it, which was found out without a decoder.
  package func knowsBetter(than truth: MediaTruth) -> Bool {
    guard let missing = truth.missingDecoder, tools.ffmpeg != nil else { return false }
    return missing == .ffmpeg || tools.heifConvert != nil
  }

  /// What is known of a file of this machine. Its version is its content's.
  package func probe(file path: String) throws(ProbeError) -> ProbeReport {
    let source = try FileSource(path: path)
    var report = try report(of: source, whole: source.file)
    report.truth.version = .content(sha256: try source.digest(settings))
    return report
  }

  /// The SHA-256 of all of an open file.
  ///
  /// - Throws: `ProbeError.changed` where it was written to since it was opened, `tooLarge`, `readingTimedOut`.
  package func digest(of file: OpenFile) throws(ProbeError) -> [UInt8] {
    try FileSource(file).digest(settings)
  }

  /// What is known of an open file whose content has this SHA-256; where nothing is to be decoded, of its
  /// structure alone.
  ///
  /// - Throws: `ProbeError.changed` where it was written to since it was opened.
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
      // What was read of a file that is being written is no reason to call it broken.
      try source.requireUnchanged()
      throw error
    }
    try source.requireUnchanged()
    report.truth.version = .content(sha256: sha256)
    return report
  }

  /// What is known of the file that a URL names, of which no more is read than that takes. Its version is what
  /// its server calls it, or unknown.
  package func probe(url: String) throws(ProbeError) -> ProbeReport {
    do {
      guard let curl = tools.curl else { throw RemoteError.noCurl }
      let source = try RemoteFile(url, curl, settings)
      return try probe(source.file, version: source.version)
    } catch {
      throw ProbeError(error)
    }
  }

  /// What is known of a file that lies somewhere else, of which no more is read than that takes.
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

  /// How much of a file that lies somewhere else is read, of how large a one all, and where it is kept meanwhile.
  package var remoteLimits: (bytes: Int, wholeBytes: Int, scratchFolder: String) {
    (settings.remoteBytes, settings.fileBytes, settings.scratchFolder)
  }

  /// By which all that is under way is given up.
  package var cancellation: Cancellation? { settings.cancellation }

  private func report(
    of source: FileSource, whole file: OpenFile
  ) throws(ProbeError) -> ProbeReport {
    let structure: MediaStructure
    do throws(ProbeError) {
      structure = try self.structure(of: source)
    } catch {
      // A format that is not read here may be one of FFmpeg's.
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
    // A decoder would take what is encrypted for broken, or show what it is not.
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
  /// The size of a file's pictures: where it is not written down in its container, as ffprobe finds it within
  /// the pictures. Nil for sound, for what is not decoded, and where it is unknown, which is noted.
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
  /// What has to be there of a file so that FFmpeg decodes its first frame: of an image all of it, of a video
  /// what its structure names. Nil where that is more than this many bytes.
  fileprivate func piecesOfFirstFrame(within limitBytes: Int) -> [Range<Int>]? {
    let isImage = kind == .image || kind == .animation
    let pieces =
      isImage || start.neededRanges.isEmpty
      ? [0..<Int(isImage ? bytes : start.headBytes)]
      : start.neededRanges.map { Int($0.lowerBound)..<Int($0.upperBound) }
    return pieces.reduce(0) { $0 + $1.count } <= limitBytes ? pieces : nil
  }
}

/// What probing a file may cost, and which URLs may be asked.
package struct ProbeSettings: Sendable, Hashable {
  /// How long decoding a file's first frame may take, and fetching all that is read of a URL: each.
  package var timeMilliseconds = 10_000
  /// A larger file of this machine is not looked into.
  package var fileBytes = 16 << 30
  /// How long reading all of a file of this machine may take.
  package var readMilliseconds = 120_000
  /// The address space of each program that is run: decoding needs some 300 MB of it whatever the file,
  /// most of which is never used.
  package var memoryBytes = 512 << 20
  /// How much of one URL is read.
  package var remoteBytes = 32 << 20
  /// Where pieces of URLs are kept while they are looked at, in files without a name.
  package var scratchFolder = "/tmp"
  /// The hosts that URLs may name: without any, none.
  package var allowedHosts: [HostPattern] = []
  /// Whether hosts may be this machine or in its networks.
  package var allowsPrivateAddresses = false
  /// By which all that is under way is given up; nil for never.
  package var cancellation: Cancellation?

  /// The settings as they usually are.
  package init() {}
}

/// The programs that decode and that fetch, as Debian's packages `ffmpeg`, `curl` and
/// `libheif-examples` bring them. Each may be
/// missing: then what it would have told is not known, and that is said.
package struct MediaTools: Sendable, Hashable {
  /// Decodes.
  package var ffmpeg: String?
  /// Lists streams and packets.
  package var ffprobe: String?
  /// Fetches.
  package var curl: String?
  /// Decodes images of the HEIF family with all that belongs to them.
  package var heifConvert: String?

  /// Programs at these paths.
  package init(
    ffmpeg: String? = nil, ffprobe: String? = nil, curl: String? = nil, heifConvert: String? = nil
  ) {
    self.ffmpeg = ffmpeg
    self.ffprobe = ffprobe
    self.curl = curl
    self.heifConvert = heifConvert
  }

  /// Those in the folders of `PATH`.
  package static func installed() -> MediaTools {
    MediaTools(
      ffmpeg: ChildProcess.path(ofProgram: "ffmpeg"),
      ffprobe: ChildProcess.path(ofProgram: "ffprobe"),
      curl: ChildProcess.path(ofProgram: "curl"),
      heifConvert: ChildProcess.path(ofProgram: "heif-convert"))
  }
}
