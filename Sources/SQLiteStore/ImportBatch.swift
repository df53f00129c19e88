import Catalog
import Feed
import GRDB
import System

/// Writes records within one transaction.
///
/// A run's moves are kept aside (`RankingRun`) until it ends, and so are its new entries of a feed in
/// which it has moved any, so that its ranking is seen whole; those are written after everything else of
/// the batch, because they depend on it. A single write has no run: its moves go into the next ranking,
/// which is published with them.
struct ImportBatch {
  let database: Database
  /// What happened to each post and feed, in the order of the records.
  private(set) var changes: [(id: String, change: NetChanges.Change)] = []
  /// Keeps the moves aside; `nil` for a single write.
  var run: RankingRun?
  /// The feeds of which a single write began a next ranking.
  var movedFeeds: Set<Int64> = []

  private var feeds: [ByteText: FeedRow] = [:]
  var newEntries: [NewEntry] = []
  var postsWithNewEntries: Set<Int64> = []

  struct FeedRow {
    let id: Int64
    /// The current one.
    let ranking: Int
  }

  struct NewEntry {
    let feed: FeedRow
    let post: Int64
    let position: Position
    let publishedAt: Timestamp?
    let rank: Int?
  }

  /// After so many records others that wait for this core get it: an event loop of a server has answers
  /// to give in between. After each one they would be given faster, and a transaction would take seconds
  /// on a core that is used to the full.
  static let recordsPerTurn = 8

  init(database: Database, run: RankingRun? = nil) {
    self.database = database
    self.run = run
  }

  mutating func write(_ records: [SeedRecord]) throws {
    try run?.requireKnown()
    for (index, record) in records.enumerated() {
      if index.isMultiple(of: Self.recordsPerTurn) { CurrentThread.yield() }
      switch record {
      case .feed(let name, let title): try writeFeed(name, title)
      case .post(let post, let placements):
        let stored = try PostReader(database: database).post(withID: post.id)
        try write(post, placements, over: stored)
      }
    }
    try insertNewEntries()
    try ChangeLog(database: database).trim()
  }

  func execute(_ sql: String, _ arguments: StatementArguments) throws {
    try database.cachedStatement(sql: sql).execute(arguments: arguments)
  }

  func row(_ sql: String, _ arguments: StatementArguments) throws -> Row? {
    try Row.fetchOne(database.cachedStatement(sql: sql), arguments: arguments)
  }
}

// MARK: Feeds

extension ImportBatch {
  private mutating func writeFeed(_ name: String, _ title: String?) throws {
    // No post has this id: ids hold no control characters.
    let id = "feed\u{0}" + name
    if let old = try row("SELECT title FROM feed WHERE name = ?", [name]) {
      let oldTitle: String? = old[0]
      changes.append((id, .init(before: digest(oldTitle), after: digest(title))))
      if !oldTitle.isSame(as: title) {
        try execute("UPDATE feed SET title = ? WHERE name = ?", [title, name])
      }
    } else {
      _ = try feedRow(name)
      try execute("UPDATE feed SET title = ? WHERE name = ?", [title, name])
      changes.append((id, .init(before: nil, after: digest(title))))
    }
  }

  /// The feed of this name, made where there is none.
  mutating func feedRow(_ name: String) throws -> FeedRow {
    if let feed = feeds[name] { return feed }
    let sql = "SELECT feed_id, ranking FROM feed WHERE name = ?"
    var found = try row(sql, [name])
    if found == nil {
      try execute("INSERT INTO feed (name) VALUES (?)", [name])
      found = try row(sql, [name])
    }
    let feed = FeedRow(id: found![0], ranking: try RankingNumber.checked(found![1]))
    feeds[name] = feed
    return feed
  }

  /// The feed of this number.
  func feedRow(_ id: Int64) throws -> FeedRow {
    let ranking = try Int.fetchOne(
      database.cachedStatement(sql: Ranking.ofFeed), arguments: [id])
    return FeedRow(id: id, ranking: ranking ?? 1)
  }
}

// MARK: Posts

