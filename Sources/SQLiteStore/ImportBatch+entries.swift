import Feed
import GRDB
import Glibc

extension ImportBatch {
  /// An entry as the newest ranking, published or not, has it.
  struct OpenEntry {
    var id: Int64 = 0
    var feedID: Int64 = 0
    var post: Int64 = 0
    var key = SortKey(rawValue: 0)
    let rank: Int?
    var publishedAt: Int64?
    var since = 1

    init(rank: Int?) {
      self.rank = rank
    }

    init(_ row: Row) {
      id = row[0]
      feedID = row[1]
      post = row[2]
      key = SortKey(rawValue: row[3])
      rank = row[4]
      publishedAt = row[5]
      since = row[6]
    }
  }

  static let openEntries = """
    SELECT entry_id, feed_id, post_id, sort_key, rank, published_at, since FROM feed_entry
    WHERE post_id = ? AND until IS NULL
    """

  // Left to itself, SQLite goes by what was closed in this ranking: all that moved.
  static let reopenEntry = """
    UPDATE feed_entry INDEXED BY feed_entry_by_post SET until = NULL, published_at = ?
    WHERE post_id = ? AND feed_id = ? AND until = ? AND sort_key = ? AND rank IS ?
    """

  func openEntries(ofPost number: Int64) throws -> [Int64: OpenEntry] {
    let statement = try database.cachedStatement(sql: Self.openEntries)
    let entries = try Row.fetchAll(statement, arguments: [number]).map(OpenEntry.init)
    return Dictionary(entries.map { ($0.feedID, $0) }, uniquingKeysWith: { _, last in last })
  }

  mutating func enter(_ post: Post, _ number: Int64, _ placement: Placement) throws {
    _ = try feedRow(placement.feed)
    let key = SortKey(rank: placement.rank, publishedAt: post.publishedAt)
    newEntries.append(
      NewEntry(
        feed: placement.feed, post: number, position: Position(key: key, id: post.id),
        publishedAt: post.publishedAt, rank: placement.rank))
    postsWithNewEntries.insert(number)
  }

  mutating func insertNewEntries() throws {
    for (index, entry) in newEntries.enumerated() {
      if index.isMultiple(of: Self.recordsPerTurn) { sched_yield() }
      let feed = try feedRow(entry.feed)
      try insert(
        feedID: feed.id, post: entry.post, position: entry.position,
        publishedAt: entry.publishedAt?.microseconds, rank: entry.rank,
        since: movedFeeds.contains(entry.feed) ? feed.ranking + 1 : feed.ranking)
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

  /// Gives the entry another place, in the next ranking; the current one goes on showing the old.
  mutating func move(
    _ entry: OpenEntry, of post: Post, to placement: Placement, in feed: FeedRow
  ) throws {
    let key = SortKey(rank: placement.rank, publishedAt: post.publishedAt)
    let publishedAt = post.publishedAt?.microseconds
    let next = feed.ranking + 1
    if key == entry.key, placement.rank == entry.rank {
      if entry.since == next { movedFeeds.insert(placement.feed) }
      if publishedAt != entry.publishedAt {
        try execute(
          "UPDATE feed_entry SET published_at = ? WHERE post_id = ? AND feed_id = ?",
          [publishedAt, entry.post, feed.id])
      }
      return
    }
    movedFeeds.insert(placement.feed)
    if entry.since == next {
      try execute("DELETE FROM feed_entry WHERE entry_id = ?", [entry.id])
      // Moved back to where the current ranking has it: then nothing moved.
      try execute(
        Self.reopenEntry, [publishedAt, entry.post, feed.id, next, key.rawValue, placement.rank])
      if database.changesCount > 0 { return }
    } else {
      try execute("UPDATE feed_entry SET until = ? WHERE entry_id = ?", [next, entry.id])
    }
    try insert(
      feedID: feed.id, post: entry.post, position: Position(key: key, id: post.id),
      publishedAt: publishedAt, rank: placement.rank, since: next)
  }

  /// A post's new time moves it in the timed feeds that its record does not name.
  mutating func retime(
    _ entries: [Int64: OpenEntry], of post: Post, except placements: [Placement]
  ) throws {
    for entry in entries.values.sorted(by: { $0.feedID < $1.feedID }) {
      guard let row = try row("SELECT name FROM feed WHERE feed_id = ?", [entry.feedID]) else {
        continue
      }
      let name: String = row[0]
      guard !placements.contains(where: { $0.feed.isSame(as: name) }) else { continue }
      try move(
        entry, of: post, to: Placement(feed: name, rank: entry.rank), in: try feedRow(name))
    }
  }
}
