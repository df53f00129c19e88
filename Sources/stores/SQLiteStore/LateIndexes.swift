import GRDB

/// The indexes and the trigger that a load into an empty database makes last.
///
/// Each post would change other pages of these indexes: of authors if posts are made up, of files' URLs if
/// they are real. That is more than half of all that the load writes. The trigger would search an index for
/// each new author.
///
/// Only speed depends on them: a process that writes meanwhile finds an author's posts by reading all
/// posts, and an operation that must find the posts that show many files makes the indexes first. If a load
/// was killed, the next process that opens the database to write makes them; so do a prune and the next run
/// that ends. While the load is in progress, which a lock shows, no other process makes them.
struct LateIndexes {
  let database: Database
  let path: String

  // Byte for byte as in migration 0001; `LateIndexTests` compares them.
  static let statements = [
    "CREATE INDEX post_by_author ON post (author_id) WHERE author_id IS NOT NULL",
    "CREATE INDEX media_by_url ON media (url)",
    """
    CREATE TRIGGER author_added AFTER INSERT ON author BEGIN
      INSERT INTO change_log (kind, post_id)
        SELECT 'post', post_id FROM post WHERE author_id = NEW.author_id;
    END
    """,
  ]

  /// Selects the names of the missing ones.
  static let missing = """
    SELECT name FROM (SELECT 'post_by_author' AS name UNION ALL SELECT 'media_by_url'
      UNION ALL SELECT 'author_added') AS expected
    WHERE NOT EXISTS (SELECT 1 FROM sqlite_schema AS object WHERE object.name = expected.name)
    """

  /// Whether any of them is missing.
  static func areMissing(_ database: Database) throws -> Bool {
    try !String.fetchAll(database.cachedStatement(sql: missing)).isEmpty
  }

  /// Drops them if the database is empty. The load makes them at its end.
  ///
  /// - Returns: the lock of the load; `nil` if there are posts or authors, or if another load is in
  ///   progress.
  func drop() throws -> RunLock? {
    let isEmpty = "SELECT NOT EXISTS (SELECT 1 FROM post) AND NOT EXISTS (SELECT 1 FROM author)"
    guard try Bool.fetchOne(database, sql: isEmpty) ?? false else { return nil }
    // Another process may be loading that has not yet written its first post.
    guard !isLoading else { return nil }
    let lock = try RunLock(run: RunLock.load, path: path)
    try database.execute(
      sql: """
        DROP INDEX IF EXISTS post_by_author; DROP INDEX IF EXISTS media_by_url;
        DROP TRIGGER IF EXISTS author_added
        """)
    return lock
  }

  /// Makes the missing ones.
  static func make(_ database: Database) throws {
    while try makeNext(database) {}
  }

  /// Makes one of the missing ones. A transaction for each lets others write in between.
  ///
  /// - Returns: whether one was missing.
  static func makeNext(_ database: Database) throws -> Bool {
    let missing = try String.fetchAll(database.cachedStatement(sql: missing))
    guard let next = statements.first(where: { sql in missing.contains { sql.contains($0) } })
    else { return false }
    try database.execute(sql: next)
    return true
  }

  /// Makes the missing ones, unless a load is in progress that will make them.
  func makeUnlessLoading() throws {
    guard try Self.areMissing(database), !isLoading else { return }
    try Self.make(database)
    // Removes the lock file that the load left.
    try SQLiteRows(database: database, path: path).runIsOver()
  }

  private var isLoading: Bool { RunLock.isHeld(run: RunLock.load, path: path) }
}

extension DatabaseConnections {
  /// Makes the indexes that a killed load left out. Ignores errors, such as a full disk or a lock that
  /// cannot be taken: the database is correct without the indexes, and the next process that opens it tries
  /// again.
  func makeLateIndexes() {
    guard (try? read(LateIndexes.areMissing)) ?? false else { return }
    _ = try? write { try LateIndexes(database: $0, path: path).makeUnlessLoading() }
  }
}
