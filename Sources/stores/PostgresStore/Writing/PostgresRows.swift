import Catalog
import Feed
import Postgres
import RowStore

/// A PostgreSQL database's rows within one transaction.
///
/// Theory of operation. The server is a round trip away, so a few statements read what a group of writes or a batch of
/// records will look at before it begins (`prepare`). Memory notes what they change (`PendingRows`), and at the end a
/// few more statements write it (`flush`): new rows by COPY, others by one statement of each kind. Queries that depend
/// on many rows run in between, after a flush. All writers of this program write one after the other
/// (`PostgresWriter`), so nothing that was read changes meanwhile.
final class PostgresRows: StoreRows {
  let connection: Connection
  let name: String
  let openLock: () throws -> Connection
  var pending = PendingRows()
  /// How often the database itself was changed.
  var directChanges = 0
  private var mustTrim = false

  /// - Parameters:
  ///   - name: the database's, to stand in errors.
  ///   - openLock: makes a connection of a run's own.
  init(_ connection: Connection, name: String, openLock: @escaping () throws -> Connection) {
    self.connection = connection
    self.name = name
    self.openLock = openLock
  }

  func savepoint<Result>(_ body: () throws -> Result) throws -> Result {
    let (before, changes) = (pending, directChanges)
    do {
      return try body()
    } catch {
      // What the database was told cannot be taken back alone.
      guard changes == directChanges else { throw Undoing(error: error) }
      pending = before
      throw error
    }
  }

  /// An error with which the transaction ends.
  private struct Undoing: Error { let error: any Error }

  /// PostgreSQL takes nothing more in a transaction in which a statement has failed: the group is undone, and each of
  /// its writes made again alone.
  func told(_ error: any Error) -> (any Error)? {
    error is PostgresError || error is RowError || error is Undoing ? nil : error
  }

  static let trimming = """
    WITH gone AS (
      DELETE FROM change_log
      WHERE change_id <= (SELECT max(change_id) FROM change_log) - 200000 RETURNING transaction)
    UPDATE change_log_floor SET transaction = greatest(change_log_floor.transaction,
      (SELECT transaction FROM gone ORDER BY transaction DESC LIMIT 1))
    WHERE "only" = 1 AND EXISTS (SELECT 1 FROM gone)
    """

  func trimLog() { mustTrim = true }

  /// Writes what is pending, and makes it durable.
  ///
  /// - Parameter willCommit: called when all else is done.
  func commit(willCommit: () -> Void) throws {
    try flush()
    willCommit()
    try connection.run((mustTrim ? [Statement(Self.trimming)] : []) + [Statement("COMMIT")])
  }

  /// Runs a statement after all that is pending.
  @discardableResult
  func direct(_ sql: String, _ parameters: [Parameter] = []) throws -> Rows {
    try flush()
    return try connection.run(sql, parameters)
  }

  /// Changes the database after all that is pending.
  @discardableResult
  func change(_ sql: String, _ parameters: [Parameter] = []) throws -> Rows {
    directChanges += 1
    return try direct(sql, parameters)
  }
}

// MARK: Feeds

extension PostgresRows {
  func feed(named name: String) throws -> FeedState? {
    if let known = pending.feedsByName[ByteText(name)].flatMap({ pending.feeds[$0] }) {
      return known
    }
    let rows = try connection.run(
      PostgresCatalogReader.everyFeed + " WHERE name = $1::text", [.text(name)])
    return try note(rows).first
  }

  func feed(_ id: Int64) throws -> FeedState? {
    if let known = pending.feeds[id] { return known }
    return try note(try connection.run(PostgresCatalogReader.oneFeed, [.integer(id)])).first
  }

  @discardableResult
  func note(_ rows: Rows) throws -> [FeedState] {
    let feeds = try PostgresCatalogReader.feeds(rows)
    for feed in feeds {
      pending.feeds[feed.id] = feed
      pending.feedsByName[ByteText(feed.name)] = feed.id
    }
    return feeds
  }

  func insertFeed(named name: String, title: String?) throws -> FeedState {
    directChanges += 1
    let rows = try connection.run(
      """
      INSERT INTO feed (name, title) VALUES ($1::text, $2::text)
      RETURNING feed_id, name, title, ranking, oldest_ranking
      """, [.text(name), .text(title)])
    return try note(rows)[0]
  }

  func setTitle(_ title: String?, ofFeed id: Int64) throws {
    pending.feeds[id] = nil
    try change(
      "UPDATE feed SET title = $1::text WHERE feed_id = $2::int8", [.text(title), .integer(id)])
  }

  func renameFeed(_ id: Int64, to name: String, title: String?) throws {
    try change(
      "UPDATE feed SET name = $1::text, title = $2::text WHERE feed_id = $3::int8",
      [.text(name), .text(title), .integer(id)])
    forget()
  }

  func deleteFeed(_ id: Int64) throws {
    try change("DELETE FROM feed WHERE feed_id = $1::int8", [.integer(id)])
    forget()
  }

  /// What was read is no longer so; nothing is pending.
  private func forget() { pending = PendingRows() }
}

// MARK: Idempotency keys

extension PostgresRows {
  // A hash index looks for one value at a time, and not for those of a list.
  static let keysByName = """
    SELECT key, fingerprint, counters, created_at
    FROM unnest($1::text[]) AS asked (name) JOIN idempotency_key ON key = asked.name
    """

