import Catalog
import Feed
import Postgres
import RowStore

extension PostgresStore {
  static let duePosts = """
    SELECT (SELECT id FROM post WHERE post.post_id = schedule.post_id) FROM schedule
    WHERE due_at <= $1::int8 ORDER BY due_at LIMIT $2::int8
    """
  static let nextDue = "SELECT due_at FROM schedule ORDER BY due_at LIMIT 1"

  /// See `FeedStore`.
  package var dueMoments: DueMoments { follower.dueMoments }

  /// See `FeedStore`. Reads from the primary.
  ///
  /// - Throws: `PostgresStoreError`.
  package func duePosts(limit: Int) throws -> DuePosts {
    let now = options.now()
    return try read { connection in
      let rows = try connection.read([
        Statement(Self.nextDue),
        Statement(Self.duePosts, [.integer(now.microseconds), .integer(Int64(limit))]),
      ])
      return DuePosts(
        ids: try rows[1].values.map { try $0.name(0) },
        next: rows[0].count > 0
          ? rows[0].integer(0, 0).map(Timestamp.init(microseconds:)) : nil)
    }
  }
}

extension PostgresRows {
  static let putSchedules = """
    INSERT INTO schedule (post_id, due_at)
    SELECT post, due_at FROM unnest($1::int8[], $2::int8[]) AS given (post, due_at)
    ON CONFLICT (post_id) DO UPDATE SET due_at = excluded.due_at
    """
  static let dropSchedules = "DELETE FROM schedule WHERE post_id = ANY ($1::int8[])"
  static let dropScheduledPlaces = "DELETE FROM scheduled_place WHERE post_id = ANY ($1::int8[])"
  static let putScheduledPlaces = """
    INSERT INTO scheduled_place (post_id, feed_id, rank)
    SELECT post, feed, rank FROM unnest($1::int8[], $2::int8[], $3::int8[])
      AS given (post, feed, rank)
    """

  /// Logs the hidden posts of a renamed feed; readers find the visible ones in its pages.
  static let logScheduledPosts = """
    INSERT INTO change_log (kind, post_id)
    SELECT 'post', post_id FROM scheduled_place WHERE feed_id = $1::int8
    """

  func flushSchedules() throws {
    let schedules = pending.schedules.sorted { $0.key < $1.key }
    guard !schedules.isEmpty else { return }
    pending.schedules = [:]
    let (due, gone) = (
      schedules.filter { $0.value.dueAt != nil }, schedules.filter { $0.value.dueAt == nil }
    )
    let places = schedules.flatMap { number, schedule in
      schedule.places.sorted { $0.key < $1.key }.map { (number, $0.key, $0.value) }
    }
    try connection.run([
      Statement(
        Self.putSchedules,
        [
          .integers(due.map(\.key)), .integers(due.map { $0.value.dueAt?.microseconds }),
        ]),
      Statement(Self.dropSchedules, [.integers(gone.map(\.key))]),
      Statement(Self.dropScheduledPlaces, [.integers(schedules.map(\.key))]),
      Statement(
        Self.putScheduledPlaces,
        [
          .integers(places.map(\.0)), .integers(places.map(\.1)),
          .integers(places.map { $0.2.map(Int64.init) }),
        ]),
    ])
  }
}
