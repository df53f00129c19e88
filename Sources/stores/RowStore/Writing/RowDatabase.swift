// A write is a pure function from the rows that it needs to the changes that it makes. `RowsWanted` names
// the rows. `KnownRows` holds them as a value, on which single writes (`ItemWrite.make`, `FeedWrite.make`)
// and a run's records (`ImportBatch`) work, and lists the changes (`RowChange`). A database reads the rows
// in one turn and applies the changes. `WriteGroup` and `RankingRun` connect the two. Statements on whole
// feeds are in `Ranking` and `RankingRun`.
//
// `SQLiteRows` applies each change at once. `PostgresRows` is a round trip away: it reads with one turn of
// statements, collects changes (`PendingRows`), and writes them at the end of the transaction, new rows by
// COPY. `PostgresWriter` makes the transactions, one after the other among all programs, by a lock of the
// database. If the database refuses a value of one write, the group is undone and each write is made again
// alone.

import Catalog
import Feed

/// A database within one transaction that writes.
package protocol RowDatabase {
  // MARK: The transaction

  /// Reads the rows that writes look at, in one turn.
  func read(_ wanted: RowsWanted) throws -> KnownRows
  /// Makes these changes, in their order.
  ///
  /// - Parameter run: the run whose places are pending.
  func apply(_ changes: [RowChange], run: Int64?) throws
  /// Makes all changes of the body, or none of them if it throws.
  func savepoint(_ body: () throws -> Void) throws
  /// Returns the error for the caller of a write; `nil` if the error has undone the whole transaction.
  func told(_ error: any Error) -> (any Error)?
  /// Ends a transaction that wrote: trims the change log, and writes what was kept for the end.
  func finish() throws

  // MARK: Places

  /// Returns the open entry of the post with this id in a feed.
  func entry(ofPost id: String, inFeed feed: Int64) throws -> StoredEntry?
  /// Returns open entries of a feed that have a rank, on one side of a position, the nearest first.
  func rankedEntries(ofFeed feed: Int64, _ side: RankedSide, limit: Int) throws -> [StoredEntry]

  // MARK: Rankings

  /// Returns the feed of this number.
  func feed(_ id: Int64) throws -> FeedState?
  /// Whether entries were moved to this ranking.
  func isBegun(_ ranking: Int, ofFeed feed: Int64) throws -> Bool
  /// Records that the ranking was the current one until now.
  func noteReplaced(_ ranking: Int, ofFeed feed: Int64, at time: Timestamp) throws
  /// Sets the current and the oldest ranking of a feed.
  func setRankings(ofFeed feed: Int64, current: Int, oldest: Int) throws
  /// Deletes what is kept of rankings before this one.
  func forgetRankings(ofFeed feed: Int64, before ranking: Int) throws
  /// Counts moves from the newest on, and returns the ranking of the first one beyond `count`.
  func move(beyond count: Int, inFeed feed: Int64) throws -> Int?
  /// Returns the first ranking, from this one on, that was replaced after a time.
  func oldestRanking(ofFeed feed: Int64, from first: Int, replacedAfter time: Timestamp) throws
    -> Int?

  // MARK: Runs

  /// Begins a run, which is in progress as long as the result is held.
  func beginRun() throws -> StartedRun
  /// Whether no process has declared the run over.
  func isKnown(_ run: Int64) throws -> Bool
  /// Whether a process works on the run.
  func isAtWork(_ run: Int64) throws -> Bool
  /// Returns the runs except this one.
  func runs(besides run: Int64) throws -> [Int64]
  /// Returns the feeds in which a run has pending places.
  func feeds(ofRun run: Int64) throws -> [Int64]
  /// Takes over, from another run's places, entries that are ordered by time and are not where their posts'
  /// times put them.
  func takeTimes(from other: Int64, to run: Int64) throws
  /// Closes the entries that the run moves.
  ///
  /// - Returns: whether there were any.
  func closeMoved(byRun run: Int64, inFeed feed: Int64, at ranking: Int) throws -> Bool
  /// Opens an entry for each place of the run that has none.
  func openPlaces(ofRun run: Int64, inFeed feed: Int64, since ranking: Int) throws
  /// Deletes the run's places in a feed.
  func dropPlaces(ofRun run: Int64, inFeed feed: Int64) throws
  /// Deletes the run and all its places.
  func drop(_ run: Int64) throws
  /// Notes that a run of this process is over.
  func runIsOver() throws
}

/// A run with pending places, and the lock that shows that the run is in progress, for as long as it is held.
package struct StartedRun: Sendable {
  package let number: Int64
  private let lock: any Sendable

  package init(number: Int64, lock: any Sendable) {
    self.number = number
    self.lock = lock
  }
}
