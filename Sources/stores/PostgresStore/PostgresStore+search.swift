import Catalog
import Feed
import Postgres
import RowStore

// MARK: Searching posts

extension PostgresStore {
  /// Selects the newest posts below a number that contain words, and whether the other conditions hold.
  static let postsWithWords = admitted(
    from: "posts_with_words($9::text, $1::int8, $2::int8) AS number")
  /// Selects the newest posts below a number that have a schedule, hidden or not.
  static let postsWithSchedules = admitted(
    from: """
      (SELECT post_id AS number FROM (
        (SELECT post_id FROM schedule WHERE post_id < $1::int8 ORDER BY post_id DESC LIMIT $2::int8)
        UNION (SELECT post_id FROM scheduled_place WHERE post_id < $1::int8
          ORDER BY post_id DESC LIMIT $2::int8)) AS either
        ORDER BY post_id DESC LIMIT $2::int8) AS hidden
      """)
  /// Selects the newest hidden posts of a feed below a number.
  static let hiddenPostsOfFeed = admitted(
    from: """
      (SELECT post_id AS number FROM scheduled_place
        WHERE feed_id = (SELECT feed_id FROM feed WHERE name = $6::text) AND post_id < $1::int8
        ORDER BY post_id DESC LIMIT $2::int8) AS hidden
      """)

  /// Selects candidates, and whether the filter's other conditions hold for them.
  private static func admitted(from candidates: String) -> String {
    """
    SELECT number, post.post_id IS NOT NULL AND coalesce(type = $3::text, $3::text IS NULL)
      AND coalesce(published_at >= $4::int8, $4::int8 IS NULL)
      AND coalesce(published_at < $5::int8, $5::int8 IS NULL)
      AND ($6::text IS NULL OR $7::text IS NOT NULL OR EXISTS (SELECT 1 FROM feed_entry
        WHERE feed_entry.post_id = number AND until IS NULL
          AND feed_id = (SELECT feed_id FROM feed WHERE name = $6::text) OFFSET 0))
      AND ($7::text IS NULL OR coalesce(CASE WHEN visible_from > $8::int8 THEN 'scheduled'
        WHEN visible_until <= $8::int8 THEN 'ended' END = $7::text, false))
      AND ($7::text IS NULL OR ($6::text IS NULL AND $7::text = 'scheduled')
        OR EXISTS (SELECT 1 FROM scheduled_place WHERE scheduled_place.post_id = number
          AND ($6::text IS NULL OR feed_id = (SELECT feed_id FROM feed WHERE name = $6::text))
          OFFSET 0)),
      \(PostColumns.readPost)
    FROM \(candidates) LEFT JOIN post ON post.post_id = number LEFT JOIN author USING (author_id)
    """
  }
  static let textsMissing = """
    SELECT missing_below FROM text_index WHERE "only" = 1
    """

  /// The number of candidates that are read first; each later round reads twice as many.
  private static let firstPortion = 128

  /// Reads from the primary.
  ///
  /// - Throws: `TextIndexUnfinished`, `PostgresStoreError`.
  func postNumbers(
    below number: Int64?, _ filter: ItemFilter, at now: Timestamp, limit: Int, looks: Int
  ) throws -> PostNumbers {
    try read { connection in
      var sql = filter.feed == nil ? Self.postsWithSchedules : Self.hiddenPostsOfFeed
      if filter.text != nil {
        let missing = try connection.read([Statement(Self.textsMissing)])[0]
        if missing.count > 0, let below = missing.integer(0, 0), below > 0 {
          throw TextIndexUnfinished(below: below)
        }
        sql = Self.postsWithWords
      }
      var search = ItemSearch(filter.text, limit: limit, looks: looks)
      var (below, portion) = (number ?? .max, Self.firstPortion)
      while true {
        let count = min(portion, search.looksLeft)
        let rows = try connection.read([
          Statement(
            sql,
            [
              .integer(below), .integer(Int64(count)), .text(filter.type?.rawValue),
              .integer(filter.publishedFrom?.microseconds),
              .integer(filter.publishedBefore?.microseconds), .text(filter.feed),
              .text(filter.visibility?.rawValue), .integer(now.microseconds),
            ] + (filter.text.map { [.text(Self.match($0))] } ?? []))
        ])[0]
        // A join may have changed the order.
        let candidates = try (0..<rows.count).map { row in
          (number: try RowValues(rows: rows, row: row).integer(0), row: row)
        }.sorted { $0.number > $1.number }
        for (number, row) in candidates {
          var flat = FlatPosts()
          if rows.boolean(row, 1) {
            try flat.appendPost(RowValues(rows: rows, row: row), from: 2, isDetailed: false)
          }
          guard search.look(at: number, flat.posts.isEmpty ? nil : flat.post(at: 0)) else {
            return search.numbers
          }
          below = number
        }
        guard rows.count == count else { return search.numbers }
        portion *= 2
      }
    }
  }

  /// Returns the query in the syntax of tsquery (https://www.postgresql.org/docs/15/datatype-textsearch.html).
  /// Words contain no quotation mark and no backslash.
  private static func match(_ query: TextQuery) -> String {
    query.words.map { word in
      "'" + String(decoding: word.utf8, as: UTF8.self) + (word.isPrefix ? "':*" : "'")
    }.joined(separator: " & ")
  }
}

// MARK: The index

extension PostgresRows {
  static let putWords = """
    INSERT INTO post_text (post_id, words)
    SELECT number, array_to_tsvector(string_to_array(words, ' '))
    FROM unnest($1::int8[], $2::text[]) AS given (number, words)
    ON CONFLICT (post_id) DO UPDATE SET words = excluded.words
    """

  /// Indexes the words of posts, in place of their previous words.
  func putWords(of posts: [(number: Int64, post: Post)]) throws {
    guard !posts.isEmpty else { return }
    try connection.run(
      Self.putWords,
      [
        .integers(posts.map(\.number)), .texts(posts.map { SearchWords(of: $0.post).indexed }),
      ])
  }

  static let forgetIndexedTexts =
    "UPDATE text_index SET missing_below = (SELECT coalesce(max(post_id) + 1, 0) FROM post)"
}

extension PostgresStore {
  static let postsBelow = """
    SELECT post_id FROM post WHERE post_id < $1::int8 ORDER BY post_id DESC LIMIT $2::int8
    """

  /// See `DatabaseStore`.
  ///
  /// - Throws: `PostgresStoreError`.
  package func indexTexts(atMost limit: Int) throws -> Int64 {
    func missing(_ rows: Rows) -> Int64 { rows.count > 0 ? rows.integer(0, 0) ?? 0 : 0 }
    // A complete index is not written to.
    guard try read({ missing(try $0.read([Statement(Self.textsMissing)])[0]) }) > 0 else {
      return 0
    }
    return try withStoreErrors(name) {
      try writer.transaction(isBulk: true) { rows in
        let below = missing(try rows.connection.run(Self.textsMissing))
        guard below > 0 else { return 0 }
        let found = try rows.connection.run(
          Self.postsBelow, [.integer(below), .integer(Int64(limit))])
        let numbers = try found.values.map { try $0.integer(0) }
        let posts = try PostRows.posts(
          numbered: rows.connection.run(PostRows.statements(numbers)))
        try rows.putWords(
          of: posts.posts.indices.map { (posts.posts[$0].number, posts.post(at: $0)) })
        let left = numbers.count < limit ? 0 : numbers.last ?? 0
        try rows.connection.run(
          "UPDATE text_index SET missing_below = $1::int8", [.integer(left)])
        return left
      }
    }
  }
}
