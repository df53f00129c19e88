import Catalog
import Feed
import GRDB
import RowStore

// MARK: Searching posts

extension SQLiteStore {
  /// Selects the newest posts below a number that contain words.
  static let postsWithWords = """
    SELECT rowid FROM post_text WHERE post_text MATCH ?1 AND rowid < ?2 ORDER BY rowid DESC LIMIT ?3
    """
  /// Selects the newest posts below a number that have a schedule, hidden or not.
  static let postsWithSchedules = """
    SELECT post_id FROM schedule WHERE post_id < ?1
    UNION SELECT post_id FROM scheduled_place WHERE post_id < ?1 ORDER BY post_id DESC LIMIT ?2
    """
  /// Selects the newest hidden posts of a feed below a number.
  static let hiddenPostsOfFeed = """
    SELECT post_id FROM scheduled_place INDEXED BY scheduled_place_by_feed
    WHERE feed_id = (SELECT feed_id FROM feed WHERE name = ?3) AND post_id < ?1
    ORDER BY post_id DESC LIMIT ?2
    """
  /// Selects a candidate if the other conditions hold; without its files, which contain no words.
  static let admittedPost = """
    SELECT \(PostColumns.readPost) FROM post LEFT JOIN author USING (author_id)
    WHERE post.post_id = ?1 AND (?2 IS NULL OR type = ?2)
      AND (?3 IS NULL OR published_at >= ?3) AND (?4 IS NULL OR published_at < ?4)
      AND (?5 IS NULL OR ?6 IS NOT NULL OR EXISTS (SELECT 1 FROM feed_entry INDEXED BY feed_entry_by_post
        WHERE feed_entry.post_id = ?1 AND feed_id = (SELECT feed_id FROM feed WHERE name = ?5)
          AND until IS NULL))
      AND (?6 IS NULL OR CASE WHEN visible_from > ?7 THEN 'scheduled' WHEN visible_until <= ?7 THEN 'ended' END = ?6)
      AND (?6 IS NULL OR (?5 IS NULL AND ?6 = 'scheduled')
        OR EXISTS (SELECT 1 FROM scheduled_place WHERE scheduled_place.post_id = ?1
          AND (?5 IS NULL OR feed_id = (SELECT feed_id FROM feed WHERE name = ?5))))
    """
  static let textsMissing = "SELECT missing_below FROM text_index WHERE only = 1"

  /// - Throws: `TextIndexUnfinished`, `DatabaseError`.
  static func postNumbers(
    below number: Int64, _ filter: ItemFilter, at now: Timestamp, limit: Int, looks: Int,
    _ database: Database
  ) throws -> PostNumbers {
    let rows = SQLiteRows(database: database, path: "")
    var search = ItemSearch(filter.text, limit: limit, looks: looks)
    var candidates = (sql: postsWithSchedules, values: [number, looks] as [any Bindable])
    if let text = filter.text {
      let missing = try rows.number(textsMissing, []) ?? 0
      guard missing == 0 else { throw TextIndexUnfinished(below: missing) }
      guard let match = try match(text, rows) else { return search.numbers }
      candidates = (postsWithWords, [match, number, looks])
    } else if let feed = filter.feed {
      candidates = (hiddenPostsOfFeed, [number, looks, feed])
    }
    try rows.eachWhile(candidates.sql, candidates.values) { row in
      let number = row.integer(0)
      var flat = FlatPosts()
      try rows.each(
        admittedPost,
        [
          number, filter.type?.rawValue, filter.publishedFrom?.microseconds,
          filter.publishedBefore?.microseconds, filter.feed, filter.visibility?.rawValue,
          now.microseconds,
        ]
      ) { try flat.appendPost($0, from: 0, isDetailed: false) }
      return search.look(at: number, flat.posts.isEmpty ? nil : flat.post(at: 0))
    }
    return search.numbers
  }