extension ImportBatch {
  mutating func write(
    _ post: Post, _ placements: [Placement], over stored: PostReader.Stored?
  ) throws {
    guard let stored else {
      let number = try insert(post)
      for placement in placements {
        try enter(post, number, try feedRow(placement.feed), rank: placement.rank)
      }
      changes.append((post.id, .init(before: nil, after: digest(post, placements))))
      return
    }
    if postsWithNewEntries.contains(stored.number) { try insertNewEntries() }
    let entries = try openEntries(ofPost: stored.number)
    if stored.post != post { try update(stored, to: post) }
    var after = entries.mapValues(\.rank)
    for placement in placements {
      let feed = try feedRow(placement.feed)
      if let entry = entries[feed.id] {
        try place(entry, of: post, in: feed, rank: placement.rank)
      } else {
        try enter(post, stored.number, feed, rank: placement.rank)
      }
      after[feed.id] = .some(placement.rank)
    }
    // A new time moves the post in the timed feeds that its record does not name; and where another has
    // moved it meanwhile to where this run wants it, the run has nothing to move.
    let misplaced = entries.values.filter { $0.isKept || $0.isMisplaced(post) }
    if !misplaced.isEmpty {
      let named = Set(try placements.map { try feedRow($0.feed).id })
      for entry in misplaced.sorted(by: { $0.feedID < $1.feedID })
      where !named.contains(entry.feedID) {
        try place(entry, of: post, in: try feedRow(entry.feedID), rank: entry.rank)
      }
    }
    changes.append(
      (
        post.id,
        .init(
          before: digest(stored.post, entries.mapValues(\.rank)),
          after: digest(post, after))
      ))
  }

  private func digest(_ title: String?) -> Int {
    title.map(ByteText.init).hashValue
  }

  private func digest(_ value: some Hashable, _ other: some Hashable) -> Int {
    var hasher = Hasher()
    hasher.combine(value)
    hasher.combine(other)
    return hasher.finalize()
  }

  private func insert(_ post: Post) throws -> Int64 {
    try execute(
      """
      INSERT INTO post (type, title, text, language, published_at, author_id, url, thumbnail, tags,
        counters, extra, id)
      VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
      """, try values(of: post))
    let number = database.lastInsertedRowID
    try insertMedia(of: post, number)
    return number
  }

  private func update(_ stored: PostReader.Stored, to post: Post) throws {
    try execute(
      """
      UPDATE post SET type = ?, title = ?, text = ?, language = ?, published_at = ?, author_id = ?,
        url = ?, thumbnail = ?, tags = ?, counters = ?, extra = ? WHERE id = ?
      """, try values(of: post))
    if let old = stored.post.author, old != post.author {
      // Of a run there may be thousands such: without the index each would read all posts.
      if run != nil { try LateIndexes.make(database) }
      try execute(
        """
        DELETE FROM author WHERE \(Self.isAuthor)
          AND NOT EXISTS (SELECT 1 FROM post WHERE post.author_id = author.author_id)
        """, Self.key(of: old))
    }
    if stored.post.media != post.media {
      try execute("DELETE FROM media WHERE post_id = ?", [stored.number])
      try insertMedia(of: post, stored.number)
    }
  }

  private func values(of post: Post) throws -> StatementArguments {
    [
      post.type.rawValue, post.title, post.text, post.language, post.publishedAt?.microseconds,
      try post.author.map(authorNumber), post.url, post.thumbnail, JSONText.text(post.tags),
      JSONText.text(post.counters), post.extra?.json, post.id,
    ]
  }

  /// As the index `author_by_id` has its columns.
  private static let isAuthor = """
    coalesce(id, '') = ? AND coalesce(name, '') = ? AND coalesce(avatar, '') = ?
      AND coalesce(extra, '') = ?
    """
  static let authorNumber = "SELECT author_id FROM author WHERE \(isAuthor)"

  private static func key(of author: Author) -> StatementArguments {
    [author.id ?? "", author.name ?? "", author.avatar ?? "", author.extra?.json ?? ""]
  }

  private func authorNumber(_ author: Author) throws -> Int64 {
    if let found = try row(Self.authorNumber, Self.key(of: author)) { return found[0] }
    try execute(
      "INSERT INTO author (id, name, avatar, extra) VALUES (?, ?, ?, ?)",
      [author.id, author.name, author.avatar, author.extra?.json])
    return database.lastInsertedRowID
  }

  private func insertMedia(of post: Post, _ number: Int64) throws {
    for (ordinal, media) in post.media.enumerated() {
      try execute(
        """
        INSERT INTO media
          (post_id, ordinal, kind, url, alt, poster, mime_type, codec, width, height, duration_ms,
            bytes, placeholder, extra)
        VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
        """,
        [
          number, ordinal, media.kind.rawValue, media.url, media.alt, media.poster, media.mimeType,
          media.codec, media.width, media.height, media.durationMilliseconds, media.bytes,
          JSONText.text(media.placeholder), media.extra?.json,
        ])
    }
  }
}
