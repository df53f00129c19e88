import Catalog
import Feed
import Postgres
import RowStore
import System

// In PostgreSQL, there are many writers, and numbers are assigned before commits. The mark is a snapshot
// (`pg_current_snapshot`), and the changes are what that does not show: each row of `change_log`, and each
// new entry, has the number of its transaction, and is searched for from the oldest transaction on that was
// running then. `CommitOrderTests` commits transactions in another order than they began. `NOTIFY` wakes
// `PostgresListener`.
//
// The store reads only rows from a standby (`Standby`). Each check of the primary returns the position of
// its write-ahead log, so that a position in the log stands for a version of the catalog
// (`ReplayedVersions`: pure). A standby says how far it has replayed before it takes the snapshot of a
// read. Rows without a change in the journal since that version equal the primary's; the store asks the
// primary for all others. So cached rows of a standby are never behind the store's version, either
// (`StandbyTests`).

/// Posts, feeds and policies in a PostgreSQL database, for any number of servers: no server keeps anything
/// that is not in it.
///
/// Theory of operation. Memory holds the order of every feed (`CatalogFollower`). The store cuts a page
/// from it, and queries only the page's posts, on its own threads. Other processes' writes reach the
/// catalog through `refresh()`, for which the database wakes every listener (`PostgresListener`); a write
/// through this store refreshes before it returns.
///
/// All writers of this program, on any machine, write one after the other, by a lock of the database.
/// Single writes wait in a queue for this process's writer, which puts all waiting writes into one
/// transaction: a second of many single writes is a few transactions.
package final class PostgresStore: FeedStore, PolicyStore, Sendable {
  /// The settings of the store's connections.
  package struct Connections: Hashable, Sendable {
    /// The maximum number of connections that read at once.
    package var readers: Int
    /// The time to wait for a host, if the address does not set one.
    package var connectSeconds: Int
    /// The maximum time of a statement, and of a wait for other writers.
    package var statementMilliseconds: Int
    /// The standby, or several of which one answers, that is read before the primary.
    package var standby: DatabaseAddress?

    /// Creates settings with these values.
    package init(
      readers: Int = 8, connectSeconds: Int = 5, statementMilliseconds: Int = 30_000,
      standby: DatabaseAddress? = nil
    ) {
      self.standby = standby
      self.readers = readers
      self.connectSeconds = connectSeconds
      self.statementMilliseconds = statementMilliseconds
    }
  }

  /// The database's name, without its password.
  package var name: String { address.name }

  /// The database's address.
  package let address: DatabaseAddress
  let options: StoreOptions
  let connections: Connections
  let readers: ConnectionPool
  /// The standby that is asked for rows before the primary, if one is named.
  package let standby: Standby?
  let writer: PostgresWriter
  /// The queue of single writes. Imports do not use it.
  let writes: WriteQueue
  let follower: CatalogFollower<PostgresCatalogSource>
  /// The threads on which the reads of event loops wait.
  private let waiting: WorkerPool
  private let listener: PostgresListener

  /// The maximum number of event-loop reads that wait.
  private static let waitingQuestions = 10_000

  /// Opens the database at this address; creates and migrates its tables as needed.
  ///
  /// - Throws: `PostgresStoreError`.
  package convenience init(
    address: DatabaseAddress, connections: Connections = Connections(),
    options: StoreOptions = StoreOptions()
  ) throws {
    _ = try PostgresSchema(address).migrate()
    self.init(opening: address, connections, options)
  }

  /// Opens a database whose tables exist and are up to date, and changes nothing in it.
  ///
  /// - Throws: `PostgresStoreError`.
  package convenience init(
    existing address: DatabaseAddress, connections: Connections = Connections(),
    options: StoreOptions = StoreOptions()
  ) throws {
    try PostgresSchema(address).requireUpToDate()
    self.init(opening: address, connections, options)
  }

  private init(
    opening address: DatabaseAddress, _ connections: Connections, _ options: StoreOptions
  ) {
    options.requireSensible()
    precondition(connections.readers >= 1, "an option is less than 1")
    (self.address, self.options, self.connections) = (address, options, connections)
    let reading = Connection.Options(
      connectSeconds: connections.connectSeconds,
      statementMilliseconds: connections.statementMilliseconds)
    // Connections share what they find out about a server. A server that takes writes can be read.
    let read = Outage()
    let written = Outage(endingToo: read)
    let readers = ConnectionPool(
      address, reading, limit: connections.readers, outage: read)
    self.readers = readers
    writer = PostgresWriter(address, connections, written)
    waiting = WorkerPool(threads: connections.readers, limit: Self.waitingQuestions)
    // Loading has no time limit.
    var following = reading
    following.statementMilliseconds = 0
    following.server = .writable
    let (name, standby) = (address.name, connections.standby.map { Standby($0, connections) })
    self.standby = standby
    follower = CatalogFollower(
      PostgresCatalogSource(
        name: name,
        connections: ConnectionPool(address, following, limit: 1, outage: written),
        standby: standby),
      journalledChanges: options.journalledChanges, orderMemoryBytes: options.orderMemoryBytes
    ) { follower, needs in
      if needs.isWindowAlone, let parts = standby?.window(needs, for: follower) { return parts }
      return try withStoreErrors(name) {
        try readers.run { connection in
          try connection.transaction(.reading) {
            try needs.read(from: PostgresCatalogReader(connection: connection))
          }
        }
      }
    }
    writes = WriteQueue(
      limit: options.maximumWaitingWrites, groupLimit: options.maximumWritesInGroup)
    listener = PostgresListener(address, reading, read)
  }

  /// Finishes the accepted writes, refuses later ones, and closes all connections. Must not be called by a
  /// completion.
  ///
  /// - Throws: `PostgresStoreError`.
  package func close() throws {
    writes.close()
    listener.stop()
    waiting.wait()
    try follower.close()
    readers.close()
    standby?.close()
    writer.close()
  }

  /// Waits until another process reports a write, or the time is over. The next refresh sees the write.
  package func waitForChanges(atMostMilliseconds limit: Int) {
    listener.wait(atMostMilliseconds: limit)
  }

  /// Passes the posts to `completion`, from a thread that may wait.
  package func posts(
    _ numbers: [Int64], completion: @escaping @Sendable (Result<FlatPosts, any Error>) -> Void
  ) {
    later(completion) { try self.posts(numbers) }
  }

  /// Passes the item to `completion`, from a thread that may wait.
  package func item(
    withID id: String, completion: @escaping @Sendable (Result<StoredItem?, any Error>) -> Void
  ) {
    later(completion) { try self.item(withID: id) }
  }

  private func later<Value>(
    _ completion: @escaping @Sendable (Result<Value, any Error>) -> Void,
    _ body: @escaping @Sendable () throws -> Value
  ) {
    let isTaken = waiting.run { completion(Result { try body() }) }
    if !isTaken {
      completion(.failure(PostgresStoreError.tooManyQuestions(limit: Self.waitingQuestions)))
    }
  }

  /// Runs the body with a connection that reads.
  func read<Value>(_ body: (Connection) throws -> Value) throws -> Value {
    try withStoreErrors(name) { try readers.run(body) }
  }

  /// Updates the catalog with what was just written.
  ///
  /// The write is durable even if this fails: a client that got the error would write again. The next
  /// refresh catches up, and throws if the cause persists.
  func followOwnWrite() { _ = try? refresh() }
}

