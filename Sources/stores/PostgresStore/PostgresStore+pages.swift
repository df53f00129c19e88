import Catalog
import Feed
import Postgres
import RowStore

/// The catalog of the store: the order of every feed, and its changes.
extension PostgresStore {
  /// Reads the tops of feeds, so that first pages can be answered, and then reads the rest on a thread of
  /// the store. Requests that need more wait for that, and a write waits for it before it is answered.
  ///
  /// - Throws: `PostgresStoreError`.
  package func beginLoading() throws {
    try follower.beginLoading(
      firstEntries: options.firstEntries, total: options.firstEntriesOfAll)
    standby?.lookSoon()
  }

  /// Updates the catalog from the database.
  ///
  /// - Returns: whether anything had changed; `false` if the catalog has yet to be read.
  /// - Throws: `PostgresStoreError`; then the catalog is unchanged.
  @discardableResult
  package func refresh() throws -> Bool {
    standby?.lookSoon()
    let isNewer = try follower.refresh()
    standby?.note(follower.version)
    return isNewer
  }

  /// Returns the store as of the last refresh. Takes a lock for the time of a copy.
  ///
  /// - Throws: `PostgresStoreError` if the catalog has yet to be read.
  package func snapshot() throws -> any StoreSnapshot { try follower.snapshot() }

  /// Returns a page of the list of feeds as of the last refresh.
  ///
  /// - Throws: `PostgresStoreError` if the catalog has yet to be read.
  package func feeds(_ query: FeedListQuery) throws -> FeedListPage { try follower.feeds(query) }

  /// Returns the feed of this name as of the last refresh; `nil` if it does not exist.
  ///
  /// - Throws: `PostgresStoreError` if the catalog has yet to be read.
  package func feed(named name: String) throws -> FeedSummary? { try follower.feed(named: name) }

  /// Whether the page can be read at once: its rankings are in memory, and none must be compared with another.
  package func isAtHand(_ query: PageQuery) -> Bool { follower.isAtHand(query) }

  /// Returns a page of a feed without its posts, from the catalog as of the last refresh.
  ///
  /// - Throws: `FeedError` for what the store does not have, `PostgresStoreError`.
  package func cut(_ query: PageQuery) throws -> PageCut {
    try follower.cut(query, from: try follower.latest())
  }

  /// The version of the catalog that was last published; `start` before the first.
  package var version: StoreVersion { follower.version }

  /// See `FeedStore.isUnchanged`.
  package func isUnchanged(feed: String, posts: [Int64], since version: StoreVersion) -> Bool {
    follower.isUnchanged(feed: feed, posts: posts, since: version)
  }

  /// See `FeedStore.changedPosts`. Reaches as far back as `StoreOptions.journalledChanges`.
  package func changedPosts(since version: StoreVersion) -> [Int64]? {
    follower.changedPosts(since: version)
  }

  /// See `FeedStore.changes`. Reaches as far back as `changedPosts`.
  package func changes(since version: StoreVersion) -> StoreDifference? {
    follower.changes(since: version)
  }

  /// Returns the posts with these numbers, in this order, as they are now in the database, or in a standby
  /// whose rows are not older than the catalog.
  ///
  /// - Throws: `PostgresStoreError`.
  package func posts(_ numbers: [Int64]) throws -> FlatPosts {
    guard !numbers.isEmpty else { return FlatPosts() }
    if let posts = standbyPosts(numbers) { return posts }
    return try read { try PostRows.posts(numbered: $0.read(PostRows.statements(numbers))) }
  }

  /// Returns the item with this id, from the same server as posts; `nil` if the primary does not have it.
  ///
  /// - Throws: `PostgresStoreError`.
  package func item(withID id: String) throws -> StoredItem? {
    if let item = standbyItem(withID: id) { return item }
    return try read { try Self.item($0.read(Self.itemStatements(id)))?.item }
  }

