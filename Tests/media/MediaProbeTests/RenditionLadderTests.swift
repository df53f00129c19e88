import Feed
import MediaProbe
import TestSupport
import Testing

/// What is to be made of a file, and what that is called.
struct RenditionLadderTests {
  static let ladders: [(kind: MediaTruth.Kind, mimeType: String, size: [Int], made: [String])] = [
    (.image, "image/jpeg", [2_000, 1_000], ["w320 320×160", "w640 640×320", "w1280 1280×640"]),
    (.image, "image/png", [641, 3], ["w320 320×1", "w640 640×3"]),
    (.image, "image/avif", [1_000_000, 1], ["w320 320×1", "w640 640×1", "w1280 1280×1"]),
    (.image, "image/jpeg", [320, 9_000], []), (.image, "image/jpeg", [1, 1], []),
    // As high as WebP may be, and higher.
    (.image, "image/jpeg", [400, 20_478], ["w320 320×16382"]),
    (.image, "image/jpeg", [400, 20_480], []), (.image, "image/svg+xml", [2_000, 1_000], []),
    (.animation, "image/gif", [64, 48], ["a64 64×48"]),
    (.animation, "image/png", [1_280, 720], ["a640 640×360"]),
    (.animation, "image/webp", [1_280, 720], []),
    (.video, "video/mp4", [3_840, 2_160], ["s480 854×480", "s720 1280×720"]),
    (.video, "video/mp4", [1_080, 1_920], ["s480 480×854", "s720 720×1280"]),
    (.video, "video/webm", [640, 360], ["s144 256×144", "s240 426×240"]),
    (.video, "video/mp4", [192, 192], ["s144 144×144"]), (.video, "video/mp4", [191, 400], []),
    (.video, "video/mp4", [100_000, 200], ["s144 72000×144"]),
    (.sound, "audio/mpeg", [500, 500], []),
  ]

  @Test(arguments: ladders)
  func `nothing is made that is as large as the file`(
    kind: MediaTruth.Kind, mimeType: String, size: [Int], made: [String]
  ) {
    let truth = MediaTruth(
      kind: kind, bytes: 1_000_000, mimeType: mimeType, width: size[0], height: size[1])
    let ladder = Rendition.ladder(of: truth)
    #expect(
      ladder.map { "\($0.coding.rawValue)\($0.rung) \($0.width)×\($0.height)" } == made)
    #expect(ladder.count <= MediaVariant.limit)
    #expect(Rendition.ladder(of: MediaTruth(kind: kind, bytes: 9, mimeType: mimeType)).isEmpty)
  }

  @Test func `a name says which rendition it is, and no other name is one`() throws {
    let sha256 = (0..<32).map { UInt8($0 * 8) }
    let truth = MediaTruth(
      kind: .video, bytes: 1, mimeType: "video/mp4", width: 640, height: 360)
    let name = RenditionName(Rendition.ladder(of: truth)[1], ofContent: sha256)
    #expect(name.text == "0008101820283038404850586068707 8.s240-1.mp4".replacing(" ", with: ""))
    #expect(name.isCurrent && !name.isPartial && name.content == RenditionName.content(sha256))
    for suffix in ["", ".partial", ".none"] {
      let read = try #require(RenditionName(name.text + suffix))
      #expect(read.text == name.text + suffix && read.isPartial == (suffix == ".partial"))
    }
    #expect(RenditionName(name.text.replacing("-1.", with: "-2."))?.isCurrent == false)
    for (piece, other) in [
      ("0008", "000G"), ("0008", "008"), ("s240", "x240"), ("s240", "s"), ("-1", ""), ("-1", "-"),
      ("-1", "-1-1"), (".mp4", ".gif"), (".mp4", ".mp4.part"), (".mp4", ""), ("s240", "s24000000"),
      (".mp4", ".mp4.none.none"),
    ] { #expect(RenditionName(name.text.replacing(piece, with: other)) == nil, "\(other)") }
  }
}
