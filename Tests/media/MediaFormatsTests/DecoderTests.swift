import Foundation
import MediaFormats
import TestSupport
import Testing

/// A decoder's word for what is said of a file's beginning: what it decodes of this many first bytes.
@Suite(.enabled(if: FFmpeg.isPresent, "there is no ffmpeg"), .serialized)
struct DecoderTests {
  /// How FFmpeg makes a file of two and a half seconds.
  struct Recipe: Sendable, CustomTestStringConvertible {
    let name: String
    /// What comes behind the inputs; `$codec` words stand for encoders.
    let arguments: String
    /// Another recipe's file to be made of, from a time on.
    var cut: (of: String, options: String)?

    var testDescription: String { name }
  }

  private static let h264 = "-c:v libx264 -preset ultrafast -bf 3 -b_strategy 0 -g 25 -b:v 300k"
  private static let hevc = "-c:v libx265 -preset ultrafast -b:v 200k -tag:v hvc1 -x265-params"
  private static let aac = "-c:a aac -b:a 64k"

  static let recipes: [Recipe] = [
    Recipe(name: "frames in another order.mp4", arguments: "\(h264) \(aac) -movflags +faststart"),
    Recipe(name: "no sound.mp4", arguments: "\(h264) -an -movflags +faststart"),
    Recipe(
      name: "all key frames.mp4",
      arguments: "-c:v libx264 -preset ultrafast -g 1 -b:v 300k \(aac) -movflags +faststart"),
    Recipe(
      name: "open groups.mp4",
      arguments: "\(h264) -x264-params open-gop=1 \(aac) -movflags +faststart"),
    Recipe(
      name: "an edit between key frames.mp4", arguments: "-c copy -movflags +faststart",
      cut: ("frames in another order.mp4", "-ss 1.32")),
    Recipe(
      name: "open groups of HEVC.mp4",
      arguments:
        "\(hevc) log-level=error:keyint=25:open-gop=1:bframes=4 \(aac) -movflags +faststart"),
    Recipe(
      name: "from an open group of HEVC on.mp4",
      arguments: "-c copy -tag:v hvc1 -use_editlist 0 -movflags +faststart",
      cut: ("open groups of HEVC.mp4", "-ss 1 -copyts")),
    Recipe(
      name: "from an open group of HEVC on.mkv", arguments: "-c copy",
      cut: ("open groups of HEVC.mp4", "-ss 1")),
    Recipe(
      name: "leading frames of HEVC that can be decoded.mp4",
      arguments:
        "\(hevc) log-level=error:keyint=25:open-gop=0:radl=2:bframes=4 \(aac) -movflags +faststart"),
    Recipe(name: "QuickTime.mov", arguments: "\(h264) \(aac) -movflags +faststart"),
    Recipe(
      name: "sound that is not compressed.mov",
      arguments: "\(h264) -c:a pcm_s16le -movflags +faststart"),
    Recipe(
      name: "fragments from themselves.mp4",
      arguments: "\(h264) \(aac) -movflags frag_keyframe+empty_moov+default_base_moof"),
    Recipe(
      name: "fragments by absolute offsets.mp4",
      arguments: "\(h264) \(aac) -movflags frag_keyframe+empty_moov"),
    Recipe(
      name: "fragments one behind the other.mp4",
      arguments: "\(h264) \(aac) -movflags frag_keyframe+empty_moov+omit_tfhd_offset"),
    Recipe(
      name: "fragments of one track each.mp4",
      arguments: "\(h264) \(aac) -movflags frag_keyframe+empty_moov+separate_moof"),
    Recipe(
      name: "fragments behind a movie that has samples.mp4",
      arguments: "\(h264) \(aac) -movflags frag_keyframe"),
    Recipe(
      name: "fragments with an index.mp4",
      arguments: "\(h264) \(aac) -movflags +dash+global_sidx -frag_duration 1000000"),
    Recipe(name: "Matroska.mkv", arguments: "\(h264) \(aac)"),
    Recipe(
      name: "Matroska of unknown size.mkv",
      arguments: "\(h264) -c:a libopus -live 1 -cluster_time_limit 500"),
    Recipe(name: "VP8.webm", arguments: "-c:v libvpx -b:v 300k -deadline realtime -c:a libvorbis"),
    Recipe(
      name: "VP9.webm",
      arguments: "-c:v libvpx-vp9 -b:v 300k -deadline realtime -cpu-used 8 -c:a libopus"),
    Recipe(
      name: "AV1.mp4",
      arguments: "-c:v libsvtav1 -preset 12 -b:v 300k \(aac) -movflags +faststart"),
    Recipe(name: "MPEG-4.mp4", arguments: "-c:v mpeg4 -bf 2 \(aac) -movflags +faststart"),
    Recipe(
      name: "Theora.ogv", arguments: "-c:v libtheora -b:v 300k -g 25 -c:a libvorbis"),
    Recipe(name: "Theora without sound.ogv", arguments: "-c:v libtheora -b:v 300k -g 8 -an"),
    Recipe(
      name: "tables behind the data.mp4", arguments: "\(h264) \(aac)"),
  ]

