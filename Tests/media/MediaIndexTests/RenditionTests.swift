import Feed
import Foundation
import MediaProbe
import SQLiteStore
import System
import TestSupport
import Testing

@testable import MediaFiles
@testable import MediaIndex

/// Renditions lie beside their originals, follow them, and are made once.
@Suite struct RenditionTests {
  private let media: MediaFolder

  init() throws { media = try MediaFolder() }

  private static let picture = "lighthouse-steps/5.jpg"
  private static let clip = "crab-rescue/0.mp4"

  private func run(
    _ store: SQLiteStore, _ names: [String]? = nil, isDry: Bool = false, baseURLs: [String] = []
  ) throws -> (addition: MediaAddition, remarks: [String]) {
    try media.run(store, names, baseURLs: baseURLs) { indexer in
      indexer.maker = try RenditionMaker(probe: MediaProbe())
      indexer.isDry = isDry
    }
  }

  /// The files of a folder of renditions.
  private func files(_ folder: String = "in/_renditions") throws -> [String] {
    try FileManager.default.contentsOfDirectory(atPath: media.file(folder)).sorted()
  }

  private func variants(_ store: SQLiteStore, _ url: String) throws -> [MediaVariant] {
    try #require(try store.media(at: [url])[0]).truth.variants
  }

