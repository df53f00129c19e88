import Catalog
import Feed
import GRDB
import RowStore

/// The rows of a SQLite file within one transaction. Each change is made at once.
struct SQLiteRows: RowDatabase {
  let database: Database
  /// The path of the database, for errors.
  let path: String
  /// Whether a run of records writes, as opposed to single requests.
  var isRun = false
  /// The words of the transaction's posts, which `finish` writes.
  let words = PendingWords()

  func savepoint(_ body: () throws -> Void) throws {
    let before = words.count
    do {
      try database.inSavepoint {
        try body()
        return .commit
      }
    } catch {
      words.takeBack(to: before)
      throw error
    }
  }

  /// Some failures undo more than a savepoint, and thereby the writes before this one
  /// (https://sqlite.org/lang_transaction.html, "Response To Errors Within A Transaction").
  func told(_ error: any Error) -> (any Error)? {
    guard database.isInsideTransaction else { return nil }
    return (error as? DatabaseError).map { StoreError($0, path: path) } ?? error
  }

  func trimLog() throws { try ChangeLog(database: database).trim() }

  func finish() throws {
    try trimLog()
    try writeWords()
  }

  func execute(_ sql: String, _ values: [any Bindable] = []) throws {
    let statement = try reader(sql, values)
    defer { statement.reset() }
    while try statement.next() {}
  }

  /// Returns the number in the first column of the first row; `nil` if there is no row.
  func number(_ sql: String, _ values: [any Bindable]) throws -> Int64? {
    let statement = try reader(sql, values)
    defer { statement.reset() }
    return try statement.next() ? statement.integer(0) : nil
  }

  /// Calls the body with each row.
  func each(
    _ sql: String, _ values: [any Bindable], _ body: (RowReader) throws -> Void
  ) throws {
    try eachWhile(sql, values) { row in
      try body(row)
      return true
    }
  }

  /// Calls the body with each row, until it returns false.
  func eachWhile(
    _ sql: String, _ values: [any Bindable], _ body: (RowReader) throws -> Bool
  ) throws {
    let statement = try reader(sql, values)
    defer { statement.reset() }
    while try statement.next(), try body(statement) {}
  }

