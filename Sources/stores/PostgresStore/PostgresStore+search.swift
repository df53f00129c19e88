import Catalog
import Feed
import Postgres
import RowStore

// MARK: Looking for posts

extension PostgresStore {
  /// The newest posts below a number that have words, and whether other conditions hold.
  static let postsWithWords = """
    SELECT number, post.post_id IS NOT NULL AND coalesce(type = $4::text, $4::text IS NULL)
      AND coalesce(published_at >= $5::int8, $5::int8 IS NULL)
      AND coalesce(published_at < $6::int8, $6::int8 IS NULL)
      AND ($7::text IS NULL OR EXISTS (SELECT 1 FROM feed_entry
        WHERE feed_entry.post_id = number AND until IS NULL
          AND feed_id = (SELECT feed_id FROM feed WHERE name = $7::text) OFFSET 0))
    FROM posts_with_words($1::text, $2::int8, $3::int8) AS number
    LEFT JOIN post ON post.post_id = number
    """
  static let textsMissing = """
    SELECT missing_below FROM text_index WHERE "only" = 1
    """

  /// From the primary.
  ///
  /// - Throws: `TextIndexUnfinished`, `PostgresStoreError`.
  func postNumbers(
    below number: Int64?, _ query: TextQuery, _ filter: ItemFilter, limit: Int, looks: Int
  ) throws -> PostNumbers {
    try read { connection in
      let missing = try connection.read([Statement(Self.textsMissing)])[0]
      if missing.count > 0, let below = missing.integer(0, 0), below > 0 {
        throw TextIndexUnfinished(below: below)
      }
      return try TextSearch(query, limit: limit, looks: looks).numbers(
        below: number ?? .max,
        candidates: { below, count in
          let rows = try connection.read([
            Statement(
              Self.postsWithWords,
              [
                .text(Self.match(query)), .integer(below), .integer(Int64(count)),
                .text(filter.type?.rawValue), .integer(filter.publishedFrom?.microseconds),
                .integer(filter.publishedBefore?.microseconds), .text(filter.feed),
              ])
          ])[0]
          return try (0..<rows.count).map { index in
            TextSearch.Candidate(
              number: try RowValues(rows: rows, row: index).integer(0),
              isAdmitted: rows.boolean(index, 1))
          }
        },
        posts: { try PostRows.posts(numbered: connection.read(PostRows.statements($0))) })
    }
  }

  /// As tsquery reads it (https://www.postgresql.org/docs/15/datatype-textsearch.html): words have no quotation mark
  /// and no backslash.
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

  /// Indexes the words of posts in place of those that they had.
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
    // What is whole is not written to.
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
