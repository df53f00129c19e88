import Catalog
import Feed
import Postgres
import RowStore

/// Reads the rows for a group of writes or a batch of records.
extension PostgresRows {
  private static let postsByID = "SELECT post_id FROM post WHERE id = ANY ($1::text[])"
  // The numbers are looked up first, so that the planner has no choice of the table to scan.
  static let entriesByID = """
    SELECT feed_id, post_id, sort_key, rank, published_at, since, id
    FROM feed_entry WHERE post_id = ANY (ARRAY(\(postsByID))) AND until IS NULL
    """
  static let placesByID = """
    SELECT feed_id, post_id, rank FROM pending_place
    WHERE post_id = ANY (ARRAY(\(postsByID))) AND run_id = $2::int8
    """
  /// The feeds of posts in every ranking, and those into which runs are about to bring them.
  static let everyFeedOfPosts = """
    SELECT feed_id, post_id FROM feed_entry WHERE post_id = ANY (ARRAY(\(postsByID)))
    UNION SELECT feed_id, post_id FROM pending_place WHERE post_id = ANY (ARRAY(\(postsByID)))
    """
  static let feedsOfPosts =
    PostgresCatalogReader.everyFeed + """
       WHERE feed_id = ANY (ARRAY(
        SELECT DISTINCT feed_id FROM feed_entry WHERE post_id = ANY (ARRAY(\(postsByID)))
        UNION SELECT feed_id FROM pending_place WHERE post_id = ANY (ARRAY(\(postsByID)))
        UNION SELECT feed_id FROM scheduled_place WHERE post_id = ANY (ARRAY(\(postsByID)))))
      """
  static let momentsByID = """
    SELECT post_id, due_at FROM schedule WHERE post_id = ANY (ARRAY(\(postsByID)))
    """
  static let scheduledByID = """
    SELECT post_id, feed_id, rank FROM scheduled_place WHERE post_id = ANY (ARRAY(\(postsByID)))
    """
  static let feedsByName = PostgresCatalogReader.everyFeed + " WHERE name = ANY ($1::text[])"
  /// The columns as in the constraint `author_by_id`.
  static let authorsByKey = """
    SELECT place, author_id
    FROM unnest($1::text[], $2::text[], $3::text[], $4::text[]) WITH ORDINALITY
      AS given (id, name, avatar, extra, place)
    JOIN author ON ARRAY[coalesce(author.id, ''), coalesce(author.name, ''),
      coalesce(author.avatar, ''), coalesce(author.extra, '')]
      = ARRAY[given.id, given.name, given.avatar, given.extra]
    """

  // A hash index finds one value at a time, not those of a list.
  static let keysByName = """
    SELECT key, fingerprint, counters, created_at
    FROM unnest($1::text[]) AS asked (name) JOIN idempotency_key ON key = asked.name
    """
  static let postNumbers = """
    SELECT nextval((SELECT pg_get_serial_sequence('post', 'post_id')::regclass))
    FROM generate_series(1, $1::int8)
    """
  static let feedNumbers = """
    SELECT nextval((SELECT pg_get_serial_sequence('feed', 'feed_id')::regclass))
    FROM generate_series(1, $1::int8)
    """
  static let authorNumbers = """
    SELECT nextval((SELECT pg_get_serial_sequence('author', 'author_id')::regclass))
    FROM generate_series(1, $1::int8)
    """

  func read(_ wanted: RowsWanted) throws -> KnownRows {
    try flush()
    let ids = Parameter.texts(wanted.posts.map { $0 })
    let placed = Parameter.texts(wanted.placedPosts.map { $0 })
    let authors = Array(wanted.authors)
    let answers = try connection.run([
      Statement(PostRows.byID, [ids]), Statement(PostRows.mediaByID, [ids]),
      Statement(Self.entriesByID, [placed]),
      Statement(Self.placesByID, [placed, .integer(wanted.run)]),
      Statement(Self.everyFeedOfPosts, [.texts(wanted.leavingPosts.map { $0 })]),
      Statement(Self.feedsOfPosts, [placed]),
      Statement(Self.feedsByName, [.texts(wanted.feeds.map { $0 })]),
      Statement(Self.keysByName, [.texts(wanted.keys.map { $0 })]),
      Statement(Self.authorsByKey, Self.key(of: authors)),
      Statement(Self.postNumbers, [.integer(Int64(wanted.newPosts))]),
      Statement(Self.feedNumbers, [.integer(Int64(wanted.newFeeds))]),
      Statement("SELECT ranking FROM ranking_floor"),
      Statement(Self.momentsByID, [placed]), Statement(Self.scheduledByID, [placed]),
    ])
    var rows = KnownRows(wanted)
    try add(posts: answers[0], answers[1], to: &rows)
    for entry in try entries(answers[2]) { rows.add(entry) }
    for row in answers[3].values {
      rows.add(
        place: row.optional(2).map(Int.init), ofPost: try row.integer(1),
        inFeed: try row.integer(0))
    }
    for row in answers[4].values {
      rows.add(feed: try row.integer(0), ofPost: try row.integer(1))
    }
    for feeds in answers[5...6] {
      for feed in try PostgresCatalogReader.feeds(feeds) { rows.add(feed) }
    }
    for row in answers[7].values {
      rows.add(
        StoredKey(
          key: try row.name(0), fingerprint: try row.name(1), counters: row.string(2),
          createdAt: try row.integer(3)))
    }
    for row in answers[8].values {
      pending.authors[authors[Int(try row.integer(0)) - 1]] = try row.integer(1)
    }
    rows.newPostNumbers = try Self.numbers(answers[9])
    rows.newFeedNumbers = try Self.numbers(answers[10])
    for row in answers[11].values {
      rows.rankingFloor = try RankingNumber.checked(try row.integer(0))
    }
    for row in answers[12].values {
      rows.add(
        dueAt: Timestamp(microseconds: try row.integer(1)), ofPost: try row.integer(0))
    }
    for row in answers[13].values {
      rows.add(
        scheduled: row.optional(2).map(Int.init), ofPost: try row.integer(0),
        inFeed: try row.integer(1))
    }
    try takeNumbers(of: authors.filter { pending.authors[$0] == nil })
    return rows
  }

  private func add(posts: Rows, _ media: Rows, to rows: inout KnownRows) throws {
    let flat = try PostRows.posts(posts, media)
    for index in 0..<flat.count {
      let number = flat.posts[index].number
      rows.add(StoredPost(number: number, post: flat.post(at: index)))
      pending.authorOfPost[number] = posts.integer(index, PostRows.authorColumn)
    }
  }

  /// Returns new numbers, in descending order.
  private static func numbers(_ rows: Rows) throws -> [Int64] {
    try rows.values.map { try $0.integer(0) }.sorted(by: >)
  }

  /// Returns the parameters of `authorsByKey`.
  static func key(of authors: [Author]) -> [Parameter] {
    [
      .texts(authors.map { $0.id ?? "" }), .texts(authors.map { $0.name ?? "" }),
      .texts(authors.map { $0.avatar ?? "" }), .texts(authors.map { $0.extra?.json ?? "" }),
    ]
  }

  /// Reserves numbers for these authors.
  func takeNumbers(of authors: [Author]) throws {
    guard !authors.isEmpty else { return }
    let rows = try connection.run(Self.authorNumbers, [.integer(Int64(authors.count))])
    for (index, author) in authors.enumerated() {
      pending.authors[author] = -(try RowValues(rows: rows, row: index).integer(0))
    }
  }
}
