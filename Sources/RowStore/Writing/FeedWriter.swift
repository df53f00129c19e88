import Catalog
import Feed

/// Makes one write of a feed, within a savepoint of its own. What belongs to a feed follows by triggers,
/// whichever program changes its row.
struct FeedWriter<Rows: StoreRows> {
  let rows: Rows

  /// - Throws: `FeedError`, what the write's condition throws, what the database says.
  func run(_ write: FeedWrite) throws -> FeedOutcome {
    let feed = try rows.feed(named: write.name)
    try write.condition?(feed.map { StoredFeed(name: write.name, title: $0.title) })
    switch write.change {
    case .put(let title):
      guard let feed else {
        _ = try rows.insertFeed(named: write.name, title: title)
        return .created
      }
      if !feed.title.isSame(as: title) { try rows.setTitle(title, ofFeed: feed.id) }
      return .replaced
    case .rename(let name, let title):
      guard let feed else { throw FeedError.unknownFeed(write.name) }
      guard try rows.feed(named: name) == nil else { throw FeedError.feedExists(name) }
      try rows.renameFeed(feed.id, to: name, title: title)
      return .renamed
    case .delete:
      guard let feed else { throw FeedError.unknownFeed(write.name) }
      try rows.deleteFeed(feed.id)
      return .deleted
    }
  }
}
