import Catalog
import Feed
import Foundation
import GRDB
import RowStore
import System

// In SQLite, the mark is the newest entry and the newest change: there is one writer, new entries have
// ascending numbers, and triggers write every other change of the order or of a post to `change_log`,
// whichever program makes it. The check for changes is `PRAGMA data_version`. New posts are not logged, so
// loading them costs nothing more: their entries are written last, and a post without an entry is on no
// page.

/// Posts, feeds and policies in a SQLite file: the default store.
///
/// Theory of operation. The order of every feed is held in memory (`CatalogFollower`). A page is cut from
/// it, and only the page's posts are read from the file, by their primary key. Writes of other connections
/// and processes reach the catalog through `refresh()`, which reads the new entries and the change log
/// since the last time; a write through this store refreshes before it returns.
///
/// Single writes wait in a queue for the one writer, which puts all waiting writes into one transaction
/// (`WriteGroup`), each in its own savepoint.
package final class SQLiteStore: FeedStore, PolicyStore, Sendable {
  /// The path of the file.
  package let path: String
  let pool: DatabaseConnections
  /// The connections that read pages and items, for any thread.
  let readers: ReadConnections
  let options: StoreOptions
  /// The queue of single writes. Imports do not use it.
  let writes: WriteQueue
  let follower: CatalogFollower<SQLiteCatalogSource>

  /// Opens the database at the path; creates and migrates it as needed.
  ///
  /// - Throws: `StoreError`.
  package convenience init(
    path: String, file: DatabaseFile.Options = DatabaseFile.Options(),
    options: StoreOptions = StoreOptions()
  ) throws {
    self.init(path: path, pool: try Self.migratedPool(path: path, file), file, options)
  }

  /// Opens a database that exists and is up to date, and changes nothing in it.
  ///
  /// - Throws: `StoreError`.
  package convenience init(
    existing path: String, file: DatabaseFile.Options = DatabaseFile.Options(),
    options: StoreOptions = StoreOptions()
  ) throws {
    try DatabaseFile.requireExisting(path: path)
    let pool = try DatabaseFile.open(path: path, options: file)
    let pending = try withStoreErrors(path: path) {
      try Migrator().verify(pool.reader)
      return try Migrator().status(pool.reader).filter { $0.appliedAt == nil }.map(\.name)
    }
    guard pending.isEmpty else { throw StoreError.pendingMigrations(pending) }
    self.init(path: path, pool: pool, file, options)
  }

  private init(
    path: String, pool: DatabaseConnections, _ file: DatabaseFile.Options, _ options: StoreOptions
  ) {
    options.requireSensible()
    self.path = path
    self.pool = pool
    self.options = options
    let readers = ReadConnections(path: path, options: file, watch: pool.watch)
    self.readers = readers
    follower = CatalogFollower(
      SQLiteCatalogSource(path: path, options: file, watch: pool.watch),
      journalledChanges: options.journalledChanges, orderMemoryBytes: options.orderMemoryBytes
    ) { _, needs in
      try withStoreErrors(path: path) {
        try readers.read { database, _ in
          try needs.read(from: SQLiteCatalogReader(database: database))
        }
      }
    }
    writes = WriteQueue(
      limit: options.maximumWaitingWrites, groupLimit: options.maximumWritesInGroup)
  }

  private static func migratedPool(
    path: String, _ file: DatabaseFile.Options
  ) throws -> DatabaseConnections {
    let pool = try DatabaseFile.open(path: path, options: file)
    _ = try withStoreErrors(path: path) { try Migrator().migrate(pool) }
    pool.makeLateIndexes()
    return pool
  }

  /// Finishes the accepted writes, refuses later ones, and closes the file. Checkpoints the write-ahead log
  /// as far as readers allow. Must not be called by a completion.
  ///
  /// - Throws: `StoreError`.
  package func close() throws {
    writes.close()
    try follower.close()
    try withStoreErrors(path: path) {
      try readers.close()
      try pool.close()
    }
  }
}

extension SQLiteStore: DatabaseStore {
  /// The path of the file.
  package var name: String { path }

  /// See `DatabaseStore`.
  package var kind: String { "sqlite" }