  @Test func `they are made once, known as variants, and no originals`() throws {
    try media.copy(Self.picture, to: "in/a b.jpg")
    try media.copy(Self.clip, to: "in/c.mp4")
    let store = try media.store()
    let first = try run(store)
    #expect(first.remarks == [] && first.addition.files == 2)
    #expect(first.addition.renditionsMade == 3 && first.addition.renditionsDropped == 0)
    let made = try files()
    #expect(made.count == 3 && made.allSatisfy { RenditionName($0)?.isCurrent == true })
    let picture = try variants(store, "/media/in/a%20b.jpg")
    #expect(picture.map(\.truth.width) == [320] && picture[0].truth.mimeType == "image/webp")
    let clip = try variants(store, "/media/in/c.mp4")
    #expect(clip.count == 2 && clip.allSatisfy { $0.truth.start?.lead.isEmpty == false })
    for variant in picture + clip {
      let segments = try #require(MediaAddresses.served.segments(of: variant.url))
      let file = try MediaRoot(path: media.path).open(segments)
      #expect(file.size == variant.truth.bytes)
      let sha256 = try MediaProbe().digest(of: file)
      #expect(variant.truth.version == .content(sha256: sha256))
    }
    // Again: neither is anything made, nor does anything change; with a maker or without.
    let version = store.version
    for again in [try run(store), try media.run(store), try run(store, ["in/c.mp4"])] {
      #expect(again.addition.unchanged == again.addition.files && again.remarks == [])
      #expect(again.addition.renditionsMade == 0 && again.addition.renditionsKept >= 2)
    }
    #expect(try store.version == version && files() == made)
    #expect(try media.known(store).count == 3)
    // What is gone is no variant any longer, and is made again, to the byte.
    let gone = try #require(made.first)
    let bytes = try Data(contentsOf: URL(fileURLWithPath: media.file("in/_renditions/" + gone)))
    try media.remove("in/_renditions/" + gone)
    #expect(try media.run(store).addition.renditionsKept == 2)
    #expect(
      try variants(store, "/media/in/a%20b.jpg").count + variants(store, "/media/in/c.mp4").count
        == 2)
    #expect(try run(store).addition.renditionsMade == 1)
    #expect(
      try Data(contentsOf: URL(fileURLWithPath: media.file("in/_renditions/" + gone))) == bytes)
    try store.close()
  }

  @Test func `those of a content that is gone go, and nothing else does`() throws {
    try media.copy(Self.picture, to: "in/a.jpg")
    try media.copy("lighthouse-steps/4.jpg", to: "in/b.jpg")
    try media.copy(Self.picture, to: "out/a.jpg")
    let store = try media.store()
    #expect(try run(store).addition.renditionsMade == 3)
    let before = try files()
    try media.write(Data("mine".utf8), to: "in/_renditions/notes.txt")
    try media.write(
      Data("old".utf8), to: "in/_renditions/\(String(repeating: "0", count: 32)).w9-0.webp.none")
    // A name is not what a rendition hangs on; a content is.
    try FileManager.default.moveItem(atPath: media.file("in/b.jpg"), toPath: media.file("in/c.jpg"))
    try media.copy("harbour-swim/7.jpg", to: "in/a.jpg")
    try media.remove("out/a.jpg")
    // Of one file nothing can be told: it may be any content.
    try media.write(Data("GIF89a".utf8), to: "in/broken.gif")
    let first = try run(store)
    #expect(first.addition.renditionsRemoved == 1 && first.addition.failed == 1)
    #expect(first.addition.renditionsKept == 1)
    #expect(!FileManager.default.fileExists(atPath: media.file("out/_renditions")))
    #expect(try files().count > before.count)
    try media.remove("in/broken.gif")
    try media.copy(Self.picture, to: "out/other/a.jpg")
    let second = try run(store)
    #expect(second.addition.renditionsRemoved == 2 && second.remarks == [])
    let after = try files()
    #expect(after.contains("notes.txt") && !after.contains { $0.hasSuffix("w9-0.webp.none") })
    #expect(Set(after).intersection(before).count == 1)
    #expect(try variants(store, "/media/in/c.jpg").count == 1)
    // The last one takes the folder along.
    try media.remove("out/other/a.jpg")
    try media.write(Data("Read me.".utf8), to: "out/other/README")
    #expect(try run(store).addition.renditionsRemoved == 1)
    #expect(!FileManager.default.fileExists(atPath: media.file("out/other/_renditions")))
    try store.close()
  }

  @Test func `what a killed run left is taken over, and what another one makes is left to it`()
    throws
  {
    try media.copy(Self.picture, to: "in/a.jpg")
    let store = try media.store()
    _ = try run(store)
    let name = try #require(try files().first)
    let partial = name + ".partial"
    try media.remove("in/_renditions/" + name)
    try media.write(Data("half".utf8), to: "in/_renditions/" + partial)
    do {
      let other = try Descriptor(media.file("in/_renditions/" + partial), .readingAndWriting)
      #expect(other.tryLock())
      let busy = try run(store)
      #expect(
        busy.remarks == [
          "in/a.jpg: its rendition 320 × 400 is missing: another program is making it"
        ])
      #expect(try busy.addition.renditionsFailed == 1 && files() == [partial])
      #expect(try variants(store, "/media/in/a.jpg").isEmpty)
    }
    #expect(try run(store).addition.renditionsMade == 1)
    #expect(try files() == [name])
    try media.write(Data("half".utf8), to: "in/_renditions/" + partial)
    #expect(try run(store).addition.renditionsRemoved == 0)
    #expect(try files() == [name])
    try store.close()
  }

  @Test func `a file that is no rendition is made anew, and what cannot be written is said`() throws
  {
    try media.copy(Self.picture, to: "in/a.jpg")
    try media.copy(Self.picture, to: "out/a.jpg")
    try media.write(Data("a file".utf8), to: "out/_renditions")
    let store = try media.store()
    let first = try run(store)
    #expect(first.addition.renditionsMade == 1 && first.addition.renditionsFailed == 1)
    #expect(
      first.remarks.count == 1
        && first.remarks[0].hasPrefix("out/a.jpg: its rendition 320 × 400 is missing: cannot make"),
      "\(first.remarks)")
    let name = try #require(try files().first)
    // Another picture in its place, by whomever.
    try media.copy("low-tide/0.jpg", to: "in/_renditions/" + name)
    let looked = try media.run(store, ["in"])
    #expect(
      looked.remarks == [
        "in/a.jpg: its rendition 320 × 400 is missing: the result differs from the original: "
          + "its type is image/jpeg"
      ])
    #expect(try variants(store, "/media/in/a.jpg").isEmpty)
    #expect(try run(store, ["in"]).addition.renditionsMade == 1)
    #expect(try variants(store, "/media/in/a.jpg").count == 1)
    try store.close()
  }

  @Test func `a dry run says what would be made, and writes nothing`() throws {
    try media.copy(Self.picture, to: "in/a.jpg")
    let store = try media.store()
    let dry = try run(store, isDry: true)
    #expect(dry.remarks == ["in/a.jpg: would be made 320 × 400, image/webp"])
    #expect(try dry.addition.renditionsMade == 1 && media.known(store).isEmpty)
    #expect(try FileManager.default.contentsOfDirectory(atPath: media.file("in")) == ["a.jpg"])
    try store.close()
  }

  @Test func `on another server they lie where their originals do`() throws {
    try media.copy(Self.picture, to: "in/a.jpg")
    let store = try media.store()
    _ = try run(store, baseURLs: ["https://cdn.example/m/"])
    let name = try #require(try files().first)
    for prefix in ["/media/", "https://cdn.example/m/"] {
      #expect(
        try variants(store, prefix + "in/a.jpg").map(\.url) == ["\(prefix)in/_renditions/\(name)"])
    }
    try store.close()
  }

  @Test func `one that would be no smaller is not tried twice`() throws {
    try media.copy("first-ferry/thumbnail.webp", to: "in/small.webp")
    let bytes = try MediaFolder.coarse()
    try media.write(bytes, to: "in/coarse.webp")
    let store = try media.store()
    for made in [true, false] {
      let run = try run(store)
      #expect(run.addition.renditionsDropped == 1 && run.addition.renditionsMade == 0)
      #expect(run.addition.probed == (made ? 2 : 0) && run.remarks == [])
    }
    #expect(try files().count == 1 && files()[0].hasSuffix(".webp.none"))
    #expect(try variants(store, "/media/in/coarse.webp").isEmpty)
    try store.close()
  }
}
