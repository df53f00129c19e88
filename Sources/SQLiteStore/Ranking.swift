import Feed
import GRDB

/// How long a feed's rankings are kept that are no longer the current one.
struct RankingRetention {
  /// So many are kept, the current one among them, however old they are.
  let count: Int
  /// And those that the next one followed since then.
  let replacedAfter: Timestamp
  /// But of these only as many as have so many moves together.
  let maximumMoves: Int
  /// The time of the transaction.
  let now: Timestamp

  init(_ options: SQLiteStore.Options) {
    count = options.keptRankings
    maximumMoves = options.maximumKeptMoves
    now = options.now()
    let (kept, isOverflow) = Int64(options.keptRankingsSeconds)
      .multipliedReportingOverflow(by: 1_000_000)
    let (time, isBefore) = now.microseconds.subtractingReportingOverflow(kept)
    replacedAfter = Timestamp(microseconds: isOverflow || isBefore ? .min : time)
  }
}

/// A feed's rankings: the current one, and the older ones that are kept.
struct Ranking {
  let database: Database

  static let ofFeed = "SELECT ranking FROM feed WHERE feed_id = ?"

  /// Entries were moved to this ranking.
  func isBegun(_ ranking: Int, feedID: Int64) throws -> Bool {
    let statement = try database.cachedStatement(sql: SQLiteCatalogReader.isRankingBegun)
    return try Bool.fetchOne(statement, arguments: [feedID, ranking, feedID, ranking]) ?? false
  }

  /// Makes the next ranking of these feeds the current one, where it was begun in this transaction.
  func publish(feeds: Set<Int64>, _ retention: RankingRetention) throws {
    for feed in feeds.sorted() {
      let ranking = try Int.fetchOne(
        database.cachedStatement(sql: Self.ofFeed), arguments: [feed])
      guard let ranking, try isBegun(ranking + 1, feedID: feed) else { continue }
      try raise(feed, retention)
    }
  }

  static let rankingsOfFeed = "SELECT ranking, oldest_ranking FROM feed WHERE feed_id = ?"

  /// Makes the next ranking the current one, and lets go of those that are then no longer kept.
  func raise(_ feed: Int64, _ retention: RankingRetention) throws {
    let statement = try database.cachedStatement(sql: Self.rankingsOfFeed)
    guard let row = try Row.fetchOne(statement, arguments: [feed]) else { return }
    let (last, known): (Int, Int) = (row[0], row[1])
    let ranking = last + 1
    try execute(
      "INSERT OR REPLACE INTO replaced_ranking (feed_id, ranking, replaced_at) VALUES (?, ?, ?)",
      [feed, last, retention.now.microseconds])
    let oldest = try oldest(ofFeed: feed, below: ranking, since: known, retention)
    try execute(
      "UPDATE feed SET ranking = ?, oldest_ranking = ? WHERE feed_id = ?", [ranking, oldest, feed])
    guard oldest > known else { return }
    try execute(Self.forgetRankings, [feed, oldest])
    try execute("DELETE FROM feed_entry WHERE feed_id = ? AND until <= ?", [feed, oldest])
  }

  static let oldestReplaced = """
    SELECT ranking FROM replaced_ranking WHERE feed_id = ? AND ranking >= ? AND replaced_at > ?
    ORDER BY ranking LIMIT 1
    """
  /// The ranking to which the first entry moved that is beyond so many, from the newest on: the one
  /// before it cannot be shown without that.
  static let moveBeyond = """
    SELECT until FROM feed_entry INDEXED BY feed_entry_closed
    WHERE feed_id = ? AND until IS NOT NULL ORDER BY until DESC LIMIT 1 OFFSET ?
    """
  static let forgetRankings = "DELETE FROM replaced_ranking WHERE feed_id = ? AND ranking < ?"

  /// The first ranking to be kept once `ranking` is the current one.
  private func oldest(
    ofFeed feed: Int64, below ranking: Int, since known: Int, _ retention: RankingRetention
  ) throws -> Int {
    let byNumber = max(known, ranking - retention.count + 1)
    guard known < byNumber else { return byNumber }
    let newestBeyond = try Int.fetchOne(
      database.cachedStatement(sql: Self.moveBeyond), arguments: [feed, retention.maximumMoves])
    let first = max(known, newestBeyond ?? known)
    guard first < byNumber else { return byNumber }
    let statement = try database.cachedStatement(sql: Self.oldestReplaced)
    let byTime = try Int.fetchOne(
      statement, arguments: [feed, first, retention.replacedAfter.microseconds])
    return min(byNumber, byTime ?? byNumber)
  }

  private func execute(_ sql: String, _ arguments: StatementArguments) throws {
    try database.cachedStatement(sql: sql).execute(arguments: arguments)
  }
}
