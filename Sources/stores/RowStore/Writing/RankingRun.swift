import Feed

/// The ranking that a run of records is making: the places that it gives to posts, kept aside from the
/// entries until it ends. No reader sees them before, and concurrent writes do not affect them.
package struct RankingRun<Rows: StoreRows> {
  private let rows: Rows
  /// The run's number, and what says that it is at work; `nil` until it keeps a place aside.
  package private(set) var run: StartedRun?
  /// The feeds that it ranks again.
  package private(set) var feeds: Set<Int64>

  package init(rows: Rows, run: StartedRun? = nil, feeds: Set<Int64> = []) {
    self.rows = rows
    self.run = run
    self.feeds = feeds
  }

  /// - Throws: `RunDropped` if another process declared the run over.
  func requireKnown() throws {
    guard let run else { return }
    guard try rows.isKnown(run.number) else { throw RunDropped() }
  }

  // MARK: Places

  /// The places that the run has given to a post.
  func ranks(ofPost number: Int64) throws -> [(feedID: Int64, rank: Int?)] {
    guard let run else { return [] }
    return try rows.ranks(ofPost: number, inRun: run.number)
  }

  /// Keeps a post's place for the end of the run.
  mutating func keep(_ post: Int64, in feed: Int64, rank: Int?) throws {
    feeds.insert(feed)
    let run = try self.run ?? rows.beginRun()
    self.run = run
    try rows.keepPlace(ofPost: post, inFeed: feed, rank: rank, run: run.number)
  }

  /// The post is where the run's last word has it.
  func forget(_ post: Int64, in feed: Int64) throws {
    guard let run, feeds.contains(feed) else { return }
    try rows.forgetPlace(ofPost: post, inFeed: feed, run: run.number)
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
      guard let feed = try rows.feed(id), try publish(feed.id, feed.ranking, retention) else {
        continue
      }
      names.append(feed.name)
    }
    if let run {
      try rows.drop(run.number)
      try rows.runIsOver()
    }
    return names.sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
  }

  /// Gives the posts of one feed their places: in the next ranking, which it publishes, where any entry
  /// moves; else there are only new entries, for the current one.
  ///
  /// - Returns: whether there is a new ranking.
  private func publish(_ feed: Int64, _ ranking: Int, _ retention: RankingRetention) throws -> Bool
  {
    guard let run else { return false }
    let isMoved = try rows.closeMoved(byRun: run.number, inFeed: feed, at: ranking + 1)
    try rows.openPlaces(ofRun: run.number, inFeed: feed, since: isMoved ? ranking + 1 : ranking)
    if isMoved { try Ranking(rows: rows).raise(feed, retention) }
    try rows.dropPlaces(ofRun: run.number, inFeed: feed)
    return isMoved
  }

  /// Drops the places of runs that no process will finish. From these this run takes over the entries that are
  /// ordered by time and are not where their posts' times say: their posts were written with the batches.
  private mutating func dropAbandoned() throws {
    guard let own = run else { return }
    for other in try rows.runs(besides: own.number) where try !rows.isAtWork(other) {
      try rows.takeTimes(from: other, to: own.number)
      try rows.drop(other)
    }
    feeds.formUnion(try rows.feeds(ofRun: own.number))
  }
}

/// The run was taken for one that is over, and what it held back is dropped.
package struct RunDropped: Error {}