extension PostgresStore {
  /// Checks the invariants that SQL cannot declare. Each check returns at most its first twenty findings.
  /// `pg_amcheck` and the server's checksums show whether its files are whole.
  ///
  /// - Returns: the findings; empty if the database is sound.
  /// - Throws: `PostgresStoreError`.
  package func check() throws -> [CheckFinding] {
    try withStoreErrors(name) {
      // The query reads all rows.
      let connection = try Connection(
        address, .init(statementMilliseconds: 0, planning: .asUsual))
      return try connection.transaction(.reading) {
        let broken = try Self.invariants.flatMap { invariant in
          try invariant.findings { sql in
            let rows = try connection.run(sql)
            return (0..<rows.count).compactMap { rows.text($0, 0) }
          }
        }
        return try PackedColumn.all.reduce(into: broken) { findings, column in
          findings += try connection.findings(in: column)
        }
      }
    }
  }

  static let invariants: [StoreInvariant] =
    [.entryRepeatsPost(isOther: "IS DISTINCT FROM")] + StoreInvariant.common + [
      .rankingIsFinished(
        places: "SELECT 1 FROM pending_place WHERE pending_place.feed_id = feed.feed_id")
    ]
}

extension Connection {
  /// Returns the first findings in a column, within a transaction.
  fileprivate func findings(in column: PackedColumn) throws -> [CheckFinding] {
    try run(script: "DECLARE packed NO SCROLL CURSOR FOR \(column.sql)")
    var findings: [CheckFinding] = []
    var isMore = true
    while isMore, findings.count < StoreInvariant.findingLimit {
      let rows = try run("FETCH 1000 FROM packed")
      findings += (0..<rows.count).lazy
        .compactMap { column.finding(rows.text($0, 0) ?? "", rows.bytes($0, 1)) }
        .prefix(StoreInvariant.findingLimit - findings.count)
      isMore = rows.count == 1_000
    }
    try run(script: "CLOSE packed")
    return findings
  }
}

