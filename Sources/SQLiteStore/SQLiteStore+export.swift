import Feed
import GRDB

extension SQLiteStore {
  /// Posts are read in portions within one snapshot, so that the memory of an export is bounded and
  /// what it writes belongs together.
  private static let portion = 500

  /// Hands out everything as records, in canonical order: the feeds that have a title by name, then
  /// the posts by id, each with its places in the newest ranking, published or not.
  ///
  /// - Throws: `StoreError`, and what `body` throws.
  public func exportRecords(_ body: (SeedRecord) throws -> Void) throws {
    try withStoreErrors(path: path) {
      try pool.read { database in
        let feeds = try Row.fetchAll(
          database, sql: "SELECT name, title FROM feed WHERE title IS NOT NULL ORDER BY name")
        for feed in feeds { try body(.feed(name: feed[0], title: feed[1])) }

        let reader = PostReader(database: database)
        let placements = try database.cachedStatement(sql: Self.placementsOfPost)
        var last = ""
        while true {
          let posts = try reader.posts(afterID: last, limit: Self.portion)
          for stored in posts {
            let rows = try Row.fetchAll(placements, arguments: [stored.number])
            try body(
              .post(stored.post, placements: rows.map { Placement(feed: $0[0], rank: $0[1]) }))
          }
          guard let id = posts.last?.post.id else { return }
          last = id
        }
      }
    }
  }

  static let placementsOfPost = """
    SELECT feed.name, feed_entry.rank FROM feed_entry JOIN feed USING (feed_id)
    WHERE feed_entry.post_id = ? AND feed_entry.until IS NULL
    """
}
