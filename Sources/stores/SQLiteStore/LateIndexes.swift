import GRDB

/// What a load into an empty database makes last: the indexes of which each of its posts would change other
/// pages, of authors where posts are made up and of files' URLs where they are real, more than half of all that it
/// writes; and the trigger that would look there for each new author.
///
/// Only time depends on them: a process that writes meanwhile finds an author's posts by reading all posts,
/// and an operation that must find the posts which show many files makes the indexes first. If a load was
/// killed, the next process that opens the database to write makes them; so do a prune and the next run that
/// ends. While the load is at work, which a lock says, no other process makes them.
struct LateIndexes {
  let database: Database
  let path: String

  // As migrations 0001, 0010 and 0004 have them, to the byte: `LateIndexTests` holds them together.
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

  /// Selects what is missing.
  static let missing = """
    SELECT name FROM (SELECT 'post_by_author' AS name UNION ALL SELECT 'media_by_url'
      UNION ALL SELECT 'author_added') AS expected
    WHERE NOT EXISTS (SELECT 1 FROM sqlite_schema AS object WHERE object.name = expected.name)
    """

  /// Whether anything is missing.
  static func areMissing(_ database: Database) throws -> Bool {
    try !String.fetchAll(database.cachedStatement(sql: missing)).isEmpty
  }

  /// Does without, where there is no post yet, and until the load has made them.
  ///
  /// - Returns: the lock of a load that does without; `nil` where there are posts.
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

  /// Makes what is missing.
  static func make(_ database: Database) throws {
    while try makeNext(database) {}
  }

  /// Makes one thing that is missing: a transaction for each lets others write in between.
  ///
  /// - Returns: whether anything was.
  static func makeNext(_ database: Database) throws -> Bool {
    let missing = try String.fetchAll(database.cachedStatement(sql: missing))
    guard let next = statements.first(where: { sql in missing.contains { sql.contains($0) } })
    else { return false }
    try database.execute(sql: next)
    return true
  }

  /// Makes what is missing unless a load is at work that will make it.
  func makeUnlessLoading() throws {
    guard try Self.areMissing(database), !isLoading else { return }
    try Self.make(database)
    // What was left of the load's lock.
    try SQLiteRows(database: database, path: path).runIsOver()
  }

  private var isLoading: Bool { RunLock.isHeld(run: RunLock.load, path: path) }
}

extension DatabaseConnections {
  /// Makes the indexes that a load which was killed has left out. A disk that is full, a lock that is not to be
  /// had: the database is right without, and the next one to open it tries again.
  func makeLateIndexes() {
    guard (try? read(LateIndexes.areMissing)) ?? false else { return }
    _ = try? write { try LateIndexes(database: $0, path: path).makeUnlessLoading() }
  }
}