extension PostgresStore: DatabaseStore {
  /// See `DatabaseStore`.
  package var kind: String { "postgres" }

  /// See `DatabaseStore`.
  package var hearsOfChanges: Bool { true }

  /// See `DatabaseStore`.
  package var outlivesDatabase: Bool { true }

  /// PostgreSQL's version, as the server reports it.
  ///
  /// - Throws: `PostgresStoreError`.
  package func software() throws -> String {
    try read { "PostgreSQL \(try $0.run("SHOW server_version").text(0, 0) ?? "")" }
  }

  /// Selects whether the role's transactions only read, the role, and the tables that a server writes to
  /// and the role may not change.
  private static let missingRights = """
    SELECT current_setting('transaction_read_only') = 'on', current_user::text,
      (SELECT string_agg(name, ', ' ORDER BY name) FROM unnest(ARRAY['author', 'change_log',
        'change_log_floor', 'change_source', 'feed', 'feed_entry', 'idempotency_key', 'media', 'media_file',
        'media_truth', 'pending_place', 'post', 'ranking_floor', 'ranking_run',
        'replaced_ranking', 'schedule', 'scheduled_place', 'webhook']) AS name
      WHERE NOT (has_table_privilege(name, 'INSERT') AND has_table_privilege(name, 'UPDATE')
        AND has_table_privilege(name, 'DELETE')))
    """

  /// See `DatabaseStore`.
  ///
  /// - Throws: `PostgresStoreError`.
  package func writeProblem() throws -> String? {
    try read { connection in
      let rows = try connection.run(Self.missingRights)
      let role = rows.text(0, 1) ?? ""
      if rows.boolean(0, 0) { return "transactions of the role \(role) are read-only" }
      return rows.text(0, 2).map {
        "the role \(role) lacks INSERT, UPDATE or DELETE on \($0); docs/postgres.md has the GRANT"
      }
    }
  }

  private static let mediaLock =
    "SELECT pg_try_advisory_lock('media_file'::regclass::oid::int4, 0)"

  /// See `DatabaseStore`. The lock ends with its connection.
  ///
  /// - Throws: `PostgresStoreError`.
  package func lockMedia() throws -> (any Sendable)? {
    try withStoreErrors(name) {
      let connection = try Connection(address, .init(connectSeconds: connections.connectSeconds))
      return try connection.run(Self.mediaLock).boolean(0, 0) ? connection : nil
    }
  }
}

extension PostgresSchema: DatabaseSchema {}

extension PostgresStore {
  /// Begins a run of records. Nothing is written or locked until its first batch.
  package func beginImport() -> any FeedImport { PostgresImport(self) }

  /// Changes one item and returns at once; see `FeedStore.write`.
  ///
  /// All waiting writes go into one transaction, so a distant server costs one wait per group, not one per
  /// write. `completion` is called on the writer's thread, which waits for it: it must only pass its result
  /// on, and must not close the store. If a write is refused, `completion` gets the error before this
  /// method returns.
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
      case .full:
        waiting.fail(PostgresStoreError.tooManyWrites(limit: options.maximumWaitingWrites))
      case .closed: waiting.fail(PostgresStoreError.closed(name: name))
      }
    }
  }

  private func commit(_ waiting: [WaitingWrite]) throws -> [WaitingWrite.Telling] {
    defer { followOwnWrite() }
    do {
      return try run(waiting)
    } catch let error as PostgresError where waiting.count > 1 && error.isAboutData {
      // The group fails as a whole: each write is made again alone, so that only the refused one fails.
      return waiting.flatMap { write -> [WaitingWrite.Telling] in
        do {
          return try withStoreErrors(name) { try run([write]) }
        } catch {
          return [{ write.fail(error) }]
        }
      }
    } catch {
      return try withStoreErrors(name) { throw error }
    }
  }

  private func run(_ waiting: [WaitingWrite]) throws -> [WaitingWrite.Telling] {
    try writer.transaction { rows in try WriteGroup(database: rows, options: options).run(waiting) }
  }
}
