import Catalog
import Feed
import GRDB
import RowStore

/// A SQLite file's rows within one transaction: each change is made at once.
struct SQLiteRows: StoreRows {
  let database: Database
  /// The database's, to stand in errors.
  let path: String

  // The rows of the file are as near as anything that could be read ahead.
  func prepare(for writes: [WaitingWrite]) {}
  func prepare(for records: [SeedRecord], run: Int64?) {}

  func savepoint<Result>(_ body: () throws -> Result) throws -> Result {
    var result: Result?
    try database.inSavepoint {
      result = try body()
      return .commit
    }
    return result!
  }

  /// Some failures undo more than a savepoint, and with it the writes before this one
  /// (https://sqlite.org/lang_transaction.html, "Response To Errors Within A Transaction").
  func told(_ error: any Error) -> (any Error)? {
    guard database.isInsideTransaction else { return nil }
    return (error as? DatabaseError).map { StoreError($0, path: path) } ?? error
  }

  func trimLog() throws { try ChangeLog(database: database).trim() }

  func execute(_ sql: String, _ values: [any Bindable] = []) throws {
    let statement = try reader(sql, values)
    defer { statement.reset() }
    while try statement.next() {}
  }

  /// The number in the first column of the first row; `nil` where there is no row.
  func number(_ sql: String, _ values: [any Bindable]) throws -> Int64? {
    let statement = try reader(sql, values)
    defer { statement.reset() }
    return try statement.next() ? statement.integer(0) : nil
  }

  private func reader(_ sql: String, _ values: [any Bindable]) throws -> RowReader {
    let statement = RowReader(try database.cachedStatement(sql: sql))
    // One too few would be the last statement's.
    precondition(values.count == statement.parameterCount, "another number of values")
    for (index, value) in values.enumerated() { try value.bind(to: statement, at: index + 1) }
    return statement
  }

  func row(_ sql: String, _ arguments: StatementArguments) throws -> Row? {
    try Row.fetchOne(database.cachedStatement(sql: sql), arguments: arguments)
  }

  func rows(_ sql: String, _ arguments: StatementArguments = []) throws -> [Row] {
    try Row.fetchAll(database.cachedStatement(sql: sql), arguments: arguments)
  }
}

// MARK: Feeds

extension SQLiteRows {
  func feed(named name: String) throws -> FeedState? {
    try row(SQLiteCatalogReader.everyFeed + " WHERE name = ?", [name]).map(Self.feed)
  }

  func feed(_ id: Int64) throws -> FeedState? {
    try row(SQLiteCatalogReader.oneFeed, [id]).map(Self.feed)
  }

  private static func feed(_ row: Row) throws -> FeedState {
    FeedState(
      id: row[0], name: row[1], title: row[2], ranking: try RankingNumber.checked(row[3]),
      oldestRanking: row[4])
  }

  func insertFeed(named name: String, title: String?) throws -> FeedState {
    try execute("INSERT INTO feed (name, title) VALUES (?, ?)", [name, title])
    // A trigger may have given it another ranking.
    guard let feed = try feed(named: name) else { throw RowError("the feed \(name) was not made") }
    return feed
  }

  func setTitle(_ title: String?, ofFeed id: Int64) throws {
    try execute("UPDATE feed SET title = ? WHERE feed_id = ?", [title, id])
  }

  func renameFeed(_ id: Int64, to name: String, title: String?) throws {
    try execute("UPDATE feed SET name = ?, title = ? WHERE feed_id = ?", [name, title, id])
  }

  func deleteFeed(_ id: Int64) throws { try execute("DELETE FROM feed WHERE feed_id = ?", [id]) }
}

// MARK: Idempotency keys

extension SQLiteRows {
  static let answerToKey = """
    SELECT fingerprint, counters FROM idempotency_key WHERE key = ? AND created_at > ?
    """

  func answer(
    toKey key: String, since time: Timestamp
  ) throws -> (fingerprint: String, counters: String?)? {
    try row(Self.answerToKey, [key, time.microseconds]).map { ($0[0], $0[1]) }
  }

  func keep(_ key: IdempotencyKey, counters: String?, at time: Timestamp) throws {
    // In place of the same key where that has expired, under a new number.
    try execute(
      """
      INSERT OR REPLACE INTO idempotency_key (key, fingerprint, counters, created_at)
      VALUES (?, ?, ?, ?)
      """, [key.storedText, key.fingerprint, counters, time.microseconds])
  }

  static let deleteExpiredKeys = """
    DELETE FROM idempotency_key WHERE key_id IN
      (SELECT key_id FROM idempotency_key WHERE created_at <= ? ORDER BY created_at LIMIT ?)
    """

  static let deleteKeysBeyond = """
    DELETE FROM idempotency_key WHERE key_id IN
      (SELECT key_id FROM idempotency_key
        WHERE key_id <= (SELECT max(key_id) FROM idempotency_key) - ? ORDER BY key_id LIMIT ?)
    """

