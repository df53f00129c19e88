// What a write means is the same in every database: `WriteGroup`, `ImportBatch`, `RankingRun` work
// on `StoreRows`, which says what rows there are and what becomes of them. `SQLiteRows` makes each
// change at once. `PostgresRows` is a round trip away: it reads all that a group or a batch will
// look at with one turn of statements (`prepare`), notes changes in memory (`PendingRows`, a
// value: a write that fails leaves what was there before it), and writes them at the end
// (`flush`), new rows by COPY. `PostgresWriter` makes the transactions, one after the other among
// all programs, by a lock of the database; where a value of one write is refused, the group is
// undone and each write made again alone.

import Catalog
import Feed

/// The rows of a store within one transaction that writes, as each database has them. What writes mean is the same
/// everywhere and stands in `WriteGroup`, `ImportBatch` and `RankingRun`; what a database does for it stands behind
/// this.
package protocol StoreRows {
  // MARK: The transaction

  /// What the writes are about to look at, so that a database that is far away can be asked for all at once.
  func prepare(for writes: [WaitingWrite]) throws
  /// What a run's records are about to look at.
  func prepare(for records: [SeedRecord], run: Int64?) throws
  /// What the body changes is there as a whole, or not where it throws.
  func savepoint<Result>(_ body: () throws -> Result) throws -> Result
  /// What is told of an error within a savepoint; `nil` where it has undone the whole transaction.
  func told(_ error: any Error) -> (any Error)?
  /// Deletes rows of the change log that are no longer kept.
  func trimLog() throws

  // MARK: Posts

  /// The post with this id.
  func post(withID id: String) throws -> StoredPost?
  /// The feeds in which a post is, as everybody sees them, in the order of their names.
  func placements(of post: StoredPost) throws -> [Placement]
  /// Stores a new post.
  ///
  /// - Returns: its number.
  func insert(_ post: Post) throws -> Int64
  /// Makes a post another one, of the same id.
  ///
  /// - Parameter isRun: there may be thousands such.
  func update(_ stored: StoredPost, to post: Post, isRun: Bool) throws
  /// Gives a post these counters.
  func set(_ counters: [Counter], of post: StoredPost) throws
  /// Takes a post out, with all that belongs to it.
  func delete(_ post: StoredPost) throws

  // MARK: Feeds

  /// The feed of this name.
  func feed(named name: String) throws -> FeedState?
  /// The feed of this number.
  func feed(_ id: Int64) throws -> FeedState?
  /// Makes a feed.
  func insertFeed(named name: String, title: String?) throws -> FeedState
  /// Gives a feed this title.
  func setTitle(_ title: String?, ofFeed id: Int64) throws
  /// Gives a feed another name and this title.
  func renameFeed(_ id: Int64, to name: String, title: String?) throws
  /// Takes a feed out, with all that belongs to it.
  func deleteFeed(_ id: Int64) throws

  // MARK: Entries

  /// The entries of a post that no ranking has closed.
  func openEntries(ofPost number: Int64) throws -> [StoredEntry]
  /// The feeds in which a post is in any ranking, or is about to be.
  func feeds(ofPost number: Int64) throws -> Set<Int64>
  /// Brings a post into a feed.
  func insert(_ entry: NewEntry) throws
  /// Gives a post's entries in a feed, in every ranking, this time.
  func setTime(_ microseconds: Int64?, ofPost number: Int64, inFeed feed: Int64) throws
  /// The entry is shown before this ranking only.
  func close(_ entry: StoredEntry, at ranking: Int) throws
  /// The entry was never there.
  func delete(_ entry: StoredEntry) throws
  /// Reopens the entry at this place if it was closed at the ranking.
  ///
  /// - Returns: whether there was one.
  func reopen(_ entry: NewEntry, closedAt ranking: Int) throws -> Bool
  /// Takes a post out of a feed in every ranking, and out of what runs keep aside.
  func remove(_ number: Int64, fromFeed feed: Int64) throws

  // MARK: Rankings

  /// Entries were moved to this ranking.
  func isBegun(_ ranking: Int, ofFeed feed: Int64) throws -> Bool
  /// The ranking was the current one until now.
  func noteReplaced(_ ranking: Int, ofFeed feed: Int64, at time: Timestamp) throws
  /// The rankings of a feed are these from now on.
  func setRankings(ofFeed feed: Int64, current: Int, oldest: Int) throws
  /// Deletes what is kept of rankings before this one.
  func forgetRankings(ofFeed feed: Int64, before ranking: Int) throws
  /// Counts moves from the newest on, and returns the ranking of the first one beyond `count`.
  func move(beyond count: Int, inFeed feed: Int64) throws -> Int?
  /// The first ranking from this one on that was replaced after a time.
  func oldestRanking(ofFeed feed: Int64, from first: Int, replacedAfter time: Timestamp) throws
    -> Int?

  // MARK: Runs

  /// Begins a run, which is at work as long as what is returned is held.
  func beginRun() throws -> StartedRun
  /// Whether no process has declared the run over.
  func isKnown(_ run: Int64) throws -> Bool
  /// Whether a process is at work on the run.
  func isAtWork(_ run: Int64) throws -> Bool
  /// The runs beside this one.
  func runs(besides run: Int64) throws -> [Int64]
  /// The places that a run has given to a post.
  func ranks(ofPost number: Int64, inRun run: Int64) throws -> [(feedID: Int64, rank: Int?)]
  /// Keeps a post's place aside.
  func keepPlace(ofPost number: Int64, inFeed feed: Int64, rank: Int?, run: Int64) throws
  /// Forgets what is kept aside of a post in a feed.
  func forgetPlace(ofPost number: Int64, inFeed feed: Int64, run: Int64) throws
  /// The feeds in which a run keeps places aside.
  func feeds(ofRun run: Int64) throws -> [Int64]
  /// Takes on, of what another run kept aside, the entries that go by time and are not where their posts' times
  /// say.
  func takeTimes(from other: Int64, to run: Int64) throws
  /// Closes the entries that the run moves.
  ///
  /// - Returns: whether there was any.
  func closeMoved(byRun run: Int64, inFeed feed: Int64, at ranking: Int) throws -> Bool
  /// Opens an entry for each place of the run that has none.
  func openPlaces(ofRun run: Int64, inFeed feed: Int64, since ranking: Int) throws
  /// Forgets what the run keeps aside of a feed.
  func dropPlaces(ofRun run: Int64, inFeed feed: Int64) throws
  /// Forgets the run and what it keeps aside.
  func drop(_ run: Int64) throws
  /// A run of this process is over.
  func runIsOver() throws

  // MARK: Idempotency keys

  /// What was answered to the key since then.
  func answer(toKey key: String, since time: Timestamp) throws -> (
    fingerprint: String, counters: String?
  )?
  /// Keeps a key, in place of the same where there is one.
  func keep(_ key: IdempotencyKey, counters: String?, at time: Timestamp) throws
  /// Deletes a few keys that are older than this time, or more than `count` behind the newest.
  func forgetKeys(before time: Timestamp, beyond count: Int, atMost limit: Int) throws
}

