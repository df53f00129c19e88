import Foundation
import MediaFiles
import MediaFormats
import TestSupport
import Testing

/// What the records of the fixtures say of `Fixtures/media`, and what there has to be.
struct FixtureMediaTests {
  @Test(arguments: FixtureMedia.parts)
  func `a part's file has the size and the type that its record says`(
    _ part: FixtureMedia.Part
  ) throws {
    let name = try #require(FixtureMedia.name(of: part.url))
    let segments = name.split(separator: "/").map(String.init)
    let file = try MediaRoot(path: FixtureMedia.folder).open(segments)
    #expect(file.size == part.bytes)
    let type = MediaType(
      head: try file.read(at: 0, count: MediaType.headBytes), name: segments.last ?? "")
    #expect(type.value == part.mimeType && type.isPassive)
    #expect(part.mimeType?.hasPrefix(part.kind + "/") == true)
    #expect(part.width != nil && part.height != nil)
    #expect((part.kind == "video") == (part.codec != nil))
    #expect((part.kind == "video") == (2_000...15_100 ~= (part.durationMs ?? 0)))
  }

  @Test func `the size of a picture is the one in its header`() throws {
    for part in FixtureMedia.parts where part.kind == "image" {
      let name = try #require(FixtureMedia.name(of: part.url))
      let size = ImageSize(try FixtureMedia.bytes(of: name), part.mimeType ?? "")
      #expect(size?.width == part.width && size?.height == part.height, "\(part)")
    }
  }

  @Test func `every file is named by a post, and all are small`() throws {
    var named: Set<String> = []
    for post in FixtureMedia.posts {
      named.formUnion(
        (post.parts.map(\.url) + [post.thumbnail]).compactMap { $0 }
          .compactMap(FixtureMedia.name(of:)))
    }
    let names = try FixtureMedia.names()
    #expect(names == named)
    let all = try FixtureMedia.namesOfAll()
    #expect(all.count > names.count + 30)
    #expect(names.allSatisfy { $0.utf8.allSatisfy { $0 < 0x80 && $0 != UInt8(ascii: "%") } })
    let sizes = try names.map { try FixtureMedia.bytes(of: $0).count }
    #expect(sizes.allSatisfy { $0 > 0 })
    #expect(try all.reduce(0) { try $0 + FixtureMedia.bytes(of: $1).count } < 4_000_000)
  }

  @Test func `a post of featured is the same in every feed, and others' files are elsewhere`()
    throws
  {
    let featured = FixtureMedia.posts.filter { $0.feed == FixtureMedia.feed }
    let records = Dictionary(featured.map { ($0.id, $0.record) }) { first, _ in first }
    #expect(records.count == 40)
    for post in FixtureMedia.posts {
      let isHere = post.parts.contains { FixtureMedia.name(of: $0.url) != nil }
      if let record = records[post.id] {
        #expect(post.record == record, "\(post.id) in \(post.feed)")
        #expect(isHere || post.parts.isEmpty)
      } else {
        #expect(!isHere, "\(post.id) in \(post.feed)")
      }
    }
  }

  @Test func `each kind of file that Fixtures README promises is there`() throws {
    let files = try FixtureMedia.names().map { (name: $0, bytes: try FixtureMedia.bytes(of: $0)) }
    func count(_ suffix: String, where holds: (ContainerOutline) -> Bool) -> Int {
      files.count { $0.name.hasSuffix(suffix) && holds(ContainerOutline($0.bytes)) }
    }
    #expect(count(".mp4") { $0.boxes.prefix(2) == ["ftyp", "moov"] } >= 8)
    #expect(count(".mp4") { $0.boxes.last == "moov" } == 2)
    #expect(count(".mp4") { $0.boxes.contains("moof") } == 1)
    #expect(count(".mp4") { $0.holds("hvc1") } == 1)
    #expect(count(".mp4") { $0.holds("av01") } == 1)
    #expect(count(".mp4") { !$0.holds("soun") } == 1)
    #expect(count(".mp4") { $0.holds("elst") } >= 1)
    // A quarter turn: the matrix's first row is 0, 1, 0.
    #expect(count(".mp4") { $0.turnsTheFirstTrack } == 1)
    #expect(count(".webm") { $0.holds("V_VP9") && $0.holds("A_OPUS") } == 1)
    #expect(count(".jpg") { $0.isProgressiveJPEG } == 1)
    #expect(count(".jpg") { !$0.isProgressiveJPEG } >= 20)
    #expect(count(".png") { $0.bytes[25] == 6 } == 1)
    #expect(count(".webp") { $0.holds("ANIM") } == 1)
    #expect(count(".webp") { !$0.holds("ANIM") } >= 2)
    #expect(count(".gif") { $0.holds("NETSCAPE2.0") } == 1)
    #expect(count(".avif") { $0.holds("av01") } == 2)
  }
}
