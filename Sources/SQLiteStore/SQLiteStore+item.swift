import Feed
import GRDB
import RowStore

extension SQLiteStore {
  /// The item with this id, read from the file; `nil` where there is none.
  ///
  /// - Throws: `StoreError`.
  public func item(withID id: String) throws -> StoredItem? {
    try withStoreErrors(path: path) {
      try readers.read { database, _ in
        let reader = PostReader(database: database)
        let media = MediaTable(database)
        return try reader.post(withID: id).map(reader.item).map { item in
          StoredItem(
            post: item.post, placements: item.placements,
            truths: try item.post.media.map { try media.media(at: $0.url)?.truth })
        }
      }
    }
  }
}

extension PostReader {
  static let placementsOfPost = """
    SELECT feed.name, feed_entry.rank FROM feed_entry JOIN feed USING (feed_id)
    WHERE feed_entry.post_id = ? AND feed_entry.until IS NULL
    """

  /// The feeds in which a post is, as everybody sees them, in the order of their names.
  func placements(ofPost number: Int64) throws -> [Placement] {
    let statement = try database.cachedStatement(sql: Self.placementsOfPost)
    return try Row.fetchAll(statement, arguments: [number])
      .map { Placement(feed: $0[0], rank: $0[1]) }
      .sorted { $0.feed.utf8.lexicographicallyPrecedes($1.feed.utf8) }
  }

  /// A post with its feeds.
  func item(_ stored: StoredPost) throws -> StoredItem {
    StoredItem(post: stored.post, placements: try placements(ofPost: stored.number))
  }
}