  /// Returns the query in FTS5's syntax (https://sqlite.org/fts5.html, section 3). Words contain no
  /// quotation mark.
  ///
  /// - Returns: `nil` if no post has all words.
  private static func match(_ query: TextQuery, _ rows: SQLiteRows) throws -> String? {
    var terms: [String] = []
    for word in query.words {
      let text = String(decoding: word.utf8, as: UTF8.self)
      if !word.isPrefix {
        terms.append("\"\(text)\"")
      } else if let words = try words(beginningWith: text, rows) {
        guard !words.isEmpty else { return nil }
        terms.append("(" + words.map { "\"\($0)\"" }.joined(separator: " OR ") + ")")
      } else {
        terms.append("\"\(text)\" *")
      }
    }
    return terms.joined(separator: " AND ")
  }

  // Belongs to this connection, and stores no rows (https://sqlite.org/fts5.html, section 8).
  private static let makeVocabulary = """
    CREATE VIRTUAL TABLE IF NOT EXISTS temp.post_word USING fts5vocab(main, post_text, instance)
    """
  private static let nextWord = "SELECT term FROM temp.post_word WHERE term >= ? LIMIT 1"

  /// The maximum number of words that replace a prefix; more are left to FTS5.
  private static let wordsOfBeginning = 8

  /// Returns the indexed words with this prefix; `nil` if there are many. For a prefix, FTS5 collects all
  /// posts that have such a word before it returns the first one; for whole words it does not.
  private static func words(beginningWith start: String, _ rows: SQLiteRows) throws -> [String]? {
    try rows.execute(makeVocabulary)
    var words: [String] = []
    var next = start
    while true {
      var word = ""
      try rows.each(nextWord, [next]) { word = $0.string(0) }
      guard word.utf8.starts(with: start.utf8) else { return words }
      guard words.count < wordsOfBeginning else { return nil }
      words.append(word)
      // The least text above the word.
      next = word + "\0"
    }
  }
}

// MARK: The index

/// The words of posts that a transaction makes or changes, kept until its end.
///
/// FTS5 writes what it was given into a segment of its own whenever SQLite opens a savepoint, and SQLite
/// opens one for each statement that may change several rows. If FTS5 gets all words last, in the order of
/// the posts' numbers, it writes one segment per transaction.
final class PendingWords {
  private struct Entry {
    let number: Int64
    /// `nil` for a post that was deleted.
    let words: String?
    let isNew: Bool
  }

  /// The last entry of a post counts.
  private var entries: [Entry] = []

  var count: Int { entries.count }

  func add(_ post: Post, _ number: Int64, isNew: Bool) {
    entries.append(Entry(number: number, words: SearchWords(of: post).indexed, isNew: isNew))
  }

  func forget(_ number: Int64) {
    // The table's trigger has deleted the words that were in the index.
    if !entries.isEmpty { entries.append(Entry(number: number, words: nil, isNew: false)) }
  }

  /// Removes the entries after the first `count`.
  func takeBack(to count: Int) { entries.removeLast(entries.count - count) }

  /// Returns each post's words once, by number, and removes all entries.
  func take() -> [(number: Int64, words: String, isNew: Bool)] {
    defer { entries = [] }
    var last: [Int64: (words: String?, isNew: Bool)] = [:]
    for entry in entries {
      let isNew = last[entry.number]?.isNew ?? entry.isNew
      last[entry.number] = (entry.words, isNew)
    }
    return last.sorted { $0.key < $1.key }.compactMap { number, entry in
      entry.words.map { (number, $0, entry.isNew) }
    }
  }
}

extension SQLiteRows {
  /// Indexes the words of the transaction's posts.
  func writeWords() throws {
    for entry in words.take() {
      if entry.words.isEmpty {
        if !entry.isNew { try execute("DELETE FROM post_text WHERE rowid = ?", [entry.number]) }
      } else {
        try execute(
          "INSERT OR REPLACE INTO post_text (rowid, words) VALUES (?, ?)",
          [entry.number, entry.words])
      }
    }
  }

  /// Marks all posts as not indexed.
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
      // A complete index is not written to.
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
        let posts = try statements.posts(numbers, database)
        for (index, post) in posts.posts.enumerated() {
          rows.words.add(posts.post(at: index), post.number, isNew: false)
        }
        let left = numbers.count < limit ? 0 : numbers.last ?? 0
        try rows.execute("UPDATE text_index SET missing_below = ?", [left])
        try rows.writeWords()
        return left
      }
    }
  }
}
