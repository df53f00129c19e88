import Catalog
import Feed
import Postgres
import RowStore

/// The rows of a PostgreSQL database within one transaction.
///
/// Theory of operation. The server is a round trip away, so one pipeline of statements reads everything that a
/// group of writes or a batch of records looks at (`read`). Changes are folded in memory (`PendingRows`), and
/// at the end a few more statements write them (`flush`): new rows by COPY, others by one statement of each
/// kind. Statements that depend on many rows run in between, after a flush. All writers of this program write
/// one after the other (`PostgresWriter`), so nothing that was read changes meanwhile.
final class PostgresRows: RowDatabase {
  let connection: Connection
  let openLock: () throws -> Connection
  var pending = PendingRows()
  /// The run whose places are pending.
  var placesOfRun: Int64?
  private var mustTrim = false

  /// - Parameter openLock: opens a connection for the lock of a run.
  init(_ connection: Connection, openLock: @escaping () throws -> Connection) {
    self.connection = connection
    self.openLock = openLock
  }

  /// Needs no savepoint: changes are applied once no condition can fail any more, and an error of the
  /// database undoes the transaction.
  func savepoint(_ body: () throws -> Void) throws { try body() }

  /// PostgreSQL refuses all statements in a transaction after one has failed: the group is undone, and each
  /// of its writes is made again alone.
  func told(_ error: any Error) -> (any Error)? {
    error is PostgresError || error is RowError ? nil : error
  }

  static let trimming = """
    WITH gone AS (
      DELETE FROM change_log
      WHERE change_id <= (SELECT max(change_id) FROM change_log)
        - (SELECT kept_changes FROM change_source WHERE "only" = 1) RETURNING transaction)
    UPDATE change_log_floor SET transaction = greatest(change_log_floor.transaction,
      (SELECT transaction FROM gone ORDER BY transaction DESC LIMIT 1))
    WHERE "only" = 1 AND EXISTS (SELECT 1 FROM gone)
    """

  func trimLog() { mustTrim = true }

  /// `commit` writes the rest.
  func finish() { trimLog() }

  /// Writes what is pending, and commits it.
  ///
  /// - Parameter willCommit: called when everything else is done.
  func commit(willCommit: () -> Void) throws {
    try flush()
    willCommit()
    try connection.run((mustTrim ? [Statement(Self.trimming)] : []) + [Statement("COMMIT")])
  }

  /// Runs a statement after everything that is pending.
  @discardableResult
  func direct(_ sql: String, _ parameters: [Parameter] = []) throws -> Rows {
    try flush()
    return try connection.run(sql, parameters)
  }

  func feed(_ id: Int64) throws -> FeedState? {
    try PostgresCatalogReader.feeds(direct(PostgresCatalogReader.oneFeed, [.integer(id)])).first
  }
}

// MARK: Changes

extension PostgresRows {
  func apply(_ changes: [RowChange], run: Int64?) throws {
    if let run { placesOfRun = run }
    for change in changes { try apply(change) }
  }

  private func apply(_ change: RowChange) throws {
    switch change {
    case .insertPost(let number, let post):
      let author = try post.author.map(authorNumber)
      pending.newPosts[number] = (post, author)
      pending.authorOfPost[number] = author
    case .updatePost(let stored, let post): try update(stored, to: post)
    case .setCounters(let counters, let stored): set(counters, of: stored)
    case .deletePost(let stored):
      try direct("DELETE FROM post WHERE post_id = $1::int8", [.integer(stored.number)])
      // The last post of an author takes the author along.
      if let author = stored.post.author { pending.authors[author] = nil }
    case .setSchedule(let due, let places, let post): pending.schedules[post] = (due, places)
    case .logPost(let number): pending.unplacedPosts.append(number)
    case .insertFeed(let feed): pending.newFeeds.append(feed)
    case .setTitle(let title, let feed):
      try direct(
        "UPDATE feed SET title = $1::text WHERE feed_id = $2::int8",
        [.text(title), .integer(feed)])
    case .renameFeed(let feed, let name, let title):
      try direct(
        "UPDATE feed SET name = $1::text, title = $2::text WHERE feed_id = $3::int8",
        [.text(name), .text(title), .integer(feed)])
      try direct(Self.logScheduledPosts, [.integer(feed)])
    case .deleteFeed(let feed):
      try direct("DELETE FROM feed WHERE feed_id = $1::int8", [.integer(feed)])
    case .insertEntry(let entry): pending.insert(entry)
    case .setTime(let time, let post, let feed):
      pending.setTime(time, of: .init(feedID: feed, post: post))
    case .setEnd(let ranking, let entry): pending.setEnd(ranking, of: entry)
    case .deleteEntry(let entry): pending.delete(entry)
    case .leaveFeed(let feed, let post): pending.leave(.init(feedID: feed, post: post))
    case .keepPlace(let post, let feed, let rank):
      pending.places[.init(feedID: feed, post: post)] = .some(.init(rank: rank))
    case .forgetPlace(let post, let feed):
      pending.places[.init(feedID: feed, post: post)] = .some(nil)
    case .keepKey(let key): pending.newKeys.append(key)
    case .forgetKeys(let time, let count, let limit):
      try flush()
      try connection.run([
        Statement(
          Self.deleteExpiredKeys, [.integer(time.microseconds), .integer(Int64(limit))]),
        Statement(Self.deleteKeysBeyond, [.integer(Int64(count)), .integer(Int64(limit))]),
      ])
    }
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

  private func update(_ stored: StoredPost, to post: Post) throws {
    let number = stored.number
    let author = try post.author.map(authorNumber)
    let old = pending.authorOfPost[number]
    pending.authorOfPost[number] = author
    if let old, old != author { pending.leftAuthors.insert(old) }
    guard pending.newPosts[number] == nil else {
      pending.newPosts[number] = (post, author)
      return
    }
    pending.changedPosts[number] = (post, author)
    pending.changedCounters[number] = nil
    if stored.post.media != post.media { pending.changedMedia[number] = post.media }
    if !SearchWords.areSame(stored.post, post) { pending.changedWords.insert(number) }
  }

  private func set(_ counters: [Counter], of stored: StoredPost) {
    let number = stored.number
    if pending.newPosts[number] != nil {
      pending.newPosts[number]!.post.counters = counters
    } else if pending.changedPosts[number] != nil {
      pending.changedPosts[number]!.post.counters = counters
    } else {
      pending.changedCounters[number] = counters
    }
  }

  /// Returns the number of an author. A new author is inserted with the next flush.
  private func authorNumber(_ author: Author) throws -> Int64 {
    if pending.authors[author] == nil {
      let rows = try connection.run(Self.authorsByKey, Self.key(of: [author]))
      if rows.count > 0 {
        pending.authors[author] = rows.integer(0, 1)
      } else {
        try takeNumbers(of: [author])
      }
    }
    let number = pending.authors[author]!
    guard number < 0 else { return number }
    pending.newAuthors.append((-number, author))
    pending.authors[author] = -number
    return -number
  }
}
