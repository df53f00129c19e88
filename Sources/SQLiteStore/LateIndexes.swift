import GRDB

/// What a load into an empty database makes last: an index of which each of its posts would change another page,
/// nine tenths of all that it writes, and the trigger that would look there for each new author.
///
/// Nothing else rests on it but time: whoever writes meanwhile, in this process or another, finds an author's
/// posts by reading them all. Where a load was killed, whoever next opens the database to write makes the index,
/// and so do a prune and the next run that ends; as long as the load is at work, which a lock says, nobody does.
struct LateIndexes {
  let database: Database
  let path: String

  // As migrations 0001 and 0004 have them, to the byte: `LateIndexTests` holds them together.
  static let statements = [
    "CREATE INDEX post_by_author ON post (author_id) WHERE author_id IS NOT NULL",
    """
    CREATE TRIGGER author_added AFTER INSERT ON author BEGIN
      INSERT INTO change_log (kind, post_id)
        SELECT 'post', post_id FROM post WHERE author_id = NEW.author_id;
    END
    """,
  ]

  /// Selects what is missing.
  static let missing = """
    SELECT name FROM (SELECT 'post_by_author' AS name UNION ALL SELECT 'author_added') AS expected
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
    // Somebody else may be loading, who has yet to write his first post.
    guard !isLoading else { return nil }
    let lock = try RunLock(run: RunLock.load, path: path)
    try database.execute(
      sql: "DROP INDEX IF EXISTS post_by_author; DROP TRIGGER IF EXISTS author_added")
    return lock
  }

  /// Makes what is missing.
  static func make(_ database: Database) throws {
    let missing = try String.fetchAll(database.cachedStatement(sql: missing))
    for statement in statements where missing.contains(where: { statement.contains($0) }) {
      try database.execute(sql: statement)
    }
  }

  /// Makes what is missing where nobody is loading any longer who would.
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
