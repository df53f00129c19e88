import Feed
import GRDB

extension ImportBatch {
  static let feedsOfPost = "SELECT DISTINCT feed_id FROM feed_entry WHERE post_id = ?"
  static let removeFromFeed = "DELETE FROM feed_entry WHERE post_id = ? AND feed_id = ?"

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

  /// Takes a post out of all other feeds, in every ranking: a walk does not meet it there again.
  private func remove(_ number: Int64, exceptFrom kept: Set<Int64>) throws {
    let statement = try database.cachedStatement(sql: Self.feedsOfPost)
    for feedID in try Int64.fetchAll(statement, arguments: [number]) where !kept.contains(feedID) {
      try execute(Self.removeFromFeed, [number, feedID])
    }
  }
}
