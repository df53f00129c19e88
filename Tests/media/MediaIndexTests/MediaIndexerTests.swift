import Feed
import Foundation
import Glibc
import MediaFiles
import MediaProbe
import Synchronization
import System
import TestSupport
import Testing

@testable import MediaIndex

/// What is known follows the files, and costs no more than they changed.
@Suite struct MediaIndexerTests {
  private let media: MediaFolder

  init() throws { media = try MediaFolder() }

  @Test func `the same run twice changes nothing`() throws {
    try media.copy("loom/0.mp4", to: "clips/a.mp4")
    try media.copy("lighthouse-steps/thumbnail.webp", to: "we ird név 100%.gif")
    try media.copy("loom/0.mp4", to: ".hidden/a.mp4")
    try media.write(Data("Read me.".utf8), to: "README")
    symlink("clips", media.file("link"))
    let store = try media.store()
    let first = try media.run(store)
    #expect(first.addition == MediaAddition(probed: 2, passedOver: 2) && first.remarks == [])
    let known = try media.known(store)
    #expect(
      known.keys.sorted() == [
        "/media/clips/a.mp4", "/media/we ird név 100%25.gif",
        "/media/we%20ird%20n%C3%A9v%20100%25.gif",
      ])
    #expect(known["/media/clips/a.mp4"]?.start?.isStartable == true)
    #expect(known["/media/clips/a.mp4"]?.placeholder != nil)
    #expect(known["/media/we ird név 100%25.gif"]?.mimeType == "image/webp")
    let version = store.version
    let second = try media.run(store)
    #expect(second.addition == MediaAddition(unchanged: 2, passedOver: 2))
    #expect(store.version == version)
    #expect(try media.known(store) == known)
    try store.close()
  }

  @Test func `the same content is probed once, wherever and whenever it is found`() throws {
    for index in 0..<12 { try media.copy("loom/0.mp4", to: "\(index).mp4") }
    let store = try media.store()
    #expect(
      try media.run(store, jobs: 4).addition == MediaAddition(probed: 1, recognized: 11))
    try media.copy("loom/0.mp4", to: "later.mp4")
    #expect(try media.run(store).addition == MediaAddition(recognized: 1, unchanged: 12))
    #expect(
      try media.run(store, ["later.mp4", "0.mp4"], jobs: 1, isAnew: true).addition
        == MediaAddition(probed: 1, recognized: 1))
    try store.close()
  }

  @Test func `a large file is looked into after all others, and one beyond the limits not at all`()
    throws
  {
    try media.write(Data("GIF89a".utf8), to: "0.gif")
    truncate(media.file("0.gif"), 300 << 20)
    try media.write(Data("GIF89a".utf8), to: "1.gif")
    truncate(media.file("1.gif"), 200 << 30)
    try media.write(Data("GIF89a".utf8), to: "2.gif")
    try media.copy("loom/0.mp4", to: "3.mp4")
    let store = try media.store()
    let root = MediaStorage.folder(try MediaRoot(path: media.path))
    let indexer = MediaIndexer(
      root, addresses: try MediaAddresses(baseURLs: []), store: store, probe: MediaProbe(),
      jobs: 1)
    var remarks: [String] = []
    let addition = try indexer.run(
      [MediaTarget(path: media.path, in: root)], onRemark: { remarks.append($0.description) },
      onProgress: { _ in })
    #expect(addition == MediaAddition(probed: 1, failed: 3))
    #expect(remarks.count == 3 && remarks[0].contains("2.gif") && remarks[2].contains("0.gif"))
    #expect(
      remarks[1].hasSuffix(
        "1.gif: it has 214748364800 bytes, more than the limit of 17179869184 (--probe-file-bytes)"
      ))
    // Reading takes longer than it may.
    var settings = ProbeSettings()
    settings.readMilliseconds = 0
    let hasty = try media.run(store, ["0.gif"], probe: MediaProbe(settings: settings))
    #expect(
      hasty.remarks == [
        "0.gif: it was not read to its end within 0 ms (--probe-read-timeout-milliseconds)"
      ])
    try store.close()
  }

  @Test
  func
    `what changed is looked at again, and what is gone is forgotten, what is broken unavailable`()
    throws
  {
    for name in ["in/a.mp4", "in/b.mp4", "in/c.webp", "out/d.mp4"] {
      try media.copy(
        name.hasSuffix("webp") ? "first-ferry/thumbnail.webp" : "loom/0.mp4", to: name,
        behind: "\0\0\0\u{8}free\(name == "in/a.mp4" ? "" : "\0\0\0\u{8}free")")
    }
    let store = try media.store()
    let first = try media.run(store)
    #expect(first.addition.failed == 0, "\(first.remarks)")
    let before = try media.known(store)
    try media.copy("kite-day/0.gif", to: "in/a.mp4")
    try media.write(
      try Data(contentsOf: URL(fileURLWithPath: media.file("in/b.mp4"))).prefix(9_000),
      to: "in/b.mp4")
    try media.remove("in/c.webp")
    try media.remove("out/d.mp4")
    // A part of the root is no word on the rest of it.
    let part = try media.run(store, ["in"])
    #expect(part.addition == MediaAddition(probed: 1, failed: 1, forgotten: 2))
    #expect(part.remarks.count == 1 && part.remarks[0].hasPrefix("in/b.mp4: "))
    let after = try media.known(store)
    #expect(after.keys.sorted() == ["/media/in/a.mp4", "/media/in/b.mp4", "/media/out/d.mp4"])
    #expect(after["/media/in/b.mp4"] == .unavailable)
    #expect(after["/media/in/a.mp4"]?.mimeType == "image/gif")
    #expect(after["/media/out/d.mp4"] == before["/media/out/d.mp4"])
    // A file alone says nothing of others either.
    #expect(
      try media.run(store, ["in/a.mp4"]).addition == MediaAddition(unchanged: 1))
    let whole = try media.run(store)
    #expect(whole.addition == MediaAddition(unchanged: 1, failed: 1, forgotten: 1))
    // What is no media file any more is not known as one.
    try media.write(Data("words".utf8), to: "in/a.mp4")
    rename(media.file("in/a.mp4"), media.file("in/a"))
    try media.copy("loom/0.mp4", to: "in/a.mp4")
    #expect(try media.run(store, ["in/a.mp4"]).addition.probed == 1)
    #expect(try media.run(store).addition.passedOver == 1)
    try store.close()
  }

  @Test func `a file that was only touched is recognized, and another server's URL costs nothing`()
    throws
  {
    try media.copy("loom/0.mp4", to: "a b.mp4")
    let store = try media.store()
    #expect(try media.run(store).addition == MediaAddition(probed: 1))
    utime(media.file("a b.mp4"), [utimbuf(actime: 1, modtime: 1)])
    #expect(try media.run(store).addition == MediaAddition(recognized: 1))
    #expect(try media.run(store).addition == MediaAddition(unchanged: 1))
    let base = ["https://cdn.example/"]
    #expect(
      try media.run(store, baseURLs: base).addition == MediaAddition(recognized: 1))
    #expect(try media.known(store)["https://cdn.example/a%20b.mp4"] != nil)
    #expect(try media.run(store, baseURLs: base).addition == MediaAddition(unchanged: 1))
    try media.remove("a b.mp4")
    #expect(try media.run(store, baseURLs: base).addition == MediaAddition(forgotten: 4))
    try store.close()
  }

  @Test func `two runs at once know what one would`() throws {
    for index in 0..<8 {
      try media.copy("first-ferry/thumbnail.webp", to: "\(index).webp", behind: "\(index)")
      try media.copy("loom/0.mp4", to: "\(index).mp4")
    }
    let stores = try [media.store(), media.store()]
    let additions = Mutex<[MediaAddition]>([])
    let media = media
    runConcurrently(2) { index in
      guard let run = try? media.run(stores[index]) else { return }
      additions.withLock { $0.append(run.addition) }
    }
    let counts = additions.withLock { $0 }
    #expect(counts.map(\.files) == [16, 16])
    #expect(counts.allSatisfy { $0.failed == 0 && $0.forgotten == 0 })
    #expect(try media.run(stores[0]).addition == MediaAddition(unchanged: 16))
    for store in stores { try store.close() }
  }

  @Test func `a file that is written to while it is read is told, and nothing is kept of it`()
    throws
  {
    try media.copy("loom/0.mp4", to: "a.mp4")
    let store = try media.store()
    let path = media.file("a.mp4")
    var other = OtherStore(base: store)
    other.beforeLookup = {
      let handle = try FileHandle(forWritingTo: URL(fileURLWithPath: path))
      try handle.seekToEnd()
      try handle.write(contentsOf: Data([0]))
      try handle.close()
    }
    let run = try media.run(other)
    #expect(run.addition == MediaAddition(failed: 1))
    #expect(run.remarks == ["a.mp4: it changed while it was read"])
    #expect(try media.known(store).isEmpty)
    try store.close()
  }

  @Test(arguments: [1, 3])
  func `a store that fails ends the run, with what was written before`(_ jobs: Int) throws {
    // More than wait to be written.
    for index in 0..<(MediaIndexer.waitingFiles + 100) {
      try media.write(Data("<svg width='1' height='\(index + 1)'/>".utf8), to: "\(index).svg")
    }
    let store = try media.store()
    let first = Mutex<Int?>(nil)
    var other = OtherStore(base: store)
    other.beforeKeep = { media in
      try first.withLock { first in
        guard first == nil else { throw StoreIsOut() }
        first = media.count
      }
    }
    #expect(throws: StoreIsOut.self) { try media.run(other, jobs: jobs) }
    let known = try media.known(store).count
    // A full batch, or what there was after a second.
    #expect(known > 0 && known == first.withLock { $0 })
    other = OtherStore(base: store, beforeLookup: { throw StoreIsOut() })
    #expect(throws: StoreIsOut.self) { try media.run(other, jobs: jobs) }
    #expect(
      try media.run(store, jobs: jobs).addition.unchanged == known)
    try store.close()
  }

  @Test func `what lies outside, is hidden or a link is refused before anything is done`() throws {
    try media.copy("loom/0.mp4", to: "in/.a.mp4")
    symlink(media.file("in"), media.folder.file("way"))
    let store = try media.store()
    for (name, says) in [
      ("../feed.sqlite", "is not in the media root"), ("nothing.mp4", "No such file"),
      ("in/.a.mp4", "not a name that is served"), ("..", "is not in the media root"),
      ("/dev/null", "No such file"),
    ] {
      let error = #expect(throws: MediaTargetError.self) { try media.run(store, [name]) }
      #expect(error?.description.contains(says) == true, "\(name): \(String(describing: error))")
    }
    try store.close()
  }
}
