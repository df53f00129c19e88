import Catalog
import Feed
import Foundation
import MediaFiles
import MediaProbe
import PostJSON
import SQLiteStore
import System
import TestSupport
import Testing

@testable import MediaIndex

/// What no post names is found, and nothing else.
@Suite struct UnusedMediaTests {
  private let media: MediaFolder

  init() throws { media = try MediaFolder() }

  @Test(arguments: [
    (#"{"url":"/media/a/my photo.jpg"}"#, true), (#"{"url":"/media/a/my%20photo.jpg?x=1"}"#, true),
    (#"{"url":"https:\/\/cdn.example\/x\/my%20photo.jpg"}"#, true),
    (#"{"extra":"{\"src\":\"my photo.jpg\"}"}"#, true),
    (#"{"extra":"{\"src\":\"\/m\/my\\u0020photo.jpg\"}"}"#, true),
    (#"{"text":"see my%2520photo.jpg"}"#, true), (#"{"text":"<img src=my&#32;photo.jpg>"}"#, false),
    (#"{"text":"my photo.jpgx"}"#, true), (#"{"text":"amy photo.jpg"}"#, false),
    (#"{"text":"my photo.jp"}"#, false), ("", false), ("my photo.jpg", true),
    (#"{"url":"/media/MY photo.jpg"}"#, false), (#"{"text":"-my photo.jpg"}"#, true),
  ])
  func `a name is found in whatever way it is written`(_ text: String, _ isThere: Bool) {
    var mentions = MediaMentions()
    for name in ["other.png", "my photo.jpg", "x"] { mentions.add(name) }
    mentions.look(in: Array(text.utf8))
    #expect(mentions.contains("my photo.jpg") == isThere)
    #expect(!mentions.contains("other.png") && !mentions.contains("never added"))
  }

  @Test func `names of any characters and lengths are found, and only they`() {
    let names = [
      "a", "ab", "é.jpg", "e\u{301}.jpg", "🎞 clip.mp4", "a&b.png", "100%.gif", "q\\b.png",
      String(repeating: "n", count: 251) + ".png",
    ]
    for name in names {
      var mentions = MediaMentions()
      for other in names { mentions.add(other) }
      let encoded = name.addingPercentEncoding(withAllowedCharacters: .alphanumerics)!
      mentions.look(in: Array(#"{"url":"/media/\#(encoded)"}"#.utf8))
      for other in names {
        let isPrefix = Array(name.utf8).starts(with: Array(other.utf8))
        #expect(mentions.contains(other) == isPrefix, "\(name) \(other)")
      }
    }
    var empty = MediaMentions()
    empty.add("")
    empty.look(in: Array("text".utf8))
    #expect(!empty.contains(""))
  }

  private func sweep(
    _ store: SQLiteStore, newest: Moment = Moment(secondsSince1970: 1 << 40)
  ) throws -> (media: UnusedMedia, unused: [UnusedMedia.File]) {
    var unused = try UnusedMedia(
      .folder(MediaRoot(path: media.path)), .served, store, changedBy: newest
    ) { _ in }
    try store.exportRecords { unused.look(in: $0.json) }
    let files = try unused.unused()
    return (unused, files)
  }

  @Test func `posts keep what they name in any of their fields`() throws {
    for name in [
      "a/url.mp4", "a/poster.jpg", "thumb.png", "avatar.webp", "extra.jpg", "text.gif", "free.jpg",
      "deep/er/free.mp4", "hls/clip.m3u8", "hls/1.ts", "hls/low/2.ts", "notes.txt", "feed.json",
      "free.jpg.partial",
    ] { try media.copy("lighthouse-steps/thumbnail.webp", to: name, behind: name) }
    let store = try media.store()
    var post = Post(id: "p", type: .video, media: [Media(kind: .video, url: "/media/a/url.mp4")])
    post.media[0].poster = "https://cdn.example/poster.jpg?w=3"
    post.thumbnail = "/media/thumb.png"
    post.author = Author(name: "n", avatar: "/media/avatar.webp")
    post.text = "like (text.gif)"
    let extra = #"{"cover":{"src":"\/media\/extra.jpg"}}"#
    try store.load([.post(post, placements: [Placement(feed: "f", rank: 1)])])
    var found = try sweep(store)
    #expect(
      found.unused.map { $0.segments.joined(separator: "/") } == [
        "deep/er/free.mp4", "extra.jpg", "free.jpg",
      ])
    #expect(found.media.kept == .init(named: 5, young: 0, besidePlaylists: 2, others: 4))
    var other = found.media
    other.look(in: Array(extra.utf8))
    #expect(try other.unused().count == 2)
    // What changed later than that is kept.
    #expect(try sweep(store, newest: Moment(secondsSince1970: 1_000)).media.kept.young == 10)
    // What a post comes to name in between stays.
    try store.load([
      .post(
        Post(id: "q", type: .image, media: [Media(kind: .image, url: "/media/free.jpg")]),
        placements: [Placement(feed: "f", rank: 2)])
    ])
    try media.write(Data("changed".utf8), to: "extra.jpg")
    let deleted = try found.media.delete(found.unused)
    #expect(deleted.files == 1 && deleted.kept == 2 && deleted.bytes == found.unused[0].bytes)
    #expect(!FileManager.default.fileExists(atPath: media.file("deep/er/free.mp4")))
    #expect(FileManager.default.fileExists(atPath: media.file("free.jpg")))
    found = try sweep(store)
    #expect(found.unused.map(\.segments) == [["extra.jpg"]])
    try store.close()
  }

  @Test func `renditions go with their originals, and keep them`() throws {
    try media.copy("lighthouse-steps/thumbnail.webp", to: "a.webp")
    try media.copy("loom/0.mp4", to: "b.mp4")
    let store = try media.store()
    _ = try media.run(store)
    func content(_ name: String) throws -> String {
      guard case .content(let sha256)? = try media.known(store)["/media/\(name)"]?.version else {
        return ""
      }
      return RenditionName.content(sha256)
    }
    let shelf = "_renditions/"
    let small = try shelf + content("a.webp") + ".w320-1.webp"
    let clip = try shelf + content("b.mp4") + ".s144-1.mp4"
    for name in [small, clip] { try media.write(Data([1]), to: name) }
    let post = Post(id: "p", type: .image, media: [Media(kind: .image, url: "/media/\(small)")])
    try store.load([.post(post, placements: [Placement(feed: "f", rank: 1)])])
    let found = try sweep(store)
    #expect(found.unused.map(\.segments) == [["b.mp4"]])
    let deleted = try found.media.delete(found.unused)
    #expect(deleted.files == 1 && deleted.renditions == 1)
    #expect(FileManager.default.fileExists(atPath: media.file(small)))
    #expect(!FileManager.default.fileExists(atPath: media.file(clip)))
    #expect(try media.known(store)["/media/b.mp4"] == nil)
    try store.close()
  }
}
