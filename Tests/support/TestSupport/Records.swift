import Catalog
import Feed

extension SeedRecord {
  /// A ranked image.
  package static func ranked(_ id: String, _ rank: Int, feed: String = "featured") -> SeedRecord {
    .post(
      Post(id: id, type: .image, title: "Post \(id)"),
      placements: [Placement(feed: feed, rank: rank)])
  }

  /// An image with a time, this many seconds after 1970.
  package static func timed(_ id: String, _ seconds: Int, feed: String = "newest") -> SeedRecord {
    .post(
      Post(
        id: id, type: .image, title: "Post \(id)",
        publishedAt: Timestamp(microseconds: Int64(seconds) * 1_000_000)),
      placements: [Placement(feed: feed)])
  }
}

extension FeedStore {
  /// Loads the records in batches of this size and finishes the run.
  @discardableResult
  package func load(_ records: [SeedRecord], batch: Int = 100) throws -> ImportSummary {
    let run = try beginImport()
    for start in stride(from: 0, to: records.count, by: batch) {
      try run.write(Array(records[start..<min(start + batch, records.count)]))
    }
    return try run.finish()
  }

  /// The ids of a feed from the top, read by cursor.
  package func walk(_ feed: String, limit: Int = 7) throws -> [String] {
    var ids: [String] = []
    var query = PageQuery(feed: feed, limit: limit)
    while true {
      let page = try page(query)
      ids += page.posts.map(\.id)
      guard let next = page.slice.next else { return ids }
      query.start = .after(next)
    }
  }
}

extension FeedStore {
  /// The post with this id.
  package func post(withID id: String) throws -> Post? { try item(withID: id)?.post }

  /// The feeds in which the item is.
  package func placements(ofItem id: String) throws -> [Placement] {
    try item(withID: id)?.placements ?? []
  }
}

/// A page of a feed with its posts.
package struct StoredPage: Sendable {
  /// The feed as it was when the page was cut.
  package let feed: FeedSummary
  /// Which entries the page has, and the cursors around them.
  package let slice: PageSlice
  /// The posts of the slice's entries, in their order.
  package let posts: [Post]
}

extension FeedStore {
  /// A page of a feed with its posts.
  package func page(_ query: PageQuery) throws -> StoredPage {
    let (cut, posts) = try pagePosts(query)
    return StoredPage(feed: cut.feed, slice: cut.slice, posts: posts.allPosts)
  }
}