  func forgetKeys(before time: Timestamp, beyond count: Int, atMost limit: Int) throws {
    try execute(Self.deleteExpiredKeys, [time.microseconds, limit])
    try execute(Self.deleteKeysBeyond, [count, limit])
  }
}

extension SQLiteRows {
  func post(withID id: String) throws -> StoredPost? {
    try PostReader(database: database).post(withID: id)
  }

  func placements(of post: StoredPost) throws -> [Placement] {
    try PostReader(database: database).placements(ofPost: post.number)
  }

  static let deletePost = "DELETE FROM post WHERE post_id = ?"
  static let updateCounters = "UPDATE post SET counters = ? WHERE post_id = ?"

  func set(_ counters: [Counter], of post: StoredPost) throws {
    try execute(Self.updateCounters, [JSONText.text(counters), post.number])
  }

  func delete(_ post: StoredPost) throws { try execute(Self.deletePost, [post.number]) }

  func insert(_ post: Post) throws -> Int64 {
    try execute(Self.insertPost, [post.id] + (try values(of: post)))
    let number = database.lastInsertedRowID
    try insertMedia(of: post, number)
    return number
  }

  func update(_ stored: StoredPost, to post: Post, isRun: Bool) throws {
    try execute(Self.updatePost, try values(of: post) + [post.id])
    if let old = stored.post.author, old != post.author {
      // Of a run there may be thousands such: without the index each would read all posts.
      if isRun { try LateIndexes.make(database) }
      try execute(
        """
        DELETE FROM author WHERE \(Self.isAuthor)
          AND NOT EXISTS (SELECT 1 FROM post WHERE post.author_id = author.author_id)
        """, Self.key(of: old))
    }
    if stored.post.media != post.media {
      try execute("DELETE FROM media WHERE post_id = ?", [stored.number])
      try insertMedia(of: post, stored.number)
    }
  }

  /// Question marks for so many values.
  private static func marks(_ count: Int) -> String {
    [String](repeating: "?", count: count).joined(separator: ", ")
  }

  private static let insertPost = """
    INSERT INTO post (id, \(PostColumns.post.names), author_id)
    VALUES (\(marks(PostColumns.post.count + 2)))
    """
  private static let updatePost = """
    UPDATE post SET \(PostColumns.post.map { "\($0.name) = ?" }.joined(separator: ", ")), author_id = ?
    WHERE id = ?
    """
  private static let insertMedia = """
    INSERT INTO media (post_id, ordinal, \(PostColumns.media.names))
    VALUES (\(marks(PostColumns.media.count + 2)))
    """
  private static let insertAuthor = """
    INSERT INTO author (\(PostColumns.author.names)) VALUES (\(marks(PostColumns.author.count)))
    """

  /// Those of the columns, and the author's number.
  private func values(of post: Post) throws -> [any Bindable] {
    PostColumns.post.map { $0.value(post) } + [try post.author.map(authorNumber)]
  }

  /// As the index `author_by_id` has its columns.
  private static let isAuthor = """
    coalesce(id, '') = ? AND coalesce(name, '') = ? AND coalesce(avatar, '') = ?
      AND coalesce(extra, '') = ?
    """
  static let authorNumber = "SELECT author_id FROM author WHERE \(isAuthor)"

  private static func key(of author: Author) -> [any Bindable] {
    [author.id ?? "", author.name ?? "", author.avatar ?? "", author.extra?.json ?? ""]
  }

  private func authorNumber(_ author: Author) throws -> Int64 {
    if let found = try number(Self.authorNumber, Self.key(of: author)) { return found }
    try execute(Self.insertAuthor, PostColumns.author.map { $0.value(author) })
    return database.lastInsertedRowID
  }

  private func insertMedia(of post: Post, _ number: Int64) throws {
    for (ordinal, media) in post.media.enumerated() {
      try execute(
        Self.insertMedia, [number, ordinal] + PostColumns.media.map { $0.value(media) })
    }
  }
}

extension SQLiteRows {
  func beginRun() throws -> StartedRun {
    try execute("INSERT INTO ranking_run DEFAULT VALUES")
    let number = database.lastInsertedRowID
    return StartedRun(number: number, lock: try RunLock(run: number, path: path))
  }

  static let isRunKnown = "SELECT EXISTS (SELECT 1 FROM ranking_run WHERE run_id = ?)"

  func isKnown(_ run: Int64) throws -> Bool { try row(Self.isRunKnown, [run])?[0] ?? false }

  func isAtWork(_ run: Int64) -> Bool { RunLock.isHeld(run: run, path: path) }

  func runs(besides run: Int64) throws -> [Int64] {
    try rows("SELECT run_id FROM ranking_run WHERE run_id <> ?", [run]).map { $0[0] }
  }

  // Left to itself, SQLite reads all that the run has kept aside.
  static let ranksOfPost = """
    SELECT feed_id, rank FROM pending_place INDEXED BY pending_place_by_post
    WHERE post_id = ? AND run_id = ?
    """

