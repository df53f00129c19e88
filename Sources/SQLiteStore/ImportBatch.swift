import Feed
import GRDB

/// Writes records within one transaction.
///
/// New entries are written after everything else of the batch, because where they go depends on it: into
/// the current ranking as long as no entry of the feed has moved, into the next one if one has, so that
/// a ranking is seen whole.
struct ImportBatch {
  let database: Database
  /// What happened to each post and feed, in the order of the records.
  private(set) var changes: [(id: String, change: NetChanges.Change)] = []
  /// The feeds of which a next ranking is begun.
  private(set) var movedFeeds: Set<String> = []

  private var feeds: [String: FeedRow] = [:]
  private var newEntries: [NewEntry] = []
  private var postsWithNewEntries: Set<Int64> = []

  private struct FeedRow {
    let id: Int64
    let ranking: Int
  }

  private struct NewEntry {
    let feed: String
    let post: Int64
    let position: Position
    let publishedAt: Timestamp?
    let rank: Int?
  }

  /// How many rows of the change log are kept: a reader that is further behind reads all anew.
  private static let keptChanges = 200_000

  init(database: Database) {
    self.database = database
  }

  mutating func write(_ records: [SeedRecord]) throws {
    for record in records {
      switch record {
      case .feed(let name, let title): try writeFeed(name, title)
      case .post(let post, let placements): try write(post, placements)
      }
    }
    try insertNewEntries()
    try execute(
      """
      DELETE FROM change_log
      WHERE change_id <= (SELECT max(change_id) FROM change_log) - \(Self.keptChanges)
      """, [])
  }

  private func execute(_ sql: String, _ arguments: StatementArguments) throws {
    try database.cachedStatement(sql: sql).execute(arguments: arguments)
  }

  private func row(_ sql: String, _ arguments: StatementArguments) throws -> Row? {
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
      changes.append((id, .init(before: oldTitle.hashValue, after: title.hashValue)))
      if oldTitle.map({ Array($0.utf8) }) != title.map({ Array($0.utf8) }) {
        try execute("UPDATE feed SET title = ? WHERE name = ?", [title, name])
      }
    } else {
      _ = try feedRow(name)
      try execute("UPDATE feed SET title = ? WHERE name = ?", [title, name])
      changes.append((id, .init(before: nil, after: title.hashValue)))
    }
  }

  /// The feed of this name, made where there is none.
  private mutating func feedRow(_ name: String) throws -> FeedRow {
    if let feed = feeds[name] { return feed }
    var feed = FeedRow(id: 0, ranking: 1)
    if let row = try row("SELECT feed_id, ranking FROM feed WHERE name = ?", [name]) {
      feed = FeedRow(id: row[0], ranking: row[1])
      if try Ranking(database: database).isBegun(feed.ranking + 1, feedID: feed.id) {
        movedFeeds.insert(name)
      }
    } else {
      try execute("INSERT INTO feed (name) VALUES (?)", [name])
      feed = FeedRow(id: database.lastInsertedRowID, ranking: 1)
    }
    feeds[name] = feed
    return feed
  }
}

// MARK: Posts

