import Feed
import Postgres
import RowStore

/// One batch of a prune: deletes some posts within one transaction.
struct PostgresPruning {
  let rows: PostgresRows
  let rule: PruningRule
  /// The feed from which posts are removed; nil if they are deleted.
  let feed: Int64?
  let isDryRun: Bool

  /// The progress of a prune: by the posts' numbers, or down a feed's order. Each batch begins where the one
  /// before ended. By the numbers of a feed's entries, each batch would search all entries for the next ones.
  struct Place {
    /// A post's number, or an entry's sort key.
    let number: Int64
    /// An entry's id.
    let id: String

    static let start = Place(number: .min, id: "")
  }

  static let deleteClosed = """
    DELETE FROM feed_entry WHERE entry_id IN (SELECT entry_id FROM feed_entry
      WHERE feed_id = $1::int8 AND until <= $2::int8 LIMIT $3::int8)
    """

  static let countClosed =
    "SELECT count(*) FROM feed_entry WHERE feed_id = $1::int8 AND until <= $2::int8"

  /// Selects posts after a place, whether they are in a feed, and whether they are scheduled. OFFSET 0
  /// makes the planner look up each post's entries instead of hashing all entries.
  static let posts = """
    SELECT post_id AS number, '' AS id, post_id, published_at,
      EXISTS (SELECT 1 FROM feed_entry WHERE feed_entry.post_id = post.post_id OFFSET 0),
      EXISTS (SELECT 1 FROM schedule
        WHERE schedule.post_id = post.post_id AND due_at = post.visible_from OFFSET 0)
    FROM post WHERE post_id > $1::int8 ORDER BY post_id LIMIT $2::int8
    """
  static let entries = """
    SELECT sort_key AS number, id, post_id, published_at, true, false FROM feed_entry
    WHERE feed_id = $3::int8 AND (sort_key, id) > ($1::int8, $4::text) AND until IS NULL
    ORDER BY sort_key, id LIMIT $2::int8
    """

  /// Selects the positions of posts in the current rankings. OFFSET 0 makes the planner begin with the
  /// posts' entries, not with all feeds.
  static let positions = """
    SELECT post_id, feed_id, sort_key, id FROM feed_entry CROSS JOIN LATERAL (
      SELECT ranking FROM feed WHERE feed.feed_id = feed_entry.feed_id OFFSET 0) AS shown
    WHERE post_id = ANY ($1::int8[]) AND coalesce(feed_id = $2::int8, true)
      AND since <= ranking AND (until IS NULL OR until > ranking)
    """
  static let aboutToMove = """
    SELECT post_id FROM pending_place
    WHERE post_id = ANY ($1::int8[]) AND coalesce(feed_id = $2::int8, true)
    """
  /// Selects the ends of the tops of feeds; no row for a feed that has no more entries. A run that is about
  /// to move entries away from above a post may bring that post to the top: as many more posts stay.
  static let ends = """
    SELECT given.feed_id, top_end.sort_key, top_end.id
    FROM unnest($1::int8[]) AS given (feed_id) CROSS JOIN LATERAL (
      SELECT ranking FROM feed WHERE feed.feed_id = given.feed_id OFFSET 0
    ) AS shown CROSS JOIN LATERAL (
      SELECT sort_key, id FROM feed_entry WHERE feed_entry.feed_id = given.feed_id
        AND since <= ranking AND (until IS NULL OR until > ranking)
      ORDER BY sort_key, id LIMIT 1 OFFSET $2::int8 - 1
        + (SELECT count(*) FROM pending_place WHERE pending_place.feed_id = given.feed_id)
    ) AS top_end
    """

