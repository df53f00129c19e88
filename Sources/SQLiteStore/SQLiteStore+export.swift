import Feed
import GRDB
import RowStore

extension SQLiteStore {
  /// Posts are read in portions within one snapshot, so that the memory of an export is bounded and
  /// what it writes belongs together.
  private static let portion = 500

  /// Hands out everything as records, in canonical order: the feeds that have a title by name, then
  /// the posts by id, each with its places in the current rankings.
  ///
  /// - Throws: `StoreError`, and what `body` throws.
  public func exportRecords(_ body: (SeedRecord) throws -> Void) throws {
    try withStoreErrors(path: path) {
      try pool.read { database in
        let feeds = try Row.fetchAll(
          database, sql: "SELECT name, title FROM feed WHERE title IS NOT NULL ORDER BY name")
        for feed in feeds { try body(.feed(name: feed[0], title: feed[1])) }

        let reader = PostReader(database: database)
        var lastID = ""
        while true {
          let posts = try reader.posts(afterID: lastID, limit: Self.portion)
          for index in posts.posts.indices {
            let item = try reader.item(
              .init(number: posts.posts[index].number, post: posts.post(at: index)))
            try body(.post(item.post, placements: item.placements))
          }
          guard let last = posts.posts.last else { return }
          lastID = posts.string(last.id)
        }
      }
    }
  }
}
