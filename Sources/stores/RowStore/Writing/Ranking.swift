import Catalog
import Feed

/// The rules by which a feed's rankings are kept after they were current.
package struct RankingRetention {
  /// The number of rankings that are kept, including the current one, however old they are.
  let count: Int
  /// The time since which replaced rankings are kept as well.
  let replacedAfter: Timestamp
  /// The maximum number of moves that the latter may have together.
  let maximumMoves: Int
  /// The time of the transaction.
  let now: Timestamp

  package init(_ options: StoreOptions) {
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
struct Ranking<Database: RowDatabase> {
  let database: Database

  /// Makes the next ranking of these feeds the current one, if it was begun in this transaction.
  func publish(feeds: Set<Int64>, _ retention: RankingRetention) throws {
    for id in feeds.sorted() {
      guard let feed = try database.feed(id),
        try database.isBegun(feed.ranking + 1, ofFeed: id)
      else { continue }
      try raise(feed, retention)
    }
  }

  /// Makes the next ranking the current one, and deletes those that are then no longer kept.
  func raise(_ feed: FeedState, _ retention: RankingRetention) throws {
    let (id, last, known) = (feed.id, feed.ranking, feed.oldestRanking)
    let ranking = last + 1
    try database.noteReplaced(last, ofFeed: id, at: retention.now)
    let oldest = try oldest(ofFeed: id, below: ranking, since: known, retention)
    try database.setRankings(ofFeed: id, current: ranking, oldest: oldest)
    if oldest > known { try database.forgetRankings(ofFeed: id, before: oldest) }
  }

  /// Returns the first ranking to keep once `ranking` is the current one.
  private func oldest(
    ofFeed feed: Int64, below ranking: Int, since known: Int, _ retention: RankingRetention
  ) throws -> Int {
    let byNumber = max(known, ranking - retention.count + 1)
    guard known < byNumber else { return byNumber }
    let newestBeyond = try database.move(beyond: retention.maximumMoves, inFeed: feed)
    let first = max(known, newestBeyond ?? known)
    guard first < byNumber else { return byNumber }
    let byTime = try database.oldestRanking(
      ofFeed: feed, from: first, replacedAfter: retention.replacedAfter)
    return min(byNumber, byTime ?? byNumber)
  }
}

/// The number of a ranking in the database.
///
/// The schema has no upper bound; but the next ranking must have a number, too, which JSON can represent.
package enum RankingNumber {
  package static let largest: Int64 = (1 << 53) - 1

  /// Returns the stored number.
  ///
  /// - Throws: `RowError` for one that no version of this program wrote.
  package static func checked(_ stored: Int64) throws -> Int {
    guard (0...largest).contains(stored) else {
      throw RowError("the ranking \(stored) of a feed is not in 0…\(largest)")
    }
    return Int(stored)
  }
}
