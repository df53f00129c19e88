import Catalog
import Feed
import GRDB
import TestSupport
import Testing

@testable import SQLiteStore

/// What another program wrote of a media file, and this one cannot read.
@Suite struct UnreadableTruthTests {
  @Test func `it is as if nothing were known, until somebody looks into the file again`() throws {
    let folder = TemporaryFolder()
    let store = try SQLiteStore(path: folder.file("feed.sqlite"))
    let post = Post(
      id: "p", type: .image, media: [Media(kind: .image, url: "/media/a.png", bytes: 7)])
    try store.load([.post(post, placements: [Placement(feed: "a")])])
    let version = MediaVersion.content(sha256: Array(repeating: 9, count: 32))
    let known = KnownMedia(
      url: "/media/a.png",
      truth: MediaTruth(kind: .image, bytes: 100, mimeType: "image/png", version: version))
    let other = KnownMedia(
      url: "/media/b.png",
      truth: MediaTruth(
        kind: .image, bytes: 5, mimeType: "image/png", version: .entityTag("\"b\"")))
    try store.keep([known, other])
    let posts = try store.cut(PageQuery(feed: "a")).posts
    #expect(try store.posts(posts).mediaLoads[0].bytes == 100)

    try store.pool.writeWithoutTransaction { database in
      try database.execute(
        sql: "UPDATE media_truth SET truth = x'7b7d' WHERE version = ?",
        arguments: [version.text])
    }
    #expect(try store.posts(posts).mediaLoads[0].bytes == 7)
    #expect(try store.item(withID: "p")?.truths == [nil])
    #expect(try store.media(at: ["/media/a.png"]) == [nil])
    #expect(try store.truth(ofContent: Array(repeating: 9, count: 32)) == nil)
    #expect(try store.media(after: nil, limit: 1) == [other])
    #expect(try store.check().count == 1)

    try store.keep([known])
    #expect(try store.posts(posts).mediaLoads[0].bytes == 100)
    #expect(try store.media(after: nil, limit: 9) == [known, other])
    #expect(try store.check().isEmpty)
  }
}