  func ranks(ofPost number: Int64, inRun run: Int64) throws -> [(feedID: Int64, rank: Int?)] {
    try rows(Self.ranksOfPost, [number, run]).map { ($0[0], $0[1]) }
  }

  func keepPlace(ofPost number: Int64, inFeed feed: Int64, rank: Int?, run: Int64) throws {
    try execute(
      "INSERT OR REPLACE INTO pending_place (run_id, feed_id, post_id, rank) VALUES (?, ?, ?, ?)",
      [run, feed, number, rank])
  }

  static let forgetPlace =
    "DELETE FROM pending_place WHERE run_id = ? AND feed_id = ? AND post_id = ?"

  func forgetPlace(ofPost number: Int64, inFeed feed: Int64, run: Int64) throws {
    try execute(Self.forgetPlace, [run, feed, number])
  }

  func feeds(ofRun run: Int64) throws -> [Int64] {
    try rows("SELECT DISTINCT feed_id FROM pending_place WHERE run_id = ?", [run]).map { $0[0] }
  }

  /// See `SortKey`.
  static func key(rank: String) -> String {
    "coalesce(\(rank), (1 << 62) - post.published_at, 9223372036854775807)"
  }

  static let takeTimes = """
    INSERT OR IGNORE INTO pending_place (run_id, feed_id, post_id, rank)
    SELECT ?, place.feed_id, place.post_id, NULL FROM pending_place AS place
    CROSS JOIN post ON post.post_id = place.post_id
    CROSS JOIN feed_entry AS entry INDEXED BY feed_entry_by_post
      ON entry.post_id = place.post_id AND entry.feed_id = place.feed_id AND entry.until IS NULL
    WHERE place.run_id = ? AND entry.rank IS NULL AND entry.sort_key <> \(key(rank: "NULL"))
    """

  func takeTimes(from other: Int64, to run: Int64) throws {
    try execute(Self.takeTimes, [run, other])
  }

  // CROSS JOIN: in the order in which the tables stand, each by the post's number.
  static let closeMoved = """
    UPDATE feed_entry SET until = ? WHERE entry_id IN (
      SELECT entry.entry_id FROM pending_place AS place
      CROSS JOIN post ON post.post_id = place.post_id
      CROSS JOIN feed_entry AS entry INDEXED BY feed_entry_by_post
        ON entry.post_id = place.post_id AND entry.feed_id = place.feed_id AND entry.until IS NULL
      WHERE place.run_id = ? AND place.feed_id = ?
        AND (entry.rank IS NOT place.rank OR entry.sort_key <> \(key(rank: "place.rank"))))
    """

  func closeMoved(byRun run: Int64, inFeed feed: Int64, at ranking: Int) throws -> Bool {
    try execute(Self.closeMoved, [ranking, run, feed])
    return database.changesCount > 0
  }

  static let openPlaces = """
    INSERT INTO feed_entry (feed_id, post_id, sort_key, id, published_at, rank, since)
    SELECT place.feed_id, place.post_id, \(key(rank: "place.rank")), post.id, post.published_at,
      place.rank, ?
    FROM pending_place AS place CROSS JOIN post ON post.post_id = place.post_id
    WHERE place.run_id = ? AND place.feed_id = ?
      AND NOT EXISTS (SELECT 1 FROM feed_entry AS entry INDEXED BY feed_entry_by_post
        WHERE entry.post_id = place.post_id AND entry.feed_id = place.feed_id
          AND entry.until IS NULL)
    """

  func openPlaces(ofRun run: Int64, inFeed feed: Int64, since ranking: Int) throws {
    try execute(Self.openPlaces, [ranking, run, feed])
  }

  func dropPlaces(ofRun run: Int64, inFeed feed: Int64) throws {
    try execute("DELETE FROM pending_place WHERE run_id = ? AND feed_id = ?", [run, feed])
  }

  func drop(_ run: Int64) throws {
    try execute("DELETE FROM pending_place WHERE run_id = ?", [run])
    try execute("DELETE FROM ranking_run WHERE run_id = ?", [run])
  }

  /// Removes the file of the locks if no run is left.
  func runIsOver() throws {
    let areNone = try
      !(Bool.fetchOne(database, sql: "SELECT EXISTS (SELECT 1 FROM ranking_run)") ?? true)
    if areNone { RunLock.removeFile(path: path) }
  }
}

/// What happened to the order of feeds, for the readers that follow it.
struct ChangeLog {
  let database: Database

  /// How many rows are kept: a reader that is further behind reads everything again.
  private static let keptChanges = 200_000

  static let trimming = """
    DELETE FROM change_log
    WHERE change_id <= (SELECT max(change_id) FROM change_log) - \(keptChanges)
    """

  /// Deletes the rows that are no longer kept.
  func trim() throws {
    try database.cachedStatement(sql: Self.trimming).execute()
  }
}
