import Feed
import Foundation
import MediaProbe
import System
import TestSupport
import Testing

/// What is made shows the same, in fewer bytes.
@Suite struct RenditionMakerTests {
  private let folder = TemporaryFolder()

  /// What was made of a file, by rung; nil where it would have no fewer bytes.
  private func make(_ path: String) throws -> [(rendition: Rendition, path: String?)] {
    let maker = try RenditionMaker(probe: MediaProbe())
    let truth = try MediaProbe().probe(file: path).truth
    let file = try #require(OpenFile(try Descriptor(path)))
    return try Rendition.ladder(of: truth).map { rendition in
      let output = folder.file("\(rendition.rung)")
      let descriptor = try Descriptor(output, [.readingAndWriting, .creating])
      guard let made = try maker.make(rendition, of: file, truth, to: descriptor) else {
        return (rendition, nil)
      }
      // What is said of it is what somebody finds who looks into it.
      var found = try MediaProbe().probe(file: output).truth
      found.placeholder = nil
      #expect(found == made && made.bytes < truth.bytes)
      #expect(made.width == rendition.width && made.height == rendition.height)
      return (rendition, output)
    }
  }

  private func ffmpeg(_ name: String, _ arguments: [String]) throws -> String {
    _ = try Self.output(
      "ffmpeg", ["-nostdin", "-v", "error", "-y"] + arguments + [folder.file(name)])
    return folder.file(name)
  }

  private static func output(_ program: String, _ arguments: [String]) throws -> [UInt8] {
    let process = Process()
    let pipe = Pipe()
    process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
    process.arguments = [program] + arguments
    process.standardOutput = pipe
    try process.run()
    let bytes = Array(pipe.fileHandleForReading.readDataToEndOfFile())
    process.waitUntilExit()
    #expect(process.terminationStatus == 0, "\(program) \(arguments)")
    return bytes
  }

  /// The colours of the first frame at these places, in tenths of its width and height: red, green, blue and
  /// alpha, each as full as its letter is there.
  private static func colors(_ path: String, _ size: (Int, Int), _ places: [(Int, Int)]) throws
    -> [String]
  {
    let pixels = try output(
      "ffmpeg",
      ["-v", "error", "-i", path, "-frames:v", "1", "-pix_fmt", "rgba", "-f", "rawvideo", "-"])
    try #require(pixels.count == size.0 * size.1 * 4)
    return places.map { x, y in
      let start = ((y * size.1 / 10) * size.0 + x * size.0 / 10) * 4
      return zip("rgba", pixels[start..<start + 4]).map { $1 > 128 ? String($0) : "" }.joined()
    }
  }

  private static let corners = [(2, 2), (8, 2), (2, 8), (8, 8)]

  /// A quarter of each: red, green, blue and white, with noise, so that it has some bytes.
  private static func quarters(_ width: Int, _ height: Int) -> [String] {
    let noise = "*(0.8+0.2*random(1))"
    return [
      "-f", "lavfi", "-i",
      "nullsrc=s=\(width)x\(height):d=3:r=8,format=rgb24,geq="
        + "r='255*(lt(X,W/2)*lt(Y,H/2)+gte(X,W/2)*gte(Y,H/2))\(noise)'"
        + ":g='255*gte(X,W/2)\(noise)':b='255*gte(Y,H/2)\(noise)'",
    ]
  }