  /// - Returns: the place after which to continue; nil at the end.
  func run(after place: Place, limit: Int64, _ summary: inout PruningSummary) throws -> Place? {
    let bounds: [Parameter] = [.integer(place.number), .integer(limit)]
    let found =
      if let feed {
        try rows.connection.run(Self.entries, bounds + [.integer(feed), .text(place.id)])
      } else {
        try rows.connection.run(Self.posts, bounds)
      }
    var candidates: [Int64] = []
    for index in 0..<found.count {
      let row = RowValues(rows: found, row: index)
      if found.boolean(index, 5) { continue }
      if let before = rule.publishedBefore {
        let time = row.optional(3)
        if time == nil { summary.withoutTime += 1 }
        guard let time, time < before.microseconds else { continue }
      } else if !found.boolean(index, 4) {
        // A rule by place alone does not delete posts without a place.
        continue
      }
      candidates.append(try row.integer(2))
    }
    summary.seen += found.count
    let top = try top(of: candidates)
    let gone = candidates.filter { !top.contains($0) }
    let staying = try feed.map { try elsewhere(gone, than: $0) } ?? []
    summary.departures += staying.count
    summary.posts += gone.count - staying.count
    if !isDryRun { try delete(gone, staying) }
    guard found.count == Int(limit), let id = found.text(found.count - 1, 1) else { return nil }
    return Place(number: try RowValues(rows: found, row: found.count - 1).integer(0), id: id)
  }

  /// Returns the posts at the top of a feed, or of the feed that posts leave, and those that are about to
  /// be moved within it.
  private func top(of posts: [Int64]) throws -> Set<Int64> {
    guard let kept = rule.keptPosts, kept > 0, !posts.isEmpty else { return [] }
    let values: [Parameter] = [.integers(posts.map { $0 }), .integer(feed)]
    let found = try rows.connection.run([
      Statement(Self.positions, values), Statement(Self.aboutToMove, values),
    ])
    let (positions, moves) = (found[0], found[1])
    let feeds = try Set(
      (0..<positions.count).map { try RowValues(rows: positions, row: $0).integer(1) })
    let ends = try ends(of: feeds, keeping: kept)
    var top = try Set((0..<moves.count).map { try RowValues(rows: moves, row: $0).integer(0) })
    for index in 0..<positions.count {
      let row = RowValues(rows: positions, row: index)
      if let end = ends[try row.integer(1)], end < (try row.position(2)) { continue }
      top.insert(try row.integer(0))
    }
    return top
  }

  private func ends(of feeds: Set<Int64>, keeping kept: Int) throws -> [Int64: Position] {
    let found = try rows.connection.run(
      Self.ends, [.integers(feeds.sorted().map { $0 }), .integer(Int64(kept))])
    var ends: [Int64: Position] = [:]
    for index in 0..<found.count {
      let row = RowValues(rows: found, row: index)
      ends[try row.integer(0)] = try row.position(1)
    }
    return ends
  }

  /// Returns the posts that are in another feed or about to be.
  private func elsewhere(_ posts: [Int64], than feed: Int64) throws -> Set<Int64> {
    let found = try rows.connection.run(
      """
      SELECT post_id FROM feed_entry WHERE post_id = ANY ($1::int8[]) AND feed_id <> $2::int8
      UNION SELECT post_id FROM pending_place
        WHERE post_id = ANY ($1::int8[]) AND feed_id <> $2::int8
      """, [.integers(posts.map { $0 }), .integer(feed)])
    return Set(try (0..<found.count).map { try RowValues(rows: found, row: $0).integer(0) })
  }

  private func delete(_ gone: [Int64], _ staying: Set<Int64>) throws {
    let leaving = [Parameter.integers(staying.sorted().map { $0 }), .integer(feed)]
    try rows.direct(
      "DELETE FROM feed_entry WHERE post_id = ANY ($1::int8[]) AND feed_id = $2::int8", leaving)
    try rows.direct(
      "DELETE FROM pending_place WHERE post_id = ANY ($1::int8[]) AND feed_id = $2::int8", leaving)
    try rows.direct(
      "DELETE FROM post WHERE post_id = ANY ($1::int8[])",
      [.integers(gone.filter { !staying.contains($0) }.map { $0 })])
    rows.trimLog()
  }
}