  /// SQLite's version and its known problems.
  package func software() -> String { SQLiteLibrary.summary }

  /// Always nil: a file that cannot be written is not opened.
  package func writeProblem() -> String? { nil }

  /// False: checking the file costs next to nothing, and no process announces writes.
  package var hearsOfChanges: Bool { false }

  /// False: a file that is gone or was replaced is lost to this server alone.
  package var outlivesDatabase: Bool { false }

  /// Returns at once.
  package func waitForChanges(atMostMilliseconds limit: Int) {}

  /// See `DatabaseStore.prune`.
  ///
  /// - Throws: `StoreError`, `FeedError.unknownFeed`.
  package func prune(
    _ rule: PruningRule, isDryRun: Bool, onProgress: (PruningSummary) -> Void
  ) throws -> PruningSummary {
    try Pruning(self, rule: rule, isDryRun: isDryRun).run(onProgress: onProgress)
  }

  /// See `DatabaseStore.lockMedia`.
  ///
  /// - Throws: `SystemError` if the file cannot be created.
  package func lockMedia() throws -> (any Sendable)? {
    try MediaLock(path: MediaLock.path(ofDatabase: path))
  }
}

/// The schema of a SQLite file.
package struct SQLiteSchema: DatabaseSchema {
  private let path: String
  private let file: DatabaseFile.Options

  /// Creates the schema of the file at the path.
  package init(path: String, file: DatabaseFile.Options = DatabaseFile.Options()) {
    (self.path, self.file) = (path, file)
  }

  /// See `DatabaseSchema`.
  ///
  /// - Throws: `StoreError`.
  package func migrate() throws -> [String] { try Schema.migrate(path: path, options: file) }

  /// See `DatabaseSchema`.
  ///
  /// - Throws: `StoreError`.
  package func status() throws -> [MigrationStatus] { try Schema.status(path: path, options: file) }

  /// See `DatabaseSchema`.
  ///
  /// - Throws: `StoreError`.
  package func verify() throws { try Schema.verify(path: path, options: file) }
}

extension SQLiteStore {
  /// The number of posts that an export reads at once. All portions are read within one snapshot, so that
  /// the memory is bounded and the output is consistent.
  private static let portion = 500

  /// Passes everything to `body` as records, in canonical order: the feeds that have a title, by name, then
  /// the posts by id, each with its places in the current rankings.
  ///
  /// - Throws: `StoreError`, and what `body` throws.
  package func exportRecords(_ body: (SeedRecord) throws -> Void) throws {
    try withStoreErrors(path: path) {
      try pool.read { database in
        let feeds = try Row.fetchAll(
          database, sql: "SELECT name, title FROM feed WHERE title IS NOT NULL ORDER BY name")
        for feed in feeds { try body(.feed(name: feed[0], title: feed[1])) }

        let reader = PostReader(database: database)
        var lastID = ""
        while true {
          let posts = try reader.posts(afterID: lastID, limit: Self.portion)
          for index in posts.posts.indices {
            let item = try reader.item(
              .init(number: posts.posts[index].number, post: posts.post(at: index)))
            try body(.post(item.post, placements: item.placements))
          }
          guard let last = posts.posts.last else { return }
          lastID = posts.string(last.id)
        }
      }
    }
  }
}

extension SQLiteStore {
  /// The sizes of the database and its write-ahead log (https://sqlite.org/wal.html); 0 for a file that
  /// does not exist.
  package var fileBytes: (database: Int, writeAheadLog: Int) {
    (Self.size(pool.file), Self.size(pool.file + "-wal"))
  }

  private static func size(_ path: String) -> Int { (try? FileStatus(path: path).bytes) ?? 0 }
}

extension SQLiteStore {
  /// Returns the item with this id, read from the file; `nil` if it does not exist.
  ///
  /// - Throws: `StoreError`.
  package func item(withID id: String) throws -> StoredItem? {
    try withStoreErrors(path: path) {
      try readers.read { database, _ in
        let reader = PostReader(database: database)
        let media = MediaTable(database)
        guard let stored = try reader.post(withID: id) else { return nil }
        return StoredItem(
          post: stored.post, placements: try reader.placements(ofPost: stored.number),
          truths: try stored.post.media.map { try media.media(at: $0.url)?.truth },
          survival: try reader.survival(ofPost: stored.number))
      }
    }
  }
}

