import Feed
import Foundation
import System
import TestSupport
import Testing

@testable import MediaFormats
@testable import MediaProbe
@testable import ThumbHash

/// Files of this machine are told what they are, and broken ones what is wrong with them.
@Suite struct FileProbeTests {
  private static let probe = MediaProbe()

  @Test func `a clip is told with its first frame, its sound and its version`() throws {
    let report = try Self.probe.probe(file: MadeMedia.clip)
    let truth = report.truth
    #expect(report.notes == [])
    #expect(truth.kind == .video && truth.mimeType == "video/mp4")
    #expect(truth.codec == "h264" && truth.soundCodec == "aac" && truth.hasSound == true)
    #expect(truth.width == 160 && truth.height == 90)
    let bytes = try MadeMedia.bytes(MadeMedia.clip)
    #expect(truth.bytes == bytes.count)
    #expect(truth.placeholder != nil)
    let start = try #require(truth.start)
    #expect(start.isStartable && start.problem(fileBytes: truth.bytes) == nil)
    guard case .content(let digest) = truth.version else { throw ProbeError.changed }
    #expect(digest.count == 32)
    let copy = TemporaryFolder()
    try Data(bytes).write(to: URL(fileURLWithPath: copy.file("other-name.gif")))
    #expect(try Self.probe.probe(file: copy.file("other-name.gif")) == report)
  }

  @Test func `an encrypted clip says so, tells its start and has no placeholder`() throws {
    let report = try Self.probe.probe(file: MadeMedia.encryptedClip)
    let (truth, clear) = (report.truth, try Self.probe.probe(file: MadeMedia.clip).truth)
    #expect(report.notes == [.encrypted])
    #expect(truth.isEncrypted && !clear.isEncrypted && truth.placeholder == nil)
    #expect(truth.codec == "h264" && truth.soundCodec == "aac")
    #expect([truth.width, truth.height] == [160, 90])
    #expect(truth.start?.isStartable == true && truth.start?.curve.isEmpty == false)
    #expect(Rendition.ladder(of: truth).isEmpty)
  }

  @Test func `a clip with its tables behind looks the same, and says how it is mended`() throws {
    let report = try Self.probe.probe(file: MadeMedia.clipWithTablesBehind)
    #expect(report.notes == [.tablesBehind])
    #expect(report.notes[0].description.contains("lookahead media faststart"))
    #expect(report.truth.start?.isStartable == false)
    #expect(report.truth.start?.neededRanges.isEmpty == false)
    let front = try Self.probe.probe(file: MadeMedia.clip).truth
    #expect(report.truth.placeholder == front.placeholder)
  }

  @Test func `each kind of file has what can be known of it`() throws {
    let known: [(path: String, kind: MediaTruth.Kind, type: String, codec: String?, size: [Int?])] =
      [
        (MadeMedia.twoColors, .image, "image/png", "png", [300, 200]),
        (MadeMedia.halfClear, .image, "image/png", "png", [400, 400]),
        (MadeMedia.turnedClip, .video, "video/mp4", "h264", [200, 300]),
        (MadeMedia.animatedWebP, .animation, "image/webp", "webp", [160, 120]),
        (MadeMedia.gif, .animation, "image/gif", "gif", [64, 48]),
        (MadeMedia.jpeg, .image, "image/jpeg", "mjpeg", [320, 200]),
        (MadeMedia.webM, .video, "video/webm", "vp8", [64, 48]),
        (MadeMedia.sound, .sound, "audio/mpeg", nil, [nil, nil]),
      ]
    for (path, kind, type, codec, size) in known {
      let report = try Self.probe.probe(file: path)
      let truth = report.truth
      #expect(truth.kind == kind && truth.mimeType == type && truth.codec == codec, "\(path)")
      #expect([truth.width, truth.height] == size, "\(path)")
      #expect((truth.placeholder != nil) == (kind != .sound), "\(path)")
      #expect((truth.durationMilliseconds == nil) == (kind == .image), "\(path)")
    }
  }

