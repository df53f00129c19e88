import Feed
import GRDB

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

  /// A post with the feeds in which it is, as everybody sees them.
  func item(_ stored: Stored) throws -> StoredItem {
    let statement = try database.cachedStatement(sql: Self.placementsOfPost)
    let placements = try Row.fetchAll(statement, arguments: [stored.number])
      .map { Placement(feed: $0[0], rank: $0[1]) }
    return StoredItem(
      post: stored.post,
      placements: placements.sorted { $0.feed.utf8.lexicographicallyPrecedes($1.feed.utf8) })
  }
}
