import Feed
import GRDB
import System

extension ImportBatch {
  /// An entry, and the place that the batch's run has given it.
  struct OpenEntry {
    let feedID: Int64
    let post: Int64
    /// The run's last word, where it has one; else as everybody sees it.
    var rank: Int?
    /// Whether the run has a word on it.
    var isKept = false
    /// As everybody sees it; `nil` where the run is about to bring the post into the feed.
    var shown: Shown?

    /// As the current ranking has it, or the next one that a single write has begun.
    struct Shown {
      let id: Int64
      let key: SortKey
      let rank: Int?
      let publishedAt: Int64?
      let since: Int
    }

    /// The post has another time than the entry, or is not where its time says.
    func isMisplaced(_ post: Post) -> Bool {
      guard let shown else { return false }
      return shown.publishedAt != post.publishedAt?.microseconds
        || shown.key != SortKey(rank: shown.rank, publishedAt: post.publishedAt)
    }
  }

  static let openEntries = """
    SELECT entry_id, feed_id, sort_key, rank, published_at, since FROM feed_entry
    WHERE post_id = ? AND until IS NULL
    """

  // Left to itself, SQLite goes by what was closed in this ranking: all that moved.
  static let reopenEntry = """
    UPDATE feed_entry INDEXED BY feed_entry_by_post SET until = NULL, published_at = ?
    WHERE post_id = ? AND feed_id = ? AND until = ? AND sort_key = ? AND rank IS ?
    """

  func openEntries(ofPost number: Int64) throws -> [Int64: OpenEntry] {
    let statement = try database.cachedStatement(sql: Self.openEntries)
    var entries: [Int64: OpenEntry] = [:]
    for row in try Row.fetchAll(statement, arguments: [number]) {
      let shown = OpenEntry.Shown(
        id: row[0], key: SortKey(rawValue: row[2]), rank: row[3], publishedAt: row[4],
        since: row[5])
      entries[row[1]] = OpenEntry(feedID: row[1], post: number, rank: shown.rank, shown: shown)
    }
    for (feed, rank) in try run?.ranks(ofPost: number) ?? [] {
      entries[feed, default: OpenEntry(feedID: feed, post: number)].rank = rank
      entries[feed]!.isKept = true
    }
    return entries
  }

  mutating func enter(_ post: Post, _ number: Int64, _ feed: FeedRow, rank: Int?) throws {
    let key = SortKey(rank: rank, publishedAt: post.publishedAt)
    newEntries.append(
      NewEntry(
        feed: feed, post: number, position: Position(key: key, id: post.id),
        publishedAt: post.publishedAt, rank: rank))
    postsWithNewEntries.insert(number)
  }

  mutating func insertNewEntries() throws {
    for (index, entry) in newEntries.enumerated() {
      if index.isMultiple(of: Self.recordsPerTurn) { CurrentThread.yield() }
      if run?.feeds.contains(entry.feed.id) == true {
        try run?.keep(entry.post, in: entry.feed.id, rank: entry.rank)
        continue
      }
      // The next ranking begins with what the current one shows: it has the entry, too.
      try insert(
        feedID: entry.feed.id, post: entry.post, position: entry.position,
        publishedAt: entry.publishedAt?.microseconds, rank: entry.rank, since: entry.feed.ranking)
    }
    newEntries.removeAll()
    postsWithNewEntries.removeAll()
  }

  private func insert(
    feedID: Int64, post: Int64, position: Position, publishedAt: Int64?, rank: Int?, since: Int
  ) throws {
    try execute(
      """
      INSERT INTO feed_entry (feed_id, post_id, sort_key, id, published_at, rank, since)
      VALUES (?, ?, ?, ?, ?, ?, ?)
      """, [feedID, post, position.key.rawValue, position.id, publishedAt, rank, since])
  }

  /// Gives the entry this place: at the end of the run, or else in the next ranking.
  mutating func place(_ entry: OpenEntry, of post: Post, in feed: FeedRow, rank: Int?) throws {
    guard let shown = entry.shown else {
      try run?.keep(entry.post, in: feed.id, rank: rank)
      return
    }
    let publishedAt = post.publishedAt?.microseconds
    if publishedAt != shown.publishedAt {
      try execute(
        "UPDATE feed_entry SET published_at = ? WHERE post_id = ? AND feed_id = ?",
        [publishedAt, entry.post, feed.id])
    }
    let key = SortKey(rank: rank, publishedAt: post.publishedAt)
    let isMove = key != shown.key || rank != shown.rank
    if run == nil {
      if isMove {
        try move(
          shown, of: entry.post, to: Position(key: key, id: post.id), publishedAt, rank, in: feed)
      }
    } else if isMove {
      try run?.keep(entry.post, in: feed.id, rank: rank)
    } else {
      try run?.forget(entry.post, in: feed.id)
    }
  }

  /// Gives the entry another place in the next ranking; the current one goes on showing the old.
  private mutating func move(
    _ shown: OpenEntry.Shown, of post: Int64, to position: Position, _ publishedAt: Int64?,
    _ rank: Int?, in feed: FeedRow
  ) throws {
    movedFeeds.insert(feed.id)
    let next = feed.ranking + 1
    if shown.since == next {
      try execute("DELETE FROM feed_entry WHERE entry_id = ?", [shown.id])
      // Moved back to where the current ranking has it: then nothing moved.
      try execute(
        Self.reopenEntry, [publishedAt, post, feed.id, next, position.key.rawValue, rank])
      if database.changesCount > 0 { return }
    } else {
      try execute("UPDATE feed_entry SET until = ? WHERE entry_id = ?", [next, shown.id])
    }
    try insert(
      feedID: feed.id, post: post, position: position, publishedAt: publishedAt, rank: rank,
      since: next)
  }
}