  private static func frame(_ path: String) throws -> PixelImage {
    let source = try FileSource(path: path)
    let structure = try MediaStructure(reading: source)
    let decoder = FrameDecoder(tools: .installed(), settings: ProbeSettings())
    let size = PictureSize(
      shown: try #require(structure.displaySize), coded: try #require(structure.codedSize))
    return try #require(try decoder.firstFrame(of: source.file, structure, size).image)
  }

  private static func color(_ image: PixelImage, _ x: Int, _ y: Int) -> [UInt8] {
    let offset = (y * image.width + x) * 4
    return Array(image.rgba[offset..<offset + 4])
  }

  @Test func `a frame is upright, and no side is longer than a hundred`() throws {
    let upright = try Self.frame(MadeMedia.twoColors)
    #expect(upright.width == 100 && upright.height == 67)
    #expect(Self.color(upright, 10, 33) == [255, 0, 0, 255])
    #expect(Self.color(upright, 90, 33) == [0, 0, 255, 255])
    // Turned clockwise, what was on the left is above.
    let turned = try Self.frame(MadeMedia.turnedClip)
    #expect(turned.width == 67 && turned.height == 100)
    #expect(Self.color(turned, 33, 10)[0] > 200 && Self.color(turned, 33, 90)[2] > 200)
  }

  /// EXIF 2.32, section 4.6.4: where the first row and the first column of what is stored are shown.
  @Test(arguments: [
    (1, "rg/bw"), (2, "gr/wb"), (3, "wb/gr"), (4, "bw/rg"), (5, "rb/gw"), (6, "br/wg"),
    (7, "wg/br"), (8, "gw/rb"),
  ])
  func `a photo is turned as its camera says`(orientation: UInt8, expected: String) throws {
    let tags: [UInt8] =
      Array("Exif".utf8) + [0, 0] + Array("MM".utf8) + [0, 42, 0, 0, 0, 8, 0, 1, 1, 0x12, 0, 3]
      + [0, 0, 0, 1, 0, orientation, 0, 0, 0, 0, 0, 0]
    let segment: [UInt8] = [0xff, 0xe1, 0, UInt8(tags.count + 2)] + tags
    let bytes = try MadeMedia.bytes(MadeMedia.quarters)
    let folder = TemporaryFolder()
    try Data(bytes[..<2] + segment + bytes[2...])
      .write(to: URL(fileURLWithPath: folder.file("photo")))
    let image = try Self.frame(folder.file("photo"))
    #expect((image.width > image.height) == (orientation < 5))
    let letters = [1, 3].map { y in
      [1, 3].map { x in
        let color = Self.color(image, x * image.width / 4, y * image.height / 4)
        let bright = color.prefix(3).map { $0 > 127 }
        return switch bright {
        case [true, false, false]: "r"
        case [false, true, false]: "g"
        case [false, false, true]: "b"
        case [true, true, true]: "w"
        default: "?"
        }
      }.joined()
    }
    #expect(letters.joined(separator: "/") == expected)
  }

  @Test func `a size that the container does not say is found within the pictures`() throws {
    var bytes = try MadeMedia.bytes(MadeMedia.clip)
    // Width and height of the sample entry (ISO/IEC 14496-12 section 12.1.3) and of the first track's header.
    let entry = try #require(bytes.ranges(of: "avc1".utf8).last).upperBound
    let header = try #require(bytes.firstRange(of: "tkhd".utf8)).upperBound
    for index in Array(entry + 24..<entry + 28) + Array(header + 76..<header + 84) {
      bytes[index] = 0
    }
    let folder = TemporaryFolder()
    let path = folder.file("unsized.mp4")
    try Data(bytes).write(to: URL(fileURLWithPath: path))
    let report = try Self.probe.probe(file: path)
    #expect(report.notes == [.sizeFromFFprobe])
    #expect(report.truth.width == 160 && report.truth.height == 90)
    #expect(
      report.truth.placeholder == (try Self.probe.probe(file: MadeMedia.clip).truth.placeholder))
    let bare = try MediaProbe(tools: MediaTools()).probe(file: path)
    #expect(bare.notes.contains(.noSize) && bare.truth.width == nil)
  }

