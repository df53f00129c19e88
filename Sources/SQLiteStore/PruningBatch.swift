import Feed
import GRDB

/// What goes of a few posts, within one transaction.
struct PruningBatch {
  let database: Database
  let rule: Pruning.Rule
  /// The feed that posts leave; nil where they go altogether.
  let feed: Int64?
  let isDryRun: Bool

  private struct Candidate {
    /// Where to go on.
    let number: Int64
    let post: Int64
    let publishedAt: Int64?
    let isInFeed: Bool
  }

  static let posts = """
    SELECT post_id, post_id, published_at,
      EXISTS (SELECT 1 FROM feed_entry WHERE feed_entry.post_id = post.post_id)
    FROM post WHERE post_id > ? ORDER BY post_id LIMIT ?
    """
  /// `+`: in the order of the numbers, and not by the feed's index, which would be sorted each time.
  static let entries = """
    SELECT entry_id, post_id, published_at, 1 FROM feed_entry
    WHERE entry_id > ? AND +feed_id = ? AND until IS NULL ORDER BY entry_id LIMIT ?
    """
  /// Or is about to be.
  static let isInAnotherFeed = """
    SELECT EXISTS (SELECT 1 FROM feed_entry WHERE post_id = ?1 AND feed_id <> ?2)
      OR EXISTS (SELECT 1 FROM pending_place WHERE post_id = ?1 AND feed_id <> ?2)
    """

  /// - Returns: the number after which to go on; nil where that was all.
  func run(
    after number: Int64, limit: Int, _ tops: inout FeedTops, _ summary: inout Pruning.Summary
  ) throws -> Int64? {
    let arguments: StatementArguments = feed.map { [number, $0, limit] } ?? [number, limit]
    let candidates = try Row.fetchAll(
      database.cachedStatement(sql: feed == nil ? Self.posts : Self.entries), arguments: arguments
    ).map { Candidate(number: $0[0], post: $0[1], publishedAt: $0[2], isInFeed: $0[3]) }
    summary.seen += candidates.count
    try tops.update(database)
    for candidate in candidates {
      if candidate.publishedAt == nil, rule.publishedBefore != nil { summary.withoutTime += 1 }
      if goes(candidate, tops) { try remove(candidate.post, &summary) }
    }
    if !isDryRun {
      try ChangeLog(database: database).trim()
      try tops.noteOwnChanges(database)
    }
    return candidates.count < limit ? nil : candidates.last?.number
  }

  private func goes(_ candidate: Candidate, _ tops: FeedTops) -> Bool {
    if let before = rule.publishedBefore {
      guard let time = candidate.publishedAt, time < before.microseconds else { return false }
    }
    // By its place alone nothing goes that has none.
    guard rule.publishedBefore != nil || candidate.isInFeed else { return false }
    return !tops.posts.contains(candidate.post)
  }

  private func remove(_ post: Int64, _ summary: inout Pruning.Summary) throws {
    if let feed {
      let stays =
        try Bool.fetchOne(
          database.cachedStatement(sql: Self.isInAnotherFeed), arguments: [post, feed]) ?? false
      if stays {
        summary.departures += 1
        if !isDryRun {
          try execute(ImportBatch.removeFromFeed, [post, feed])
          try execute(ImportBatch.removeFromRuns, [post, feed])
        }
        return
      }
    }
    summary.posts += 1
    if !isDryRun { try execute(ItemWriter.deletePost, [post]) }
  }

  private func execute(_ sql: String, _ arguments: StatementArguments) throws {
    try database.cachedStatement(sql: sql).execute(arguments: arguments)
  }
}

/// The posts at the tops of feeds, in the current ranking of each and in those that runs are making.
struct FeedTops {
  let feeds: [Int64]
  let limit: Int
  private(set) var posts: Set<Int64> = []
  /// The newest change when they were read.
  private var changeSequence: Int64?

  init(feeds: [Int64], limit: Int) {
    self.feeds = feeds
    self.limit = limit
  }

  static let top = """
    SELECT post_id FROM feed_entry
    WHERE feed_id = ?1 AND since <= ?2 AND (until IS NULL OR until > ?2)
    ORDER BY sort_key, id LIMIT ?3
    """

  static let runs = "SELECT run_id FROM ranking_run"

  /// The top of what a run leaves where it is.
  static let topBesideRun = """
    SELECT post_id FROM feed_entry
    WHERE feed_id = ?1 AND until IS NULL AND NOT EXISTS (SELECT 1 FROM pending_place AS place
      WHERE place.run_id = ?2 AND place.feed_id = ?1 AND place.post_id = feed_entry.post_id)
    ORDER BY sort_key, id LIMIT ?3
    """

  /// The top of what it moves.
  static let topOfRun = """
    SELECT place.post_id FROM pending_place AS place
    CROSS JOIN post ON post.post_id = place.post_id
    WHERE place.feed_id = ?1 AND place.run_id = ?2
    ORDER BY \(RankingRun.key(rank: "place.rank")), post.id LIMIT ?3
    """

  /// Changes that may bring a post to a top: a new entry only pushes others down, and what is within a
  /// post (the kind `post`) moves nothing.
  static let isChanged =
    "SELECT EXISTS (SELECT 1 FROM change_log WHERE change_id > ? AND kind <> 'post')"

  /// Reads them again where somebody may have brought a post to a top.
  mutating func update(_ database: Database) throws {
    guard limit > 0 else { return }
    if let changeSequence {
      let isChanged = try Bool.fetchOne(
        database.cachedStatement(sql: Self.isChanged), arguments: [changeSequence])
      guard isChanged ?? true else { return }
    }
    posts = []
    let statement = try database.cachedStatement(sql: Self.top)
    let runs = try Int64.fetchAll(database, sql: Self.runs)
    for feed in feeds {
      let stored = try Int64.fetchOne(
        database, sql: "SELECT ranking FROM feed WHERE feed_id = ?", arguments: [feed])
      guard let ranking = try stored.map(RankingNumber.checked) else { continue }
      posts.formUnion(try Int64.fetchAll(statement, arguments: [feed, ranking, limit]))
      for run in runs {
        for sql in [Self.topBesideRun, Self.topOfRun] {
          posts.formUnion(
            try Int64.fetchAll(
              database.cachedStatement(sql: sql), arguments: [feed, run, limit]))
        }
      }
    }
    try noteOwnChanges(database)
  }

  /// What goes by a rule is at no top, so that these stay as they are.
  mutating func noteOwnChanges(_ database: Database) throws {
    changeSequence =
      try Int64.fetchOne(
        database.cachedStatement(sql: "SELECT max(change_id) FROM change_log")) ?? 0
  }
}