  @Test func `a picture is upright, whatever its EXIF says`() throws {
    let plain = try ffmpeg(
      "plain.jpg",
      Self.quarters(400, 700) + ["-frames:v", "1", "-pix_fmt", "yuvj444p", "-q:v", "2"])
    // Turned clockwise, what was at the bottom left is at the top left.
    let ways = [
      (1, ["ra", "ga", "ba", "rgba"]), (2, ["ga", "ra", "rgba", "ba"]),
      (3, ["rgba", "ba", "ga", "ra"]), (6, ["ba", "ra", "rgba", "ga"]),
      (7, ["rgba", "ga", "ba", "ra"]), (8, ["ga", "rgba", "ra", "ba"]),
    ]
    for (orientation, colors) in TestRandom.some(3, of: ways) {
      var bytes = try MadeMedia.bytes(plain)
      // An APP1 segment behind the first marker: TIFF, with the one tag 0x0112 (EXIF 2.32 section 4.5).
      let tiff: [UInt8] =
        Array("Exif\0\0MM\0*".utf8) + [0, 0, 0, 8, 0, 1, 1, 0x12, 0, 3, 0, 0, 0, 1]
        + [0, UInt8(orientation), 0, 0, 0, 0, 0, 0]
      bytes.insert(contentsOf: [0xff, 0xe1, 0, UInt8(tiff.count + 2)] + tiff, at: 2)
      let path = folder.file("turned.jpg")
      try Data(bytes).write(to: URL(fileURLWithPath: path))
      let made = try make(path)[0]
      let output = try #require(made.path)
      let size = (made.rendition.width, made.rendition.height)
      #expect(size == (orientation > 4 ? (320, 183) : (320, 560)))
      #expect(try Self.colors(output, size, Self.corners) == colors, "\(orientation)")
    }
  }

