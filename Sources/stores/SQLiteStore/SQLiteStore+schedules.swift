import Catalog
import Feed
import GRDB
import RowStore

extension SQLiteStore {
  static let duePosts = """
    SELECT post.id FROM schedule CROSS JOIN post ON post.post_id = schedule.post_id
    WHERE due_at <= ? ORDER BY due_at LIMIT ?
    """
  static let nextDue = "SELECT due_at FROM schedule ORDER BY due_at LIMIT 1"

  /// See `FeedStore`.
  package var dueMoments: DueMoments { follower.dueMoments }

  /// See `FeedStore`.
  ///
  /// - Throws: `StoreError`.
  package func duePosts(limit: Int) throws -> DuePosts {
    let now = options.now()
    return try withStoreErrors(path: path) {
      try readers.read { database, _ in
        let rows = SQLiteRows(database: database, path: path)
        guard let next = try rows.number(Self.nextDue, []) else {
          return DuePosts(ids: [], next: nil)
        }
        var ids: [String] = []
        if next <= now.microseconds {
          try rows.each(Self.duePosts, [now.microseconds, limit]) { ids.append($0.string(0)) }
        }
        return DuePosts(ids: ids, next: Timestamp(microseconds: next))
      }
    }
  }
}

extension SQLiteRows {
  static let momentOfPost = "SELECT due_at FROM schedule WHERE post_id = ?"
  static let scheduledPlaces = "SELECT feed_id, rank FROM scheduled_place WHERE post_id = ?"

  /// Logs the hidden posts of a renamed feed; readers find the visible ones in its pages.
  static let logScheduledPosts = """
    INSERT INTO change_log (kind, post_id, after_entry)
    SELECT 'post', post_id, (SELECT max(entry_id) FROM feed_entry)
    FROM scheduled_place WHERE feed_id = ?
    """

  /// Reads the due time of a post and its places in feeds where it is scheduled.
  func readSchedule(ofPost number: Int64, into rows: inout KnownRows) throws {
    if let due = try self.number(Self.momentOfPost, [number]) {
      rows.add(dueAt: Timestamp(microseconds: due), ofPost: number)
    }
    try each(Self.scheduledPlaces, [number]) { row in
      rows.add(
        scheduled: row.optionalInteger(1).map(Int.init), ofPost: number, inFeed: row.integer(0))
      try readFeed(row.integer(0), into: &rows)
    }
  }

  func setSchedule(dueAt: Timestamp?, places: [Int64: Int?], ofPost number: Int64) throws {
    if let dueAt {
      try execute(
        "INSERT OR REPLACE INTO schedule (post_id, due_at) VALUES (?, ?)",
        [number, dueAt.microseconds])
    } else {
      try execute("DELETE FROM schedule WHERE post_id = ?", [number])
    }
    try execute("DELETE FROM scheduled_place WHERE post_id = ?", [number])
    for (feed, rank) in places.sorted(by: { $0.key < $1.key }) {
      try execute(
        "INSERT INTO scheduled_place (post_id, feed_id, rank) VALUES (?, ?, ?)",
        [number, feed, rank])
    }
  }
}
