import Feed
import GRDB

extension ImportBatch {
  static let feedsOfPost = """
    SELECT feed_id FROM feed_entry WHERE post_id = ?1
    UNION ALL SELECT feed_id FROM pending_place WHERE post_id = ?1
    """
  static let removeFromFeed = "DELETE FROM feed_entry WHERE post_id = ? AND feed_id = ?"
  static let removeFromRuns = "DELETE FROM pending_place WHERE post_id = ? AND feed_id = ?"

  /// Writes one post; with `placements` it is in these feeds and no other afterwards.
  mutating func put(_ post: Post, _ placements: [Placement]?, over stored: PostReader.Stored?)
    throws
  {
    // First, so that a new time does not move it where it leaves.
    if let stored, let placements {
      try remove(stored.number, exceptFrom: Set(placements.map { try feedRow($0.feed).id }))
    }
    try write(post, placements ?? [], over: stored)
    try insertNewEntries()
  }

  /// Takes a post out of all other feeds, in every ranking: a walk does not meet it there again, and no
  /// run brings it back.
  private func remove(_ number: Int64, exceptFrom kept: Set<Int64>) throws {
    let statement = try database.cachedStatement(sql: Self.feedsOfPost)
    let feeds = Set(try Int64.fetchAll(statement, arguments: [number]))
    for feedID in feeds.subtracting(kept).sorted() {
      try execute(Self.removeFromFeed, [number, feedID])
      try execute(Self.removeFromRuns, [number, feedID])
    }
  }
}