extension ImportBatch {
  private mutating func write(_ post: Post, _ placements: [Placement]) throws {
    guard let stored = try PostReader(database: database).post(withID: post.id) else {
      let number = try insert(post)
      for placement in placements { try enter(post, number, placement) }
      changes.append((post.id, .init(before: nil, after: digest(post, placements))))
      return
    }
    if postsWithNewEntries.contains(stored.number) { try insertNewEntries() }
    let entries = try openEntries(ofPost: stored.number)
    if !stored.post.isIdentical(to: post) { try update(stored, to: post) }
    var after = entries
    for placement in placements {
      let feed = try feedRow(placement.feed)
      if let entry = entries[feed.id] {
        try move(entry, of: post, to: placement, in: feed)
      } else {
        try enter(post, stored.number, placement)
      }
      after[feed.id] = OpenEntry(rank: placement.rank)
    }
    if stored.post.publishedAt != post.publishedAt {
      try retime(entries, of: post, except: placements)
    }
    changes.append(
      (
        post.id,
        .init(
          before: digest(stored.post, entries.mapValues(\.rank)),
          after: digest(post, after.mapValues(\.rank)))
      ))
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
      INSERT INTO post (type, title, text, published_at, author_id, url, thumbnail, tags, counters, id)
      VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
      """, try values(of: post))
    let number = database.lastInsertedRowID
    try insertMedia(of: post, number)
    return number
  }

  private func update(_ stored: PostReader.Stored, to post: Post) throws {
    try execute(
      """
      UPDATE post SET type = ?, title = ?, text = ?, published_at = ?, author_id = ?, url = ?,
        thumbnail = ?, tags = ?, counters = ? WHERE id = ?
      """, try values(of: post))
    if let old = stored.post.author, old != post.author {
      try execute(
        """
        DELETE FROM author WHERE id = ? AND coalesce(name, '') = ?
          AND NOT EXISTS (SELECT 1 FROM post WHERE post.author_id = author.author_id)
        """, [old.id, old.name ?? ""])
    }
    if stored.post.media != post.media {
      try execute("DELETE FROM media WHERE post_id = ?", [stored.number])
      try insertMedia(of: post, stored.number)
    }
  }

  private func values(of post: Post) throws -> StatementArguments {
    [
      post.type.rawValue, post.title, post.text, post.publishedAt?.microseconds,
      try post.author.map(authorNumber), post.url, post.thumbnail, JSONText.text(post.tags),
      JSONText.text(post.counters), post.id,
    ]
  }

  private func authorNumber(_ author: Author) throws -> Int64 {
    let name = author.name ?? ""
    let found = try row(
      "SELECT author_id FROM author WHERE id = ? AND coalesce(name, '') = ?", [author.id, name])
    if let found { return found[0] }
    try execute("INSERT INTO author (id, name) VALUES (?, ?)", [author.id, author.name])
    return database.lastInsertedRowID
  }

  private func insertMedia(of post: Post, _ number: Int64) throws {
    for (ordinal, media) in post.media.enumerated() {
      try execute(
        """
        INSERT INTO media
          (post_id, ordinal, kind, url, mime_type, codec, width, height, duration_ms, bytes)
        VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
        """,
        [
          number, ordinal, media.kind.rawValue, media.url, media.mimeType, media.codec, media.width,
          media.height, media.durationMilliseconds, media.bytes,
        ])
    }
  }
}

// MARK: Entries

extension ImportBatch {
  /// An entry as the newest ranking, published or not, has it.
  private struct OpenEntry {
    var id: Int64 = 0
    var feedID: Int64 = 0
    var post: Int64 = 0
    var key = SortKey(rawValue: 0)
    let rank: Int?
    var publishedAt: Int64?
    var since = 1

    init(rank: Int?) {
      self.rank = rank
    }

    init(_ row: Row) {
      id = row[0]
      feedID = row[1]
      post = row[2]
      key = SortKey(rawValue: row[3])
      rank = row[4]
      publishedAt = row[5]
      since = row[6]
    }
  }

  static let openEntries = """
    SELECT entry_id, feed_id, post_id, sort_key, rank, published_at, since FROM feed_entry
    WHERE post_id = ? AND until IS NULL
    """

  private func openEntries(ofPost number: Int64) throws -> [Int64: OpenEntry] {
    let statement = try database.cachedStatement(sql: Self.openEntries)
    let entries = try Row.fetchAll(statement, arguments: [number]).map(OpenEntry.init)
    return Dictionary(entries.map { ($0.feedID, $0) }, uniquingKeysWith: { _, last in last })
  }

  private mutating func enter(_ post: Post, _ number: Int64, _ placement: Placement) throws {
    _ = try feedRow(placement.feed)
    let key = SortKey(rank: placement.rank, publishedAt: post.publishedAt)
    newEntries.append(
      NewEntry(
        feed: placement.feed, post: number, position: Position(key: key, id: post.id),
        publishedAt: post.publishedAt, rank: placement.rank))
    postsWithNewEntries.insert(number)
  }

  private mutating func insertNewEntries() throws {
    for entry in newEntries {
      let feed = try feedRow(entry.feed)
      try insert(
        feedID: feed.id, post: entry.post, position: entry.position,
        publishedAt: entry.publishedAt?.microseconds, rank: entry.rank,
        since: movedFeeds.contains(entry.feed) ? feed.ranking + 1 : feed.ranking)
    }
    newEntries.removeAll()
    postsWithNewEntries.removeAll()
  }

  private func insert(
    feedID: Int64, post: Int64, position: Position, publishedAt: Int64?, rank: Int?, since: Int
  ) throws {
    try execute(
      """
      INSERT INTO feed_entry (feed_id, post_id, sort_key, id, published_at, rank, since)
      VALUES (?, ?, ?, ?, ?, ?, ?)
      """, [feedID, post, position.key.rawValue, position.id, publishedAt, rank, since])
  }

  /// Gives the entry another place, in the next ranking; the current one goes on showing the old.
  private mutating func move(
    _ entry: OpenEntry, of post: Post, to placement: Placement, in feed: FeedRow
  ) throws {
    let key = SortKey(rank: placement.rank, publishedAt: post.publishedAt)
    let publishedAt = post.publishedAt?.microseconds
    if key == entry.key, placement.rank == entry.rank {
      if publishedAt != entry.publishedAt {
        try execute(
          "UPDATE feed_entry SET published_at = ? WHERE post_id = ? AND feed_id = ?",
          [publishedAt, entry.post, feed.id])
      }
      return
    }
    movedFeeds.insert(placement.feed)
    let next = feed.ranking + 1
    if entry.since == next {
      try execute("DELETE FROM feed_entry WHERE entry_id = ?", [entry.id])
      // Moved back to where the current ranking has it: then nothing moved.
      try execute(
        """
        UPDATE feed_entry SET until = NULL, published_at = ?
        WHERE post_id = ? AND feed_id = ? AND until = ? AND sort_key = ? AND rank IS ?
        """, [publishedAt, entry.post, feed.id, next, key.rawValue, placement.rank])
      if database.changesCount > 0 { return }
    } else {
      try execute("UPDATE feed_entry SET until = ? WHERE entry_id = ?", [next, entry.id])
    }
    try insert(
      feedID: feed.id, post: entry.post, position: Position(key: key, id: post.id),
      publishedAt: publishedAt, rank: placement.rank, since: next)
  }

  /// A post's new time moves it in the timed feeds that its record does not name.
  private mutating func retime(
    _ entries: [Int64: OpenEntry], of post: Post, except placements: [Placement]
  ) throws {
    for entry in entries.values.sorted(by: { $0.feedID < $1.feedID }) {
      guard let row = try row("SELECT name FROM feed WHERE feed_id = ?", [entry.feedID]) else {
        continue
      }
      let name: String = row[0]
      guard !placements.contains(where: { $0.feed == name }) else { continue }
      try move(
        entry, of: post, to: Placement(feed: name, rank: entry.rank), in: try feedRow(name))
    }
  }
}