extension SQLiteStore {
  static let postNumbers = """
    SELECT post_id FROM post WHERE post_id < ?1 AND post_id >= ?2
      AND (?3 IS NULL OR type = ?3) AND (?4 IS NULL OR published_at >= ?4)
      AND (?5 IS NULL OR published_at < ?5)
    ORDER BY post_id DESC LIMIT ?6
    """
  static let lastLooked = """
    SELECT post_id FROM post WHERE post_id < ?1 ORDER BY post_id DESC LIMIT 1 OFFSET ?2
    """

  /// See `FeedStore`.
  ///
  /// - Throws: `TextIndexUnfinished`, `StoreError`.
  package func postNumbers(
    below number: Int64?, _ filter: ItemFilter, limit: Int, looks: Int
  ) throws -> PostNumbers {
    let below = number ?? .max
    return try withStoreErrors(path: path) {
      try readers.read { database, _ in
        if filter.text != nil || filter.visibility != nil {
          return try Self.postNumbers(
            below: below, filter, at: options.now(), limit: limit, looks: looks, database)
        }
        let end = try Int64.fetchOne(
          database.cachedStatement(sql: Self.lastLooked), arguments: [below, looks - 1])
        let found = try Int64.fetchAll(
          database.cachedStatement(sql: Self.postNumbers),
          arguments: [
            below, end ?? 0, filter.type?.rawValue, filter.publishedFrom?.microseconds,
            filter.publishedBefore?.microseconds, limit + 1,
          ])
        return PostNumbers(found: found, limit: limit, lookEnd: end)
      }
    }
  }

  /// See `FeedStore`.
  ///
  /// - Throws: `StoreError`.
  package func items(_ numbers: [Int64]) throws -> [StoredItem] {
    try withStoreErrors(path: path) {
      try readers.read { database, statements in
        let reader = PostReader(database: database)
        let flat = try statements.posts(numbers, database)
        return try flat.posts.indices.map {
          try reader.item(StoredPost(number: flat.posts[$0].number, post: flat.post(at: $0)))
        }
      }
    }
  }
}

extension PostReader {
  static let placementsOfPost = """
    SELECT feed.name, feed_entry.rank FROM feed_entry JOIN feed USING (feed_id)
    WHERE feed_entry.post_id = ?1 AND feed_entry.until IS NULL
    UNION ALL SELECT feed.name, scheduled_place.rank
    FROM scheduled_place JOIN feed USING (feed_id) WHERE scheduled_place.post_id = ?1
    """

  /// Returns the feeds that show a post, or that will show it while none does, in the order of their names.
  func placements(ofPost number: Int64) throws -> [Placement] {
    let statement = try database.cachedStatement(sql: Self.placementsOfPost)
    return try Row.fetchAll(statement, arguments: [number])
      .map { Placement(feed: $0[0], rank: $0[1]) }
      .sorted { $0.feed.utf8.lexicographicallyPrecedes($1.feed.utf8) }
  }

  static let survivalOfPost = "SELECT survival FROM post WHERE post_id = ?"

  /// Returns how long people watch a post, as JSON; nil if that is unknown.
  func survival(ofPost number: Int64) throws -> String? {
    try String.fetchOne(
      database.cachedStatement(sql: Self.survivalOfPost), arguments: [number])
  }

  /// Returns a post with its feeds.
  func item(_ stored: StoredPost) throws -> StoredItem {
    StoredItem(post: stored.post, placements: try placements(ofPost: stored.number))
  }
}

extension SQLiteStore: TableStore {
  /// The number of rows that are passed on at once.
  private static let rowsAtOnce = 2_000

  /// See `TableStore`.
  ///
  /// - Throws: `StoreError`, what `body` throws.
  package func readTables(_ body: (StoreTable, [[TableValue]]) throws -> Void) throws {
    try withStoreErrors(path: path) {
      try pool.read { database in
        for table in StoreTable.all {
          var rows: [[TableValue]] = []
          let cursor = try Row.fetchCursor(
            database, sql: "SELECT \(table.columnList) FROM \(table.name)")
          while let row = try cursor.next() {
            rows.append(try table.columns.indices.map { try Self.value(row[$0] as DatabaseValue) })
            if rows.count == Self.rowsAtOnce {
              try body(table, rows)
              rows.removeAll(keepingCapacity: true)
            }
          }
          if !rows.isEmpty { try body(table, rows) }
        }
      }
    }
  }