  @Test func `what is transparent stays so, and gives its colour to nothing`() throws {
    let made = try make(MadeMedia.halfClear)
    let output = try #require(made.first?.path)
    #expect(made.count == 1)
    let pixels = try Self.output(
      "ffmpeg", ["-v", "error", "-i", output, "-pix_fmt", "rgba", "-f", "rawvideo", "-"])
    try #require(pixels.count == 320 * 320 * 4)
    for x in 0..<320 {
      let start = (100 * 320 + x) * 4
      if x < 158 { #expect(pixels[start] > 200 && pixels[start + 3] > 240, "\(x)") }
      if x > 163 { #expect(pixels[start + 3] < 15, "\(x)") }
      // Nowhere does green shine through.
      if pixels[start + 3] > 30 { #expect(pixels[start + 1] < 60, "\(x)") }
    }
  }

  @Test func `an animation moves as it did`() throws {
    let gif = try ffmpeg(
      "a.gif", ["-f", "lavfi", "-i", "mandelbrot=s=700x300:r=5", "-t", "2"])
    let before = try MediaProbe().probe(file: gif).truth
    let made = try #require(try make(gif).first)
    let after = try MediaProbe().probe(file: #require(made.path)).truth
    #expect(after.kind == .animation && after.width == 640 && after.height == 274)
    #expect(after.frameCount == before.frameCount)
    #expect(after.durationMilliseconds == before.durationMilliseconds)
  }

  @Test func `a video starts, turns, sounds and lasts as it did`() throws {
    let sound = ["-f", "lavfi", "-i", "sine=r=44100", "-c:a", "aac", "-shortest"]
    let coding = ["-c:v", "libx264", "-crf", "10", "-pix_fmt", "yuv444p", "-t", "2"]
    let upright = try ffmpeg("upright.mp4", Self.quarters(333, 501) + sound + coding)
    let turned = try ffmpeg(
      "turned.mp4", ["-i", upright, "-c", "copy", "-metadata:s:v", "rotate=270"])
    let silent = try ffmpeg("silent.mp4", ["-i", upright, "-c", "copy", "-an"])
    let ways = [
      (upright, (240, 362), ["ra", "ga", "ba", "rgba"]),
      (turned, (362, 240), ["ba", "ra", "rgba", "ga"]),
      (silent, (240, 362), ["ra", "ga", "ba", "rgba"]),
    ]
    for (path, size, colors) in TestRandom.some(2, of: ways) {
      let made = try #require(try make(path).last)
      #expect((made.rendition.width, made.rendition.height) == size, "\(path)")
      let output = try #require(made.path)
      #expect(try Self.colors(output, size, Self.corners) == colors, "\(path)")
      let truth = try MediaProbe().probe(file: output).truth
      #expect(truth.hasSound == (path != silent) && truth.start?.isStartable == true)
    }
  }

  @Test func `frames keep their times, and there is a key frame every two seconds`() throws {
    let original = try ffmpeg(
      "vfr.mkv",
      [
        "-f", "lavfi", "-i", "testsrc2=s=640x360:r=30",
        "-vf", "select='lt(mod(n,60),9)+eq(mod(n,60),31)+eq(mod(n,60),47)'", "-fps_mode", "vfr",
        "-t", "7", "-c:v", "libx264", "-crf", "12", "-g", "999",
      ])
    func times(_ path: String, onlyKeys: Bool = false) throws -> [Double] {
      let text = try Self.output(
        "ffprobe",
        ["-v", "error", "-select_streams", "v:0", "-show_entries", "packet=pts_time,flags"]
          + ["-of", "csv=p=0", path])
      let lines = String(decoding: text, as: UTF8.self).split(separator: "\n")
      return lines.filter { !onlyKeys || $0.contains("K") }
        .compactMap { $0.split(separator: ",").first.flatMap { Double($0) } }.sorted()
    }
    let made = try make(original)
    #expect(made.count == 2)
    let wanted = try times(original)
    for path in try made.map({ try #require($0.path) }) {
      let own = try times(path)
      try #require(own.count == wanted.count)
      #expect(zip(own, wanted).allSatisfy { abs(($0 - own[0]) - ($1 - wanted[0])) < 0.002 })
      let keys = try times(path, onlyKeys: true)
      #expect(keys.count >= 3 && zip(keys, keys.dropFirst()).allSatisfy { $1 - $0 <= 2.6 })
    }
  }

  @Test func `what would have no fewer bytes is not made`() throws {
    let coarse = try ffmpeg(
      "coarse.webp",
      Self.quarters(400, 300) + ["-frames:v", "1", "-c:v", "libwebp", "-quality", "0"])
    #expect(try make(coarse).map(\.path) == [nil])
    let clip = try ffmpeg(
      "coarse.mp4",
      Self.quarters(400, 300) + ["-c:v", "libx264", "-crf", "51", "-pix_fmt", "yuv420p"])
    #expect(try make(clip).map(\.path).contains(nil))
  }

  @Test func `what is wrong is said: of the file, of ffmpeg, and of its limits`() throws {
    func words(_ body: () throws -> Void) -> String {
      do {
        try body()
        return ""
      } catch {
        return "\(error)"
      }
    }
    #expect(
      words { _ = try RenditionMaker(probe: MediaProbe(tools: MediaTools())) }
        == "ffmpeg is not installed, but renditions require it")
    let poor = try folder.writeProgram(
      "echo ' V..... libwebp x'\necho ' A..... aac x'\n", to: "ffmpeg")
    #expect(
      words { _ = try RenditionMaker(probe: MediaProbe(tools: MediaTools(ffmpeg: poor))) }
        == "this ffmpeg cannot encode with libwebp_anim, libx264; Debian's ffmpeg can")
    let picture = try ffmpeg("p.png", Self.quarters(400, 300) + ["-frames:v", "1"])
    let truth = try MediaProbe().probe(file: picture).truth
    let file = try #require(OpenFile(try Descriptor(picture)))
    let output = try Descriptor(folder.file("out"), [.readingAndWriting, .creating])
    var limits = RenditionMaker.Limits()
    limits.timeMilliseconds = 1
    // A busy machine may see that the real one is done before it sees that the time is over.
    let slow = try folder.writeProgram(
      "case $* in *-encoders) echo libwebp libwebp_anim libx264 aac ;; *) exec sleep 60 ;; esac\n",
      to: "slow")
    let hasty = try RenditionMaker(
      probe: MediaProbe(tools: MediaTools(ffmpeg: slow)), limits: limits)
    #expect(
      words { _ = try hasty.make(Rendition.ladder(of: truth)[0], of: file, truth, to: output) }
        == "it was not made within 1 ms")
  }
}