  @Test func `a format that is not read here is told by ffprobe, without what it cannot know`()
    throws
  {
    let report = try Self.probe.probe(file: MadeMedia.transportStream)
    let truth = report.truth
    #expect(report.notes == [.structureFromFFprobe])
    #expect(truth.kind == .video && truth.mimeType == "video/mp2t" && truth.start == nil)
    #expect(truth.width == 160 && truth.height == 90 && truth.codec == "h264")
    #expect(truth.soundCodec == "aac" && truth.version != nil)
    let error = #expect(throws: ProbeError.self) {
      try MediaProbe(tools: MediaTools()).probe(file: MadeMedia.transportStream)
    }
    #expect(error?.description == "the file has type video/mp2t, which is not supported")
  }

  @Test func `what is not seen gives its colour to nothing`() throws {
    let image = try Self.frame(MadeMedia.halfClear)
    // 201 of 400 columns are red: a quarter of the fifty-first is.
    let border = Self.color(image, 50, 50)
    #expect((50...80).contains(border[3]))
    for x in 0...50 {
      let color = Self.color(image, x, 50)
      #expect(color[0] >= 250 && color[1] <= 5, "\(x): \(color)")
    }
    #expect(Self.color(image, 80, 50)[3] == 0)
    #expect(image.averageColor.map { $0.green < 5 } == true)
  }

  @Test func `a small picture stays as it is, to the pixel`() throws {
    let image = try Self.frame(MadeMedia.gif)
    #expect(image.width == 64 && image.height == 48)
  }

  @Test func `without programs, what the structure says is told, and what is not known`() throws {
    let bare = MediaProbe(tools: MediaTools())
    for path in MadeMedia.all {
      let (report, whole) = (try bare.probe(file: path), try Self.probe.probe(file: path))
      #expect(report.notes.first == .noFFmpeg, "\(path)")
      #expect(report.truth.placeholder == nil)
      var truth = whole.truth
      truth.placeholder = nil
      #expect(truth.missingDecoder == nil)
      truth.missingDecoder = .ffmpeg
      #expect(report.truth == truth, "\(path)")
    }
  }

  /// Lengths differ by what the last frame takes, which ffprobe guesses where it is not written down.
  private static let durationToleranceMilliseconds = 100

  @Test(arguments: MadeMedia.all + [MadeMedia.longClip])
  func `ffprobe agrees with what is read here`(path: String) throws {
    let file = try OpenFile(Descriptor(path))
    let ours = try MediaStructure(reading: FileSource(try #require(file)), limits: MediaLimits())
    let ffprobe = try #require(FFprobe(MediaTools.installed(), ProbeSettings()))
    let demuxer = try #require(Demuxer(ours.type, isAnimated: ours.kind == .animation))
    let theirs = try ffprobe.ask(try #require(file), demuxer)
    if ours.kind != .sound {
      // Of an animated WebP it knows none.
      if let size = theirs.picture?.codedSize { #expect(ours.codedSize == size) }
      if let codec = ours.videoCodec { #expect(codec == theirs.picture?.codec) }
    }
    guard ours.kind == .video || ours.kind == .sound else { return }
    #expect(ours.audioCodec == theirs.sound?.codec)
    if let duration = ours.durationMilliseconds, let other = theirs.durationMilliseconds {
      #expect(abs(Int(duration) - other) <= Self.durationToleranceMilliseconds)
    }
    // No point of the curve is before the packets that are shown until then. What begins before 0 is cut away by the
    // edit list, or all of it is later.
    let packets = try FFmpeg.packets(of: path)
    let beginning = max(0, packets.map(\.seconds).min() ?? 0)
    for point in ours.start.curve {
      let needed =
        packets.filter { ($0.seconds - beginning) * 1_000 < Double(point.milliseconds) }
        .map(\.end).max() ?? 0
      #expect(needed <= Int64(point.bytes), "\(point.milliseconds) ms")
    }
  }

  private func write(_ picture: String, to folder: TemporaryFolder) throws -> String {
    let data = try #require(Data(base64Encoded: picture.filter { !$0.isWhitespace }))
    try data.write(to: URL(fileURLWithPath: folder.file("picture")))
    return folder.file("picture")
  }

  @Test(arguments: [(ItemPictures.heic, "image/heic"), (ItemPictures.avif, "image/avif")])
  func `pictures of the HEIF family are seen with what is transparent`(
    text: String, type: String
  ) throws {
    let folder = TemporaryFolder()
    let path = try write(text, to: folder)
    let report = try Self.probe.probe(file: path)
    #expect(report.truth.mimeType == type && report.notes == [])
    #expect(report.truth.width == 300 && report.truth.height == 200)
    let image = try Self.frame(path)
    #expect(image.width == 100 && image.height == 67)
    let (left, right) = (Self.color(image, 1, 30), Self.color(image, 98, 30))
    #expect(right[0] > 240 && right[1] < 12 && right[3] > 240 && left[3] < 12, "\(left) \(right)")
  }

  @Test func `EXIF turns no picture of the HEIF family, which says its turns itself`() throws {
    let folder = TemporaryFolder()
    let image = try Self.frame(try write(ItemPictures.withEXIF, to: folder))
    #expect(image.width == 100 && image.height == 75)
    for x in [10, 90] {
      #expect(Self.color(image, x, 10)[0] > 240 && Self.color(image, x, 10)[2] < 20)
      #expect(Self.color(image, x, 65)[2] > 240 && Self.color(image, x, 65)[0] < 20)
    }
  }

  @Test func `a grid of images is seen whole`() throws {
    let folder = TemporaryFolder()
    let image = try Self.frame(try write(ItemPictures.grid, to: folder))
    #expect(image.width == 100 && image.height == 100)
    for (x, y, color) in [
      (20, 20, [255, 0, 0, 255]), (80, 20, [0, 255, 0, 255]), (20, 80, [0, 0, 255, 255]),
      (80, 80, [255, 255, 255, 255]),
    ] as [(Int, Int, [Int])] {
      let seen = Self.color(image, x, y)
      for (seen, color) in zip(seen, color) { #expect(abs(Int(seen) - color) < 12, "\(x) \(y)") }
    }
  }

  @Test(arguments: [(ItemPictures.heic, "image/heic"), (ItemPictures.avif, "image/avif")])
  func `what nothing that is installed decodes is no fault of the file`(
    text: String, type: String
  ) throws {
    let folder = TemporaryFolder()
    var tools = MediaTools.installed()
    tools.heifConvert = nil
    let report = try MediaProbe(tools: tools).probe(file: try write(text, to: folder))
    #expect(report.truth.mimeType == type)
    #expect(report.truth.width == 300 && report.truth.height == 200)
    // Either all of it is seen, by FFmpeg 7.1 and later, or what is not is said.
    if report.truth.placeholder == nil {
      guard case .decoderMissing = report.notes.first else { throw ProbeError.changed }
    } else if report.truth.placeholder?.thumbHash?[2] ?? 0 < 0x80 {
      #expect(report.notes == [.transparencyNotDecoded])
    }
  }

  @Test(arguments: [ItemPictures.heic, ItemPictures.avif, ItemPictures.grid])
  func `once a decoder is there that was missing, more is known of a file`(text: String) throws {
    let folder = TemporaryFolder()
    let path = try write(text, to: folder)
    let all = MediaTools.installed()
    var some = all
    some.heifConvert = nil
    let (none, ffmpeg, both) = (
      MediaProbe(tools: MediaTools()), MediaProbe(tools: some), MediaProbe(tools: all)
    )
    func known(by probe: MediaProbe) throws -> MediaTruth { try probe.probe(file: path).truth }
    #expect(try !none.knowsBetter(than: known(by: none)))
    #expect(try ffmpeg.knowsBetter(than: known(by: none)))
    #expect(try both.knowsBetter(than: known(by: none)))
    // FFmpeg has tried once: whatever it saw, it sees no more the next time.
    #expect(try !ffmpeg.knowsBetter(than: known(by: ffmpeg)))
    let lacksNothing = try known(by: ffmpeg).missingDecoder == nil
    #expect(try both.knowsBetter(than: known(by: ffmpeg)) != lacksNothing)
    #expect(try !both.knowsBetter(than: known(by: both)))
  }

  @Test func `a broken picture of the HEIF family is told from one that cannot be decoded here`()
    throws
  {
    let folder = TemporaryFolder()
    var bytes = [UInt8](
      try #require(
        Data(base64Encoded: ItemPictures.heic.filter { !$0.isWhitespace })))
    let media = try #require(bytes.firstRange(of: "mdat".utf8)).upperBound
    for index in media..<bytes.count { bytes[index] = 0xa5 }
    try Data(bytes).write(to: URL(fileURLWithPath: folder.file("broken")))
    // Its scratch is its own: in a shared one stand the names that other tests are using.
    var settings = ProbeSettings()
    settings.scratchFolder = folder.path
    let probe = MediaProbe(settings: settings)
    #expect(throws: ProbeError.self) { try probe.probe(file: folder.file("broken")) }
    #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == ["broken"])
  }

  private static func description(_ bytes: [UInt8]) throws -> String {
    let folder = TemporaryFolder()
    try Data(bytes).write(to: URL(fileURLWithPath: folder.file("broken")))
    do {
      return "sound: \(try probe.probe(file: folder.file("broken")))"
    } catch {
      return error.description
    }
  }

  @Test func `what is wrong with a file is said`() throws {
    #expect(try Self.description([]) == "the file is empty")
    #expect(
      try Self.description(Array("<html>".utf8)) == "not a known image, video or sound format")
    let clip = try MadeMedia.bytes(MadeMedia.clip)
    #expect(
      try Self.description(Array(clip.dropLast(100)))
        == "it is incomplete: it has \(clip.count - 100) bytes, but needs \(clip.count) or more"
    )
    // Sound structure around what is none.
    var silent = clip
    let media = try #require(clip.firstRange(of: "mdat".utf8)).upperBound
    for index in media..<silent.count { silent[index] = 0 }
    #expect(try Self.description(silent).hasPrefix("its first frame cannot be decoded: "))
  }

  @Test func `what is no file is not waited for`() throws {
    let folder = TemporaryFolder()
    #expect(throws: ProbeError.self) { try Self.probe.probe(file: folder.path) }
    #expect(mkfifo(folder.file("pipe"), 0o600) == 0)
    #expect(throws: ProbeError.self) { try Self.probe.probe(file: folder.file("pipe")) }
    #expect(throws: ProbeError.self) { try Self.probe.probe(file: folder.file("missing")) }
  }

  @Test func `a playlist that is called a video opens no other file`() throws {
    let folder = TemporaryFolder()
    let list = "#EXTM3U\n#EXTINF:2,\n\(MadeMedia.clip)\n#EXT-X-ENDLIST\n"
    let path = try folder.write(list, to: "clip.mp4")
    let error = #expect(throws: ProbeError.self) { try Self.probe.probe(file: path) }
    #expect(
      error?.description
        == "the file has type application/vnd.apple.mpegurl, which is not supported")
  }

  @Test func `decoding has a time and a memory`() throws {
    var settings = ProbeSettings()
    // Less than the program's own libraries.
    settings.memoryBytes = 64 << 20
    let report = try MediaProbe(settings: settings).probe(file: MadeMedia.jpeg)
    #expect(report.notes == [.decoderOutOfMemory(limitBytes: 64 << 20)])
    #expect(report.truth.placeholder == nil)
    settings = ProbeSettings()
    settings.timeMilliseconds = 1
    let error = #expect(throws: ProbeError.self) {
      try MediaProbe(settings: settings).probe(file: MadeMedia.clip)
    }
    #expect(error?.description == "its first frame was not decoded within 1 ms")
  }
}
