import Feed
import Postgres

/// A database that was filled and not analyzed since: what a server of it finds right after the first seed. Three feeds,
/// each of one tier of the order, have all posts.
struct DeepDatabase {
  /// Feeds by the tier of their keys.
  static let feeds = ["ranked", "timed", "untimed"]
  /// The database's number of a post, less the post's own.
  static let firstNumber: Int64 = 1_000_000
  /// What the server knows the connection by that fills the tables.
  static let filling = "filling"

  let database: TestDatabase

  /// A database with empty tables, which nobody analyzes unasked.
  init() throws {
    database = try TestDatabase()
    try database.store().close()
    let connection = try database.connect()
    for table in [
      "post", "media", "author", "feed_entry", "media_truth", "media_file", "idempotency_key",
    ] {
      try connection.run(script: "ALTER TABLE \(table) SET (autovacuum_enabled = off)")
    }
  }

  /// The position of the post with this number, from 1 on, in a feed.
  static func position(_ number: Int64, in feed: String) -> Position {
    let key =
      switch feed {
      case "ranked": SortKey(rank: Int(number), publishedAt: nil)
      case "timed": SortKey(rank: nil, publishedAt: Timestamp(microseconds: -number))
      default: SortKey(rank: nil, publishedAt: nil)
      }
    return Position(key: key, id: id(number))
  }

  /// Ids are in the order of the numbers, as those of posts without rank or time are compared.
  static func id(_ number: Int64) -> String {
    let digits = String(number)
    return "p" + String(repeating: "0", count: 7 - digits.count) + digits
  }

  /// Fills the tables with this many posts.
  func fill(posts count: Int) throws {
    let connection = try Connection(
      database.address(named: Self.filling), .init(statementMilliseconds: 0))
    let keys = [
      "number", "\(SortKey(rank: nil, publishedAt: Timestamp(microseconds: 0)).rawValue) + number",
      "\(SortKey(rank: nil, publishedAt: nil).rawValue)",
    ]
    try connection.run(
      script: """
        INSERT INTO idempotency_key (key, fingerprint, created_at)
          SELECT 'k' || number, '', number FROM generate_series(1, 5000) AS number;
        INSERT INTO author (id) SELECT 'a' || number FROM generate_series(1, 5000) AS number;
        INSERT INTO post (post_id, id, type, author_id)
          SELECT \(Self.firstNumber) + number, 'p' || lpad(number::text, 7, '0'), 'image',
            number % 5000 + 1
          FROM generate_series(1, \(count)) AS number;
        INSERT INTO media_truth (version) SELECT 'v' || n FROM generate_series(1, 5000) AS n;
        INSERT INTO media_file (url, truth_id) SELECT '/' || n, n FROM generate_series(1, 5000) AS n;
        INSERT INTO media (post_id, ordinal, kind, url)
          SELECT post_id, 0, 'image', '/' || (post_id - \(Self.firstNumber))
          FROM post WHERE post_id > \(Self.firstNumber);
        """)
    for (feed, key) in zip(Self.feeds, keys) {
      try connection.run(
        script: """
          INSERT INTO feed (name) VALUES ('\(feed)');
          INSERT INTO feed_entry (feed_id, post_id, sort_key, id, since)
            SELECT feed_id, post_id, \(key), id, 1
            FROM feed, (SELECT *, post_id - \(Self.firstNumber) AS number FROM post) AS post
            WHERE name = '\(feed)' AND number > 0;
          """)
    }
  }

  /// Leaves the tables as if they had been analyzed when they were empty, and not since.
  func forgetCounts() throws {
    try database.connect().run(
      script: """
        UPDATE pg_class SET reltuples = 0, relpages = 0
          WHERE relnamespace = '\(database.schema)'::regnamespace AND relkind IN ('r', 'i')
        """)
  }
}