  func note(keys rows: Rows, of names: [String]) throws {
    for name in names { pending.keys[ByteText(name)] = .some(nil) }
    for index in 0..<rows.count {
      let row = RowValues(rows: rows, row: index)
      let key = PendingRows.KeyRow(
        key: try row.name(0), fingerprint: try row.name(1), counters: row.string(2),
        createdAt: try row.integer(3))
      pending.keys[ByteText(key.key)] = key
    }
  }

  func answer(
    toKey key: String, since time: Timestamp
  ) throws -> (fingerprint: String, counters: String?)? {
    if pending.keys[ByteText(key)] == nil {
      try note(keys: try connection.run(Self.keysByName, [.texts([key])]), of: [key])
    }
    guard let known = pending.keys[ByteText(key)] ?? nil, known.createdAt > time.microseconds else {
      return nil
    }
    return (known.fingerprint, known.counters)
  }

  func keep(_ key: IdempotencyKey, counters: String?, at time: Timestamp) {
    let row = PendingRows.KeyRow(
      key: key.storedText, fingerprint: key.fingerprint, counters: counters,
      createdAt: time.microseconds)
    pending.keys[ByteText(row.key)] = row
    pending.newKeys.append(row)
  }

  static let deleteExpiredKeys = """
    DELETE FROM idempotency_key WHERE key_id IN
      (SELECT key_id FROM idempotency_key WHERE created_at <= $1::int8 ORDER BY created_at
        LIMIT $2::int8)
    """

  static let deleteKeysBeyond = """
    DELETE FROM idempotency_key WHERE key_id IN
      (SELECT key_id FROM idempotency_key
        WHERE key_id <= (SELECT max(key_id) FROM idempotency_key) - $1::int8
        ORDER BY key_id LIMIT $2::int8)
    """

  func forgetKeys(before time: Timestamp, beyond count: Int, atMost limit: Int) throws {
    try flush()
    try connection.run([
      Statement(
        Self.deleteExpiredKeys, [.integer(time.microseconds), .integer(Int64(limit))]),
      Statement(Self.deleteKeysBeyond, [.integer(Int64(count)), .integer(Int64(limit))]),
    ])
  }
}

extension PostgresRows {
  func post(withID id: String) throws -> StoredPost? {
    if pending.posts[ByteText(id)] == nil { try read(post: id) }
    let row = pending.posts[ByteText(id)] ?? nil
    return row.map { StoredPost(number: $0.number, post: $0.post) }
  }

  func placements(of post: StoredPost) throws -> [Placement] {
    try (pending.entries[post.number] ?? []).filter { $0.until == nil }.map { entry in
      guard let feed = try feed(entry.feedID) else {
        throw RowError("entry \(entry.id) is in no feed")
      }
      return Placement(feed: feed.name, rank: entry.rank)
    }
    .sorted { $0.feed.utf8.lexicographicallyPrecedes($1.feed.utf8) }
  }

  func insert(_ post: Post) throws -> Int64 {
    if pending.postNumbers.isEmpty { try takeNumbers(posts: 1, authors: []) }
    let number = pending.postNumbers.removeLast()
    let author = try post.author.map(authorNumber)
    pending.newPosts[number] = (post, author)
    pending.posts[ByteText(post.id)] = PendingRows.StoredRow(
      number: number, post: post, author: author)
    (pending.entries[number], pending.places[number]) = ([], [])
    return number
  }

  func update(_ stored: StoredPost, to post: Post, isRun: Bool) throws {
    let number = stored.number
    let author = try post.author.map(authorNumber)
    let old = (pending.posts[ByteText(post.id)] ?? nil)?.author
    pending.posts[ByteText(post.id)] = PendingRows.StoredRow(
      number: number, post: post, author: author)
    if let old, old != author { pending.leftAuthors.insert(old) }
    guard pending.newPosts[number] == nil else {
      pending.newPosts[number] = (post, author)
      return
    }
    pending.changedPosts[number] = (post, author)
    pending.changedCounters[number] = nil
    if stored.post.media != post.media { pending.changedMedia[number] = post.media }
  }

  func set(_ counters: [Counter], of stored: StoredPost) {
    var post = stored.post
    post.counters = counters
    let author = (pending.posts[ByteText(post.id)] ?? nil)?.author
    pending.posts[ByteText(post.id)] = PendingRows.StoredRow(
      number: stored.number, post: post, author: author)
    if pending.newPosts[stored.number] != nil {
      pending.newPosts[stored.number] = (post, author)
    } else if pending.changedPosts[stored.number] != nil {
      pending.changedPosts[stored.number] = (post, author)
    } else {
      pending.changedCounters[stored.number] = counters
    }
  }

  func delete(_ stored: StoredPost) throws {
    try change("DELETE FROM post WHERE post_id = $1::int8", [.integer(stored.number)])
    pending.posts[ByteText(stored.post.id)] = .some(nil)
    (pending.entries[stored.number], pending.places[stored.number]) = (nil, nil)
    // The last post of an author takes him along.
    if let author = stored.post.author { pending.authors[author] = nil }
  }

  /// The number of an author; one that is not there yet is made with the next flush.
  private func authorNumber(_ author: Author) throws -> Int64 {
    if pending.authors[author] == nil {
      let rows = try connection.run(
        Self.authorsByKey,
        [
          .texts([author.id ?? ""]), .texts([author.name ?? ""]), .texts([author.avatar ?? ""]),
          .texts([author.extra?.json ?? ""]),
        ])
      if rows.count > 0 {
        pending.authors[author] = rows.integer(0, 1)
      } else {
        try takeNumbers(posts: 0, authors: [author])
      }
    }
    let number = pending.authors[author]!
    guard number < 0 else { return number }
    pending.newAuthors.append((-number, author))
    pending.authors[author] = -number
    return -number
  }
}