/// A post and its row's number.
package struct StoredPost {
  package let number: Int64
  package let post: Post

  package init(number: Int64, post: Post) {
    self.number = number
    self.post = post
  }
}

/// An entry as the current ranking has it, or the next one that a single write has begun.
package struct StoredEntry {
  package let id: Int64
  package let feedID: Int64
  package let post: Int64
  package let key: SortKey
  package let rank: Int?
  /// Microseconds since 1970.
  package let publishedAt: Int64?
  package let since: Int

  package init(
    id: Int64, feedID: Int64, post: Int64, key: SortKey, rank: Int?, publishedAt: Int64?, since: Int
  ) {
    self.id = id
    self.feedID = feedID
    self.post = post
    self.key = key
    self.rank = rank
    self.publishedAt = publishedAt
    self.since = since
  }
}

/// An entry that is to be.
package struct NewEntry {
  package let feedID: Int64
  package let post: Int64
  package let position: Position
  /// Microseconds since 1970.
  package let publishedAt: Int64?
  package let rank: Int?
  package let since: Int
}

/// A run that keeps places aside, and what says that it is at work for as long as it is held.
package struct StartedRun: Sendable {
  package let number: Int64
  private let lock: any Sendable

  package init(number: Int64, lock: any Sendable) {
    self.number = number
    self.lock = lock
  }
}
