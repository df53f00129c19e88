import Catalog
import Feed

/// Makes one write, within its own savepoint.
struct ItemWriter<Rows: StoreRows> {
  private let rows: Rows
  private let keys: IdempotencyKeys<Rows>
  /// The feeds of which the write began a next ranking.
  private(set) var movedFeeds: Set<Int64> = []

  init(rows: Rows, keys: IdempotencyKeys<Rows>) {
    self.rows = rows
    self.keys = keys
  }

  /// - Throws: `FeedError`, what the write's condition throws, what the database says.
  mutating func run(_ write: ItemWrite) throws -> ItemOutcome {
    let stored = try rows.post(withID: write.id)
    if let authorization = write.authorization { try authorization(try stored.map(item)) }
    // Before the condition, and whatever became of the item: it is answered as it was the first time.
    if case .increment(_, let key?) = write.change, let counters = try keys.answer(to: key) {
      return .counted(counters, isReplay: true)
    }
    if let condition = write.condition { try condition(try stored.map(item)) }
    if case .put(let post, let placements) = write.change {
      return try put(post, placements, over: stored)
    }
    guard let stored else { throw FeedError.unknownItem(write.id) }
    guard case .increment(let increments, let key) = write.change else {
      try rows.delete(stored)
      return .deleted
    }
    let counters = try stored.post.counters.adding(increments, ofItem: write.id)
    try rows.set(counters, of: stored)
    if let key { try keys.keep(key, answer: counters) }
    return .counted(counters, isReplay: false)
  }

  private func item(_ stored: StoredPost) throws -> StoredItem {
    StoredItem(post: stored.post, placements: try rows.placements(of: stored))
  }

  private mutating func put(
    _ post: Post, _ placements: [Placement]?, over stored: StoredPost?
  ) throws -> ItemOutcome {
    var batch = ImportBatch(rows: rows)
    try batch.put(post, placements, over: stored)
    movedFeeds.formUnion(batch.movedFeeds)
    return stored == nil ? .created(post) : .replaced(post)
  }
}

/// Makes one write of a feed, within its own savepoint. Triggers update what belongs to a feed,
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
