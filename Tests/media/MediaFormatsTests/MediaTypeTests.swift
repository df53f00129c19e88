import MediaFormats
import TestSupport
import Testing

struct MediaTypeTests {
  @Test(arguments: MediaSample.passive)
  func `the content says what passive type a file is`(_ sample: MediaSample) {
    #expect(sample.found.value == sample.type)
    #expect(sample.found.isPassive)
  }

  @Test(arguments: MediaSample.unknown)
  func `what is active, cut short or unknown is to be an attachment`(_ sample: MediaSample) {
    #expect(sample.found == .unknown)
    #expect(!sample.found.isPassive)
  }

  @Test(arguments: [
    "a.m4a", "M4A", "a.m4a.mp4", "a.", "", ".m4a", "a.M4A", "a\u{e4}.m4a", "m4a", "a.m4a ",
  ])
  func `an extension is what stands behind the last dot`(_ name: String) {
    let isSound = ["a.m4a", ".m4a", "a.M4A", "a\u{e4}.m4a"].contains(name)
    let type = MediaType(head: MediaBytes.brands("isom"), name: name)
    #expect(type.value == (isSound ? "audio/mp4" : "video/mp4"))
  }

  @Test func `bytes behind the head change nothing`() {
    let head = MediaBytes.packets(30)
    #expect(head.count > MediaType.headBytes)
    let other = head.prefix(MediaType.headBytes) + MediaBytes.text("anything else")
    #expect(MediaType(head: Array(other), name: "a").value == "video/mp2t")
  }

  @Test(
    .enabled(if: SharedMedia.arePresent, "the real media are not beside the project"),
    arguments: SharedMedia.whole)
  func `a real file is what its makers say`(_ entry: SharedMedia.Entry) throws {
    #expect(try type(of: entry).value == entry.truth?.mime)
    #expect(try type(of: entry).isPassive)
  }

  @Test(
    .enabled(if: SharedMedia.arePresent, "the real media are not beside the project"),
    arguments: SharedMedia.broken)
  func `a broken file is what its first bytes are, and never active`(
    _ entry: SharedMedia.Entry
  ) throws {
    let expected =
      switch entry.path {
      case "broken/html_named.gif", "broken/xss.svg", "broken/zero.jpg", "broken/zero.mp4":
        "application/octet-stream"
      case "broken/png_named.jpg": "image/png"
      case let path where path.hasSuffix(".jpg"): "image/jpeg"
      case let path where path.hasSuffix(".mp4"): "video/mp4"
      case let path where path.hasSuffix(".png"): "image/png"
      default: "image/gif"
      }
    #expect(try type(of: entry).value == expected)
  }

  private func type(of entry: SharedMedia.Entry) throws -> MediaType {
    let head = try SharedMedia.bytes(of: entry).prefix(MediaType.headBytes)
    return MediaType(head: Array(head), name: entry.path)
  }
}