  private static func value(_ stored: DatabaseValue) throws -> TableValue {
    switch stored.storage {
    case .null: .null
    case .int64(let number): .integer(number)
    case .string(let text): .text(Array(text.utf8))
    case .blob(let data): .bytes(Array(data))
    case .double: throw RowError("a row holds a number that is not whole")
    }
  }

  /// See `TableStore`.
  ///
  /// - Throws: `StoreNotEmpty`, `StoreError`, what `fill` throws.
  package func writeTables(
    _ fill: ((StoreTable, [[TableValue]]) throws -> Void) throws -> Void
  ) throws {
    try withStoreErrors(path: path) {
      try pool.write { database in
        let isEmpty = "SELECT NOT EXISTS (SELECT 1 FROM post) AND NOT EXISTS (SELECT 1 FROM feed)"
        guard try Bool.fetchOne(database, sql: isEmpty) ?? false else {
          throw StoreNotEmpty(name: path)
        }
        for statement in StoreTable.makingRoom { try database.execute(sql: statement) }
        try fill { table, rows in
          let places = table.columns.map { _ in "?" }.joined(separator: ", ")
          let statement = try database.cachedStatement(
            sql: "INSERT INTO \(table.name) (\(table.columnList)) VALUES (\(places))")
          for row in rows {
            try statement.execute(arguments: StatementArguments(row.map(Self.stored)))
          }
        }
        let rows = SQLiteRows(database: database, path: path)
        try rows.forgetIndexedTexts()
        try rows.trimLog()
      }
    }
    followOwnWrite()
  }

  private static func stored(_ value: TableValue) -> DatabaseValue {
    switch value {
    case .null: .null
    case .integer(let number): number.databaseValue
    case .text(let bytes): String(decoding: bytes, as: UTF8.self).databaseValue
    case .bytes(let bytes): Data(bytes).databaseValue
    }
  }
}

extension SQLiteStore {
  /// Begins a run of records. Nothing is written or locked until its first batch.
  package func beginImport() -> any FeedImport { SQLiteImport(self) }

  /// Changes one item and returns at once; see `FeedStore.write`.
  ///
  /// All waiting writes go into one transaction, so a slow disk costs one wait per group, not one per
  /// write. `completion` is called on the writer's thread, which waits for it: it must only pass its result
  /// on, and must not close the store. If a write is refused, `completion` gets `StoreError.tooManyWrites`
  /// or `StoreError.closed` before this method returns.
  package func write(
    _ write: ItemWrite,
    completion: @escaping @Sendable (Result<ItemOutcome, any Error>) -> Void
  ) {
    add(.item(write, completion))
  }

  /// Changes one feed and returns at once; see `FeedStore.write`.
  package func write(
    _ write: FeedWrite,
    completion: @escaping @Sendable (Result<FeedOutcome, any Error>) -> Void
  ) {
    add(.feed(write, completion))
  }

  private func add(_ waiting: WaitingWrite) {
    do {
      try writes.add(waiting) { try self.commit($0) }
    } catch {
      switch error {
      case .full: waiting.fail(StoreError.tooManyWrites(limit: options.maximumWaitingWrites))
      case .closed: waiting.fail(StoreError.closed(path: path))
      }
    }
  }

  private func commit(_ waiting: [WaitingWrite]) throws -> [WaitingWrite.Telling] {
    let tellings = try withStoreErrors(path: path) {
      try pool.write { database in
        try WriteGroup(database: SQLiteRows(database: database, path: path), options: options)
          .run(waiting)
      }
    }
    followOwnWrite()
    return tellings
  }

  /// Updates the catalog with what was just written.
  ///
  /// The write is durable even if this fails: a client that got the error would write again. The next
  /// refresh catches up, and throws if the cause persists.
  func followOwnWrite() {
    _ = try? refresh()
  }
}