  static let postNumbers = """
    SELECT post_id FROM post WHERE post_id < $1::int8 AND post_id >= coalesce((\(lastLooked)), 0)
      AND ($3::text IS NULL OR type = $3::text) AND ($4::int8 IS NULL OR published_at >= $4::int8)
      AND ($5::int8 IS NULL OR published_at < $5::int8)
    ORDER BY post_id DESC LIMIT $6::int8
    """
  static let lastLooked = """
    SELECT post_id FROM post WHERE post_id < $1::int8 ORDER BY post_id DESC
    LIMIT 1 OFFSET $2::int8
    """

  /// See `FeedStore`. Reads from the primary.
  ///
  /// - Throws: `TextIndexUnfinished`, `PostgresStoreError`.
  package func postNumbers(
    below number: Int64?, _ filter: ItemFilter, limit: Int, looks: Int
  ) throws -> PostNumbers {
    if filter.text != nil || filter.visibility != nil {
      return try postNumbers(
        below: number, filter, at: options.now(), limit: limit, looks: looks)
    }
    let below = Parameter.integer(number ?? .max)
    let rows = try read {
      try $0.read([
        Statement(
          Self.postNumbers,
          [
            below, .integer(Int64(looks - 1)), .text(filter.type?.rawValue),
            .integer(filter.publishedFrom?.microseconds),
            .integer(filter.publishedBefore?.microseconds), .integer(Int64(limit + 1)),
          ]),
        Statement(Self.lastLooked, [below, .integer(Int64(looks - 1))]),
      ])
    }
    return PostNumbers(
      found: try rows[0].values.map { try $0.integer(0) }, limit: limit,
      lookEnd: rows[1].values.map { $0.optional(0) }.first ?? nil)
  }

  static let placementsByNumber = """
    SELECT post_id, (SELECT name FROM feed WHERE feed.feed_id = feed_entry.feed_id) AS feed, rank
    FROM feed_entry WHERE post_id = ANY ($1::int8[]) AND until IS NULL
    UNION ALL
    SELECT post_id, (SELECT name FROM feed WHERE feed.feed_id = scheduled_place.feed_id), rank
    FROM scheduled_place WHERE post_id = ANY ($1::int8[]) ORDER BY post_id, feed
    """

  /// See `FeedStore`. Reads from the primary.
  ///
  /// - Throws: `PostgresStoreError`.
  package func items(_ numbers: [Int64]) throws -> [StoredItem] {
    guard !numbers.isEmpty else { return [] }
    return try read { try Self.items(try $0.read(Self.itemStatements(numbers: numbers))) }
  }

  static func itemStatements(numbers: [Int64]) -> [Statement] {
    PostRows.statements(numbers) + [
      Statement(placementsByNumber, [.integers(numbers.map { $0 })])
    ]
  }

  /// Returns the items in the results of those statements.
  static func items(_ rows: [Rows]) throws -> [StoredItem] {
    let flat = try PostRows.posts(numbered: rows)
    var placements: [Int64: [Placement]] = [:]
    for row in rows[2].values {
      placements[try row.integer(0), default: []].append(
        Placement(feed: try row.name(1), rank: row.optional(2).map(Int.init)))
    }
    return flat.posts.indices.map {
      StoredItem(
        post: flat.post(at: $0), placements: placements[flat.posts[$0].number] ?? [])
    }
  }

  static func itemStatements(_ id: String) -> [Statement] {
    let ids = [Parameter.texts([id])]
    return [
      Statement(PostRows.byID, ids), Statement(PostRows.mediaWithTruthByID, ids),
      Statement(placementsOfPosts, ids),
    ]
  }

  /// Returns the item in the results and the number of its post; `nil` if there is no post.
  static func item(_ rows: [Rows]) throws -> (number: Int64, item: StoredItem)? {
    // The facts about a file are not part of the post's record.
    let flat = try PostRows.posts(rows[0], rows[1])
    guard flat.count > 0 else { return nil }
    let places = try (0..<rows[2].count).map { index in
      let row = RowValues(rows: rows[2], row: index)
      return Placement(feed: try row.name(1), rank: row.optional(2).map(Int.init))
    }
    let item = StoredItem(
      post: flat.post(at: 0), placements: places,
      truths: (0..<rows[1].count).map { PostRows.truth(RowValues(rows: rows[1], row: $0)) },
      survival: flat.posts[0].survival.map(flat.string))
    return (flat.posts[0].number, item)
  }
}