  /// Some of them in each run, all of them at night: each costs a dozen runs of FFmpeg.
  static let triedRecipes = TestRandom.some(5, of: recipes)

  /// The files that were made, so that those that are made of others find them.
  static let folder = TemporaryFolder()

  static func file(_ recipe: Recipe) throws -> String {
    let path = folder.file(recipe.name)
    if FileManager.default.fileExists(atPath: path) { return path }
    var inputs =
      "-f lavfi -i mandelbrot=s=192x108:r=25 -f lavfi -i anoisesrc=a=0.1:r=44100:seed=1 -t 2.5 "
      + "-pix_fmt yuv420p"
    var words: [String] = []
    if let cut = recipe.cut {
      inputs = cut.options
      let other = try file(recipes.first { $0.name == cut.of }!)
      words = inputs.split(separator: " ").map(String.init) + ["-i", other]
    } else {
      words = inputs.split(separator: " ").map(String.init)
    }
    words += recipe.arguments.split(separator: " ").map(String.init)
    try FFmpeg.run(words + [path])
    return path
  }

  /// What is decoded of this many first bytes.
  static func frames(
    _ bytes: [UInt8], prefix: Int64, decryptionKey: String? = nil
  ) throws -> Set<FFmpeg.Frame> {
    let path = folder.file("cut")
    try Data(bytes.prefix(Int(clamping: prefix))).write(to: URL(fileURLWithPath: path))
    return Set(FFmpeg.frames(of: path, decryptionKey: decryptionKey))
  }

  /// What is decoded where these bytes alone are there, each in its place.
  private static func frames(
    _ bytes: [UInt8], ranges: [Range<Int64>]
  ) throws -> Set<FFmpeg.Frame> {
    var there = [UInt8](repeating: 0, count: bytes.count)
    for range in ranges {
      let range = Int(range.lowerBound)..<Int(range.upperBound)
      there.replaceSubrange(range, with: bytes[range])
    }
    return try frames(there, prefix: .max)
  }

  /// The first picture that is shown, and the sound of that moment.
  private static func firstMoment(_ whole: [FFmpeg.Frame]) throws -> Set<FFmpeg.Frame> {
    let first = try #require(whole.filter(\.isPicture).min { $0.seconds < $1.seconds })
    let sound = whole.filter { !$0.isPicture && $0.seconds <= first.seconds }
      .max { $0.seconds < $1.seconds }
    return Set([first, sound].compactMap { $0 })
  }

  @Test(arguments: triedRecipes)
  func
    `the head decodes the first frame and little less does not; the curve decodes up to its times`(
      _ recipe: Recipe
    ) throws
  {
    let path = try Self.file(recipe)
    var bytes = Array(try Data(contentsOf: URL(fileURLWithPath: path)))
    let whole = FFmpeg.frames(of: path)
    var found = try MediaStructure(reading: BytesInMemory(bytes))
    if found.layout == .tablesBehind {
      let there = try Self.frames(bytes, ranges: found.start.neededRanges)
      #expect(try Self.firstMoment(whole).isSubset(of: there))
      bytes = FaststartTests.file(try FaststartPlan(for: BytesInMemory(bytes)), bytes)
      #expect(Set(whole) == (try Self.frames(bytes, prefix: .max)))
      found = try MediaStructure(reading: BytesInMemory(bytes))
    }
    #expect(found.start.isStartable)

    let needed = try Self.firstMoment(whole)
    let head = found.start.headBytes
    #expect(try needed.isSubset(of: Self.frames(bytes, prefix: head)))
    #expect(try !needed.isSubset(of: Self.frames(bytes, prefix: head * 95 / 100)))

    try Self.checkCurve(found, whole, bytes)
  }

