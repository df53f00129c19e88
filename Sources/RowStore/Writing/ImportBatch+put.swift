import Catalog
import Feed

extension ImportBatch {
  /// Writes one post; with `placements` it is in these feeds and no other afterwards.
  mutating func put(_ post: Post, _ placements: [Placement]?, over stored: StoredPost?)
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
    for feed in try rows.feeds(ofPost: number).subtracting(kept).sorted() {
      try rows.remove(number, fromFeed: feed)
    }
  }
}
