import Feed
import GRDB

/// The ranking that a run of records is making: the places that it gives to posts, kept aside from the
/// entries until it ends. Nobody sees them before, and what others write meanwhile has no part in them.
struct RankingRun {
  let database: Database
  let path: String
  /// The run's number, and what says that it is at work; `nil` until it keeps a place aside.
  private(set) var run: Started?
  /// The feeds that it ranks anew.
  private(set) var feeds: Set<Int64>

  /// A run that keeps places aside.
  struct Started: Sendable {
    let number: Int64
    let lock: RunLock
  }

  init(database: Database, path: String, run: Started? = nil, feeds: Set<Int64> = []) {
    self.database = database
    self.path = path
    self.run = run
    self.feeds = feeds
  }

  static let isKnown = "SELECT EXISTS (SELECT 1 FROM ranking_run WHERE run_id = ?)"

  /// - Throws: `StoreError.runDropped` where somebody took the run for one that is over.
  func requireKnown() throws {
    guard let run else { return }
    let statement = try database.cachedStatement(sql: Self.isKnown)
    let isKnown = try Bool.fetchOne(statement, arguments: [run.number]) ?? false
    guard isKnown else { throw StoreError.runDropped(path: path) }
  }

  // MARK: Places

  // Left to itself, SQLite reads all that the run has kept aside.
  static let ranksOfPost = """
    SELECT feed_id, rank FROM pending_place INDEXED BY pending_place_by_post
    WHERE post_id = ? AND run_id = ?
    """

  /// The places that the run has given to a post.
  func ranks(ofPost number: Int64) throws -> [(feedID: Int64, rank: Int?)] {
    guard let run else { return [] }
    let statement = try database.cachedStatement(sql: Self.ranksOfPost)
    return try Row.fetchAll(statement, arguments: [number, run.number]).map { ($0[0], $0[1]) }
  }

  /// Keeps a post's place for the end of the run.
  mutating func keep(_ post: Int64, in feed: Int64, rank: Int?) throws {
    feeds.insert(feed)
    try execute(
      "INSERT OR REPLACE INTO pending_place (run_id, feed_id, post_id, rank) VALUES (?, ?, ?, ?)",
      [try started().number, feed, post, rank])
  }

  static let forgetPlace =
    "DELETE FROM pending_place WHERE run_id = ? AND feed_id = ? AND post_id = ?"

  /// The post is where the run's last word has it.
  func forget(_ post: Int64, in feed: Int64) throws {
    guard let run, feeds.contains(feed) else { return }
    try execute(Self.forgetPlace, [run.number, feed, post])
  }

  private mutating func started() throws -> Started {
    if let run { return run }
    try execute("INSERT INTO ranking_run DEFAULT VALUES", [])
    let number = database.lastInsertedRowID
    let run = Started(number: number, lock: try RunLock(run: number, path: path))
    self.run = run
    return run
  }

  // MARK: The end

  /// Gives all posts their places, and ends the run.
  ///
  /// - Returns: the feeds that have a new ranking, in the order of their names.
  /// - Throws: `StoreError.runDropped` where somebody took the run for one that is over.
  mutating func publish(_ retention: RankingRetention) throws -> [String] {
    try requireKnown()
    try dropAbandoned()
    var names: [String] = []
    for feed in feeds.sorted() where try publish(feed: feed, retention) {
      let statement = try database.cachedStatement(sql: "SELECT name FROM feed WHERE feed_id = ?")
      if let name = try String.fetchOne(statement, arguments: [feed]) { names.append(name) }
    }
    try end()
    return names.sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
  }

  /// Gives the posts of one feed their places: in the next ranking, which it publishes, where any entry
  /// moves; else there are only new entries, for the current one.
  ///
  /// - Returns: whether there is a new ranking.
  private func publish(feed: Int64, _ retention: RankingRetention) throws -> Bool {
    guard let run,
      let ranking = try Int.fetchOne(
        database.cachedStatement(sql: Ranking.ofFeed), arguments: [feed])
    else { return false }
    try execute(Self.closeMoved, [ranking + 1, run.number, feed])
    let isMoved = database.changesCount > 0
    try execute(Self.openPlaces, [isMoved ? ranking + 1 : ranking, run.number, feed])
    if isMoved { try Ranking(database: database).raise(feed, retention) }
    try execute("DELETE FROM pending_place WHERE run_id = ? AND feed_id = ?", [run.number, feed])
    return isMoved
  }

  /// See `SortKey`.
  static func key(rank: String) -> String {
    "coalesce(\(rank), (1 << 62) - post.published_at, 9223372036854775807)"
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

  /// The run is over.
  private func end() throws {
    guard let run else { return }
    try drop(run.number)
    try Self.removeFile(database, path: path)
  }

  /// Removes the file of the locks where there is no run.
  static func removeFile(_ database: Database, path: String) throws {
    let areNone = try
      !(Bool.fetchOne(database, sql: "SELECT EXISTS (SELECT 1 FROM ranking_run)") ?? true)
    if areNone { RunLock.removeFile(path: path) }
  }

  /// Drops what runs kept aside that nobody will finish. Of that this run takes on the entries which go
  /// by time and are not where their posts' times say: it was written with the posts that they moved.
  private mutating func dropAbandoned() throws {
    guard let own = run else { return }
    let others = try Int64.fetchAll(
      database, sql: "SELECT run_id FROM ranking_run WHERE run_id <> ?", arguments: [own.number])
    for other in others where !RunLock.isHeld(run: other, path: path) {
      try execute(Self.takeTimes, [own.number, other])
      try drop(other)
    }
    feeds.formUnion(
      try Int64.fetchAll(
        database, sql: "SELECT DISTINCT feed_id FROM pending_place WHERE run_id = ?",
        arguments: [own.number]))
  }

  static let takeTimes = """
    INSERT OR IGNORE INTO pending_place (run_id, feed_id, post_id, rank)
    SELECT ?, place.feed_id, place.post_id, NULL FROM pending_place AS place
    CROSS JOIN post ON post.post_id = place.post_id
    CROSS JOIN feed_entry AS entry INDEXED BY feed_entry_by_post
      ON entry.post_id = place.post_id AND entry.feed_id = place.feed_id AND entry.until IS NULL
    WHERE place.run_id = ? AND entry.rank IS NULL AND entry.sort_key <> \(key(rank: "NULL"))
    """

  private func drop(_ number: Int64) throws {
    try execute("DELETE FROM pending_place WHERE run_id = ?", [number])
    try execute("DELETE FROM ranking_run WHERE run_id = ?", [number])
  }

  private func execute(_ sql: String, _ arguments: StatementArguments) throws {
    try database.cachedStatement(sql: sql).execute(arguments: arguments)
  }
}