  @Test(arguments: ["frames in another order.mp4", "all key frames.mp4", "no sound.mp4"])
  func `of an encrypted file the head and the curve decode with its key`(_ name: String) throws {
    let key = "76a6c65c5ea762046bd749a2e632ccbb"
    let clear = try Self.file(try #require(Self.recipes.first { $0.name == name }))
    let path = Self.folder.file("encrypted, " + name)
    try FFmpeg.run([
      "-i", clear, "-c", "copy", "-movflags", "+faststart", "-encryption_scheme", "cenc-aes-ctr",
      "-encryption_key", key, "-encryption_kid", "a7e61c373e219033c21091fa607bf3b8", path,
    ])
    let bytes = Array(try Data(contentsOf: URL(fileURLWithPath: path)))
    let whole = FFmpeg.frames(of: path, decryptionKey: key)
    let found = try MediaStructure(reading: BytesInMemory(bytes))
    #expect(found.isEncrypted && found.videoCodec == "h264" && found.start.isStartable)
    let needed = try Self.firstMoment(whole)
    let head = found.start.headBytes
    #expect(try needed.isSubset(of: Self.frames(bytes, prefix: head, decryptionKey: key)))
    #expect(
      try !needed.isSubset(of: Self.frames(bytes, prefix: head * 95 / 100, decryptionKey: key)))
    try Self.checkCurve(found, whole, bytes, decryptionKey: key)
  }

  @Test(
    .enabled(if: SharedMedia.arePresent, "the real media are not beside the project"),
    arguments: SharedMedia.videos)
  func
    `of a real video the head decodes the first frame, little less does not, the curve up to its times`(
      _ entry: SharedMedia.Entry
    ) throws
  {
    var bytes = try SharedMedia.bytes(of: entry)
    let whole = FFmpeg.frames(of: "\(SharedMedia.folder)/\(entry.path)")
    var found = try MediaStructure(reading: BytesInMemory(bytes))
    if found.layout == .tablesBehind {
      let there = try Self.frames(bytes, ranges: found.start.neededRanges)
      #expect(try Self.firstMoment(whole).isSubset(of: there))
      bytes = FaststartTests.file(try FaststartPlan(for: BytesInMemory(bytes)), bytes)
      found = try MediaStructure(reading: BytesInMemory(bytes))
    }
    let needed = try Self.firstMoment(whole)
    let head = found.start.headBytes
    #expect(try needed.isSubset(of: Self.frames(bytes, prefix: head)))
    #expect(try !needed.isSubset(of: Self.frames(bytes, prefix: head * 95 / 100)))
    try Self.checkCurve(found, whole, bytes)
  }

  /// What is to be shown up to a time of the curve is decoded of the bytes that it has for it: at some of its
  /// points in each run, at all of them at night.
  private static func checkCurve(
    _ found: MediaStructure, _ whole: [FFmpeg.Frame], _ bytes: [UInt8],
    decryptionKey: String? = nil
  ) throws {
    let origin = whole.map(\.seconds).min() ?? 0
    #expect(!found.start.curve.isEmpty)
    for point in TestRandom.some(3, of: found.start.curve) {
      let end = Double(point.milliseconds) / 1000
      let shown = Set(whole.filter { $0.seconds - origin < end - 0.0006 })
      let there = try Self.frames(bytes, prefix: point.bytes, decryptionKey: decryptionKey)
      #expect(
        shown.isSubset(of: there),
        "\(shown.subtracting(there).count) up to \(end) s, \(TestRandom.replay)")
    }
  }
}
