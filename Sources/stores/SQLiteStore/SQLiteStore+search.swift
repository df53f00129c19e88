import Catalog
import Feed
import GRDB
import RowStore

// MARK: Looking for posts

extension SQLiteStore {
  /// The newest posts below a number that have words, and whether other conditions hold. CROSS, and LEFT: in the
  /// order of the index, and as many as it has.
  static let postsWithWords = """
    SELECT number, post.post_id IS NOT NULL AND (?4 IS NULL OR type = ?4)
      AND (?5 IS NULL OR published_at >= ?5) AND (?6 IS NULL OR published_at < ?6)
      AND (?7 IS NULL OR EXISTS (SELECT 1 FROM feed_entry INDEXED BY feed_entry_by_post
        WHERE feed_entry.post_id = number AND feed_id = (SELECT feed_id FROM feed WHERE name = ?7)
          AND until IS NULL))
    FROM (SELECT rowid AS number FROM post_text
      WHERE post_text MATCH ?1 AND rowid < ?2 ORDER BY rowid DESC LIMIT ?3) AS found
    LEFT JOIN post ON post.post_id = number
    """
  static let textsMissing = "SELECT missing_below FROM text_index WHERE only = 1"

  /// - Throws: `TextIndexUnfinished`, `DatabaseError`.
  static func postNumbers(
    below number: Int64?, _ query: TextQuery, _ filter: ItemFilter, limit: Int, looks: Int,
    _ database: Database, _ statements: inout PageStatements
  ) throws -> PostNumbers {
    let rows = SQLiteRows(database: database, path: "")
    let missing = try rows.number(textsMissing, []) ?? 0
    guard missing == 0 else { throw TextIndexUnfinished(below: missing) }
    return try TextSearch(query, limit: limit, looks: looks).numbers(
      below: number ?? .max,
      candidates: { below, count in
        var found: [TextSearch.Candidate] = []
        try rows.each(
          postsWithWords,
          [
            match(query), below, count, filter.type?.rawValue,
            filter.publishedFrom?.microseconds, filter.publishedBefore?.microseconds, filter.feed,
          ]
        ) { row in
          found.append(.init(number: row.integer(0), isAdmitted: row.integer(1) != 0))
        }
        return found
      },
      posts: { try statements.posts($0, database) })
  }

  /// In FTS5's syntax (https://sqlite.org/fts5.html, section 3): words have no quotation mark.
  private static func match(_ query: TextQuery) -> String {
    query.words.map { word in
      "\"" + String(decoding: word.utf8, as: UTF8.self) + (word.isPrefix ? "\" *" : "\"")
    }.joined(separator: " AND ")
  }
}

// MARK: The index

extension SQLiteRows {
  /// Indexes the words of a new post, which no other program had a chance to.
  func insertWords(of post: Post, _ number: Int64) throws {
    let words = SearchWords(of: post).indexed
    guard !words.isEmpty else { return }
    try execute("INSERT INTO post_text (rowid, words) VALUES (?, ?)", [number, words])
  }

  /// Indexes the words of a post in place of those that it had.
  func replaceWords(of post: Post, _ number: Int64) throws {
    let words = SearchWords(of: post).indexed
    if words.isEmpty {
      try execute("DELETE FROM post_text WHERE rowid = ?", [number])
    } else {
      try execute("INSERT OR REPLACE INTO post_text (rowid, words) VALUES (?, ?)", [number, words])
    }
  }

  /// All posts have to be indexed again.
  func forgetIndexedTexts() throws {
    try execute(
      "UPDATE text_index SET missing_below = (SELECT coalesce(max(post_id) + 1, 0) FROM post)")
  }
}

extension SQLiteStore {
  static let postsBelow =
    "SELECT post_id FROM post WHERE post_id < ? ORDER BY post_id DESC LIMIT ?"

  /// See `DatabaseStore`.
  ///
  /// - Throws: `StoreError`.
  package func indexTexts(atMost limit: Int) throws -> Int64 {
    try withStoreErrors(path: path) {
      // What is whole is not written to.
      let isMissing = try pool.read { database in
        try SQLiteRows(database: database, path: path).number(Self.textsMissing, []) ?? 0 > 0
      }
      guard isMissing else { return 0 }
      return try pool.write { database in
        let rows = SQLiteRows(database: database, path: path)
        guard let missing = try rows.number(Self.textsMissing, []), missing > 0 else { return 0 }
        var numbers: [Int64] = []
        try rows.each(Self.postsBelow, [missing, limit]) { numbers.append($0.integer(0)) }
        var statements = PageStatements()
        // Upwards: FTS5 begins a new segment for a number below the one before.
        let posts = try statements.posts(numbers.reversed(), database)
        for (index, post) in posts.posts.enumerated() {
          try rows.replaceWords(of: posts.post(at: index), post.number)
        }
        let left = numbers.count < limit ? 0 : numbers.last ?? 0
        try rows.execute("UPDATE text_index SET missing_below = ?", [left])
        return left
      }
    }
  }
}
