import Feed
import Postgres
import RowStore

extension PostgresStore {
  /// The number of posts that an export reads at once. All portions are read within one snapshot, so that
  /// the memory is bounded and the output is consistent.
  private static let portion = 500

  static let titledFeeds = "SELECT name, title FROM feed WHERE title IS NOT NULL ORDER BY name"
  static let idsAfter = "SELECT id FROM post WHERE id > $1::text ORDER BY id LIMIT $2::int8"
  static let placementsOfPosts = """
    SELECT post_id, (SELECT name FROM feed WHERE feed.feed_id = feed_entry.feed_id) AS feed, rank
    FROM feed_entry
    WHERE post_id = ANY (ARRAY(SELECT post_id FROM post WHERE id = ANY ($1::text[])))
      AND until IS NULL
    UNION ALL
    SELECT post_id, (SELECT name FROM feed WHERE feed.feed_id = scheduled_place.feed_id), rank
    FROM scheduled_place
    WHERE post_id = ANY (ARRAY(SELECT post_id FROM post WHERE id = ANY ($1::text[])))
    ORDER BY post_id, feed
    """

  /// Passes everything to `body` as records, in canonical order: the feeds that have a title, by name, then
  /// the posts by id, each with its places in the current rankings.
  ///
  /// - Throws: `PostgresStoreError`, and what `body` throws.
  package func exportRecords(_ body: (SeedRecord) throws -> Void) throws {
    // Not with a reader's connection: `body` may take long, and is called once.
    try withStoreErrors(name) {
      let connection = try Connection(address, .init(statementMilliseconds: 0))
      try connection.transaction(.reading) {
        let feeds = try connection.run(Self.titledFeeds)
        for index in 0..<feeds.count {
          let row = RowValues(rows: feeds, row: index)
          try body(.feed(name: try row.name(0), title: row.string(1)))
        }
        var last = ""
        while true {
          let ids = try connection.run(
            Self.idsAfter, [.text(last), .integer(Int64(Self.portion))])
          let names = try (0..<ids.count).map { try RowValues(rows: ids, row: $0).name(0) }
          guard let end = names.last else { return }
          for record in try Self.records(names, connection) { try body(record) }
          last = end
        }
      }
    }
  }

  /// Returns the posts with these ids as records, in the order of the ids.
  private static func records(_ ids: [String], _ connection: Connection) throws -> [SeedRecord] {
    let list = [Parameter.texts(ids.map { $0 })]
    let rows = try connection.run([
      Statement(PostRows.byID, list), Statement(PostRows.mediaByID, list),
      Statement(placementsOfPosts, list),
    ])
    let flat = try PostRows.posts(rows[0], rows[1])
    var placements: [Int64: [Placement]] = [:]
    for index in 0..<rows[2].count {
      let row = RowValues(rows: rows[2], row: index)
      placements[try row.integer(0), default: []].append(
        Placement(feed: try row.name(1), rank: row.optional(2).map(Int.init)))
    }
    let records = (0..<flat.count).map { index in
      (flat.post(at: index), placements[flat.posts[index].number] ?? [])
    }
    return records.sorted { $0.0.id.utf8.lexicographicallyPrecedes($1.0.id.utf8) }
      .map { .post($0.0, placements: $0.1) }
  }
}
