import Catalog
import Feed

/// A run of records, and the ranking that it makes: the places that it gives to posts are kept apart from
/// the entries until it ends. No reader sees them before, and concurrent writes do not affect them.
package struct RankingRun<Database: RowDatabase> {
  private let database: Database
  /// The run's number and lock; `nil` until it has a pending place.
  package private(set) var run: StartedRun?
  /// The feeds that the run ranks again.
  package private(set) var feeds: Set<Int64>

  /// The time of the transaction.
  private let now: Timestamp

  package init(
    database: Database, run: StartedRun? = nil, feeds: Set<Int64> = [], now: Timestamp
  ) {
    self.database = database
    self.now = now
    self.run = run
    self.feeds = feeds
  }

  /// - Throws: `RunDropped` if another process declared the run over.
  private func requireKnown() throws {
    guard let run else { return }
    guard try database.isKnown(run.number) else { throw RunDropped() }
  }

  // MARK: Records

  /// Writes records within one transaction.
  ///
  /// - Returns: what happened to each post and feed, in the order of the records.
  /// - Throws: `RunDropped`, errors of the database.
  package mutating func write(
    _ records: [SeedRecord]
  ) throws -> [(id: String, change: NetChanges.Change)] {
    var rows = try database.read(RowsWanted(records, run: run?.number))
    try requireKnown()
    var batch = ImportBatch(rankedFeeds: feeds, now: now)
    for record in records { try batch.write(record, &rows) }
    batch.insertNewEntries(&rows)
    feeds = batch.rankedFeeds ?? []
    if run == nil, !feeds.isEmpty { run = try database.beginRun() }
    try database.apply(rows.takeChanges(), run: run?.number)
    try database.finish()
    return batch.changes
  }

  // MARK: The end

  /// Gives all posts their places, and ends the run.
  ///
  /// - Returns: the feeds that have a new ranking, in the order of their names.
  /// - Throws: `RunDropped` if another process declared the run over.
  package mutating func publish(_ retention: RankingRetention) throws -> [String] {
    try requireKnown()
    try dropAbandoned()
    var names: [String] = []
    for id in feeds.sorted() {
      guard let feed = try database.feed(id), try publish(feed, retention) else {
        continue
      }
      names.append(feed.name)
    }
    if let run {
      try database.drop(run.number)
      try database.runIsOver()
    }
    return names.sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
  }

  /// Gives the posts of one feed their places: in the next ranking, which it publishes, if any entry moves;
  /// otherwise there are only new entries, for the current ranking.
  ///
  /// - Returns: whether there is a new ranking.
  private func publish(_ feed: FeedState, _ retention: RankingRetention) throws -> Bool {
    guard let run = run?.number else { return false }
    let next = feed.ranking + 1
    let isMoved = try database.closeMoved(byRun: run, inFeed: feed.id, at: next)
    try database.openPlaces(ofRun: run, inFeed: feed.id, since: isMoved ? next : feed.ranking)
    if isMoved { try Ranking(database: database).raise(feed, retention) }
    try database.dropPlaces(ofRun: run, inFeed: feed.id)
    return isMoved
  }

  /// Drops the places of runs that no process will finish. Before that, this run takes over the entries
  /// that are ordered by time and are not where their posts' times put them, since their posts were written
  /// with the batches.
  private mutating func dropAbandoned() throws {
    guard let own = run?.number else { return }
    for other in try database.runs(besides: own) where try !database.isAtWork(other) {
      try database.takeTimes(from: other, to: own)
      try database.drop(other)
    }
    feeds.formUnion(try database.feeds(ofRun: own))
  }
}

/// The error of a run that was taken to be over, and whose pending places were dropped.
package struct RunDropped: Error {}