  private func reader(_ sql: String, _ values: [any Bindable]) throws -> RowReader {
    let statement = RowReader(try database.cachedStatement(sql: sql))
    // A missing value would be the one of the statement's last use.
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

// MARK: Reading

extension SQLiteRows {
  func read(_ wanted: RowsWanted) throws -> KnownRows {
    var rows = KnownRows(wanted)
    for id in wanted.posts {
      guard let stored = try PostReader(database: database).post(withID: id) else { continue }
      rows.add(stored)
      if stored.post.hasSchedule { try readSchedule(ofPost: stored.number, into: &rows) }
    }
    for id in wanted.placedPosts {
      guard let number = rows.number(ofPost: id) else { continue }
      try readEntries(ofPost: number, id, into: &rows)
      if let run = wanted.run { try readPlaces(of: number, inRun: run, into: &rows) }
    }
    for id in wanted.leavingPosts {
      guard let number = rows.number(ofPost: id) else { continue }
      try each(Self.feedsOfPost, [number]) { rows.add(feed: $0.integer(0), ofPost: number) }
    }
    for name in wanted.feeds {
      guard let feed = try feed(named: name) else { continue }
      rows.add(feed)
    }
    for key in wanted.keys { try readKey(key, into: &rows) }
    if wanted.newPosts > 0 {
      rows.newPostNumbers = try numbers(wanted.newPosts, Self.lastPost, of: "posts")
    }
    if wanted.newFeeds > 0 {
      rows.newFeedNumbers = try numbers(wanted.newFeeds, Self.lastFeed, of: "feeds")
    }
    if wanted.isOfFeeds, let floor = try number("SELECT ranking FROM ranking_floor", []) {
      rows.rankingFloor = try RankingNumber.checked(floor)
    }
    return rows
  }

  // The last number, as AUTOINCREMENT finds it (https://sqlite.org/autoinc.html, section 3).
  static let lastPost = """
    SELECT max(coalesce((SELECT max(post_id) FROM post), 0),
      coalesce((SELECT seq FROM sqlite_sequence WHERE name = 'post'), 0))
    """
  static let lastFeed = """
    SELECT max(coalesce((SELECT max(feed_id) FROM feed), 0),
      coalesce((SELECT seq FROM sqlite_sequence WHERE name = 'feed'), 0))
    """

  /// Returns numbers that no row has or had, in descending order.
  private func numbers(_ count: Int, _ last: String, of rows: String) throws -> [Int64] {
    let last = try number(last, []) ?? 0
    guard last <= .max - Int64(count) else { throw RowError("no numbers are left for \(rows)") }
    return (1...Int64(count)).reversed().map { last + $0 }
  }

  private func feed(named name: String) throws -> FeedState? {
    try feed(SQLiteCatalogReader.everyFeed + " WHERE name = ?", name)
  }

  func feed(_ id: Int64) throws -> FeedState? { try feed(SQLiteCatalogReader.oneFeed, id) }

  private func feed(_ sql: String, _ key: any Bindable) throws -> FeedState? {
    var feed: FeedState?
    try each(sql, [key]) { feed = try $0.feed() }
    return feed
  }

  /// Reads the feed of an entry.
  func readFeed(_ id: Int64, into rows: inout KnownRows) throws {
    guard !rows.hasFeed(id), let feed = try feed(id) else { return }
    rows.add(feed)
  }

  static let answerToKey = """
    SELECT key, fingerprint, counters, created_at FROM idempotency_key WHERE key = ?
    """

  private func readKey(_ key: String, into rows: inout KnownRows) throws {
    try each(Self.answerToKey, [key]) { row in
      rows.add(
        StoredKey(
          key: row.string(0), fingerprint: row.string(1),
          counters: row.text(2).map { String(decoding: $0, as: UTF8.self) },
          createdAt: row.integer(3)))
    }
  }
}

// MARK: Writing

extension SQLiteRows {
  func apply(_ changes: [RowChange], run: Int64?) throws {
    for change in changes { try apply(change, run: run) }
  }

  private func apply(_ change: RowChange, run: Int64?) throws {
    switch change {
    case .insertPost(let number, let post): try insert(post, number)
    case .updatePost(let stored, let post): try update(stored, to: post)
    case .setCounters(let counters, let stored):
      try execute(Self.updateCounters, [JSONText.text(counters), stored.number])
    case .deletePost(let stored):
      try execute(Self.deletePost, [stored.number])
      words.forget(stored.number)
    case .setSchedule(let due, let places, let post):
      try setSchedule(dueAt: due, places: places, ofPost: post)
    case .logPost(let number):
      try execute(
        """
        INSERT INTO change_log (kind, post_id, after_entry)
        VALUES ('post', ?, (SELECT max(entry_id) FROM feed_entry))
        """, [number])
    case .insertFeed(let feed):
      try execute(
        "INSERT INTO feed (feed_id, name, title, ranking, oldest_ranking) VALUES (?, ?, ?, ?, ?)",
        [feed.id, feed.name, feed.title, feed.ranking, feed.oldestRanking])
    case .setTitle(let title, let feed):
      try execute("UPDATE feed SET title = ? WHERE feed_id = ?", [title, feed])
    case .renameFeed(let feed, let name, let title):
      try execute("UPDATE feed SET name = ?, title = ? WHERE feed_id = ?", [name, title, feed])
      try execute(Self.logScheduledPosts, [feed])
    case .deleteFeed(let feed): try execute("DELETE FROM feed WHERE feed_id = ?", [feed])
    case .insertEntry(let entry): try insert(entry)
    case .setTime(let time, let post, let feed): try execute(Self.setTime, [time, post, feed])
    case .setEnd(let ranking, let entry):
      try execute(Self.setEnd, [ranking, entry.post, entry.feedID, entry.since])
    case .deleteEntry(let entry):
      try execute(Self.deleteEntry, [entry.post, entry.feedID, entry.since])
    case .leaveFeed(let feed, let post):
      try execute(Self.removeFromFeed, [post, feed])
      try execute(Self.removeFromRuns, [post, feed])
    case .keepPlace(let post, let feed, let rank): try keepPlace(run, feed, post, rank)
    case .forgetPlace(let post, let feed): try execute(Self.forgetPlace, [run, feed, post])
    case .keepKey(let key):
      // Replaces the same key if it has expired, under a new number.
      try execute(
        """
        INSERT OR REPLACE INTO idempotency_key (key, fingerprint, counters, created_at)
        VALUES (?, ?, ?, ?)
        """, [key.key, key.fingerprint, key.counters, key.createdAt])
    case .forgetKeys(let time, let count, let limit):
      try execute(Self.deleteExpiredKeys, [time.microseconds, limit])
      try execute(Self.deleteKeysBeyond, [count, limit])
    }
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

  static let deletePost = "DELETE FROM post WHERE post_id = ?"
  static let updateCounters = "UPDATE post SET counters = ? WHERE post_id = ?"

  private func insert(_ post: Post, _ number: Int64) throws {
    try execute(Self.insertPost, [number, post.id] + (try values(of: post)))
    try insertMedia(of: post, number)
    words.add(post, number, isNew: true)
  }

  private func update(_ stored: StoredPost, to post: Post) throws {
    try execute(Self.updatePost, try values(of: post) + [post.id])
    if let old = stored.post.author, old != post.author {
      // A run may have thousands of these; without the index, each would read all posts.
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
    if !SearchWords.areSame(stored.post, post) { words.add(post, stored.number, isNew: false) }
  }

  /// Question marks for this number of values.
  private static func marks(_ count: Int) -> String {
    [String](repeating: "?", count: count).joined(separator: ", ")
  }

  private static let insertPost = """
    INSERT INTO post (post_id, id, \(PostColumns.post.names), author_id)
    VALUES (\(marks(PostColumns.post.count + 3)))
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

  /// Returns the values of the columns and the author's number.
  private func values(of post: Post) throws -> [any Bindable] {
    PostColumns.post.map { $0.value(post) } + [try post.author.map(authorNumber)]
  }

  /// The columns as in the index `author_by_id`.
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

  // Without the hint, SQLite reads all pending places of the run.
  static let ranksOfPost = """
    SELECT feed_id, rank FROM pending_place INDEXED BY pending_place_by_post
    WHERE post_id = ? AND run_id = ?
    """

  private func readPlaces(
    of number: Int64, inRun run: Int64, into rows: inout KnownRows
  ) throws {
    try each(Self.ranksOfPost, [number, run]) { row in
      rows.add(
        place: row.optionalInteger(1).map(Int.init), ofPost: number, inFeed: row.integer(0))
      try readFeed(row.integer(0), into: &rows)
    }
  }

  private func keepPlace(_ run: Int64?, _ feed: Int64, _ post: Int64, _ rank: Int?) throws {
    try execute(
      "INSERT OR REPLACE INTO pending_place (run_id, feed_id, post_id, rank) VALUES (?, ?, ?, ?)",
      [run, feed, post, rank])
  }

  static let forgetPlace =
    "DELETE FROM pending_place WHERE run_id = ? AND feed_id = ? AND post_id = ?"

  func feeds(ofRun run: Int64) throws -> [Int64] {
    try rows("SELECT DISTINCT feed_id FROM pending_place WHERE run_id = ?", [run]).map { $0[0] }
  }

  /// SQL for the sort key of a post with this rank. See `SortKey`.
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

  // CROSS JOIN keeps the order of the tables, so that each is read by the post's number.
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

  /// Removes the lock file if no run is left.
  func runIsOver() throws {
    let areNone = try
      !(Bool.fetchOne(database, sql: "SELECT EXISTS (SELECT 1 FROM ranking_run)") ?? true)
    if areNone { RunLock.removeFile(path: path) }
  }
}

/// The log of changes, for the readers that follow it.
struct ChangeLog {
  let database: Database

  // A reader that is further behind reads everything again.
  static let trimming = """
    DELETE FROM change_log WHERE change_id <=
      (SELECT max(change_id) FROM change_log)
        - (SELECT kept_changes FROM change_source WHERE "only" = 1)
    """

  /// Deletes the oldest rows, beyond the number of rows to keep.
  func trim() throws {
    try database.cachedStatement(sql: Self.trimming).execute()
  }
}
