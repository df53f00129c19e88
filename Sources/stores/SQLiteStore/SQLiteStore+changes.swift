import Catalog
import Feed
import GRDB
import RowStore

// A cursor names the last row of the change log and the last entry that its reader has seen: there is one
// writer, so greater numbers were committed later. A row of the log names the entry that it follows.

/// The changes since a cursor.
extension SQLiteStore: ChangeStore {
  static let changeSource = "SELECT source FROM change_source WHERE \"only\" = 1"
  // SQLite never reuses these numbers, and keeps them when rows are deleted.
  static let lastNumbers = "SELECT name, seq FROM sqlite_sequence"
  static let loggedAfter = """
    SELECT change_id, after_entry, kind, post_id, feed_id, id FROM change_log
    WHERE change_id > ?1 AND change_id <= ?2 ORDER BY change_id LIMIT ?3
    """
  static let enteredAfter = """
    SELECT entry_id, post_id, feed_id, id FROM feed_entry
    WHERE entry_id > ?1 AND entry_id <= ?2 ORDER BY entry_id LIMIT ?3
    """

  /// See `ChangeStore`.
  ///
  /// - Throws: `ChangeCursorError`, `StoreError`.
  package func changes(
    after cursor: ChangeCursor?, through end: ChangeCursor?, limit: Int, withItems: Bool
  ) throws -> ChangePage {
    try withStoreErrors(path: path) {
      try readers.read { database, statements in
        let reader = ChangeReader(database: database)
        let now = try reader.now()
        guard let cursor else { return ChangePage(next: now) }
        let (rows, next, hasMore) = try reader.rows(
          after: cursor, through: end ?? now, now, limit: limit)
        var changed = ChangedRows(rows, try reader.names(of: rows))
        if withItems {
          let posts = PostReader(database: database)
          let flat = try statements.posts(changed.posts, database)
          changed.add(
            try flat.posts.indices.map {
              try posts.item(StoredPost(number: flat.posts[$0].number, post: flat.post(at: $0)))
            })
        }
        return ChangePage(changes: changed.changes, next: next, hasMore: hasMore)
      }
    }
  }

  /// See `ChangeStore`.
  ///
  /// - Throws: `StoreError`.
  package func keepChanges(_ count: Int) throws {
    try withStoreErrors(path: path) {
      let kept = try readers.read { database, _ in
        try Int.fetchOne(database, sql: "SELECT kept_changes FROM change_source")
      }
      guard kept != count else { return }
      try pool.write {
        try $0.execute(sql: "UPDATE change_source SET kept_changes = ?", arguments: [count])
      }
    }
  }

  /// See `ChangeStore`.
  ///
  /// - Throws: `StoreError`.
  package func webhooks() throws -> [WebhookState] {
    try withStoreErrors(path: path) {
      try readers.read { database, _ in
        try Row.fetchAll(database, sql: WebhookText.all).map { row in
          var state = WebhookState(
            name: row["name"], position: try ChangeCursor(text: row["position"]))
          state.revision = row["revision"]
          state.end = try (row["until"] as String?).map { try ChangeCursor(text: $0) }
          state.isReset = row["is_reset"]
          state.behindSince = row["behind_since"]
          state.failures = row["failures"]
          state.nextAttempt = row["next_attempt"]
          state.lastSuccess = row["last_success"]
          state.lastFailure = row["last_failure"]
          state.lastProblem = row["last_problem"]
          return state
        }
      }
    }
  }

  /// See `ChangeStore`.
  ///
  /// - Throws: `StoreError`.
  package func save(_ webhook: WebhookState) throws -> Bool {
    try withStoreErrors(path: path) {
      try pool.write { database in
        try database.execute(
          sql: WebhookText.save(Array(repeating: "?", count: 11)),
          arguments: [
            webhook.name, webhook.revision + 1, webhook.position.text, webhook.end?.text,
            webhook.isReset, webhook.behindSince, webhook.failures, webhook.nextAttempt,
            webhook.lastSuccess, webhook.lastFailure, webhook.lastProblem,
          ])
        return database.changesCount == 1
      }
    }
  }
}

/// Reads what changed, within one snapshot of the file.
private struct ChangeReader {
  let database: Database

  func now() throws -> ChangeCursor {
    let source = try Int64.fetchOne(database.cachedStatement(sql: SQLiteStore.changeSource)) ?? 0
    var (change, entry) = (Int64(0), Int64(0))
    for row in try Row.fetchAll(database.cachedStatement(sql: SQLiteStore.lastNumbers)) {
      switch row["name"] as String {
      case "change_log": change = row["seq"]
      case "feed_entry": entry = row["seq"]
      default: continue
      }
    }
    return ChangeCursor(source: source, first: change, second: entry)
  }

  /// - Throws: `ChangeCursorError`.
  func rows(
    after cursor: ChangeCursor, through end: ChangeCursor, _ now: ChangeCursor, limit: Int
  ) throws -> (rows: [ChangedRow], next: ChangeCursor, hasMore: Bool) {
    guard cursor.source == now.source else { throw ChangeCursorError.foreign }
    let oldest = try Int64.fetchOne(
      database.cachedStatement(sql: SQLiteCatalogReader.oldestChange))
    let isKept = oldest.map { cursor.first >= $0 - 1 } ?? (cursor.first == now.first)
    guard isKept, cursor.first <= now.first, cursor.second <= now.second else {
      throw ChangeCursorError.expired
    }
    let logged = try Row.fetchAll(
      database.cachedStatement(sql: SQLiteStore.loggedAfter),
      arguments: [cursor.first, end.first, limit + 1])
    let entered = try Row.fetchAll(
      database.cachedStatement(sql: SQLiteStore.enteredAfter),
      arguments: [cursor.second, end.second, limit + 1])
    var rows: [ChangedRow] = []
    var (change, entry) = (0, 0)
    // The entry that the last row of the log follows; a row that names none follows it, too.
    var lastPlace = cursor.second
    while rows.count < limit, change < logged.count || entry < entered.count {
      let isEntry =
        entry < entered.count
        && (change == logged.count
          || (entered[entry]["entry_id"] as Int64)
            <= ((logged[change]["after_entry"] as Int64?) ?? lastPlace))
      if isEntry {
        let row = entered[entry]
        rows.append(
          ChangedRow(kind: "entry", post: row["post_id"], feed: row["feed_id"], id: row["id"]))
        entry += 1
      } else {
        let row = logged[change]
        lastPlace = (row["after_entry"] as Int64?) ?? lastPlace
        rows.append(
          ChangedRow(
            kind: row["kind"], post: row["post_id"], feed: row["feed_id"], id: row["id"]))
        change += 1
      }
    }
    let hasMore = change < logged.count || entry < entered.count
    guard hasMore else { return (rows, end, false) }
    let next = ChangeCursor(
      source: now.source, first: change == 0 ? cursor.first : logged[change - 1]["change_id"],
      second: entry == 0 ? cursor.second : entered[entry - 1]["entry_id"])
    return (rows, next, true)
  }

  func names(of rows: [ChangedRow]) throws -> ChangedNames {
    var names = ChangedNames()
    for row in Set(rows) {
      switch row {
      case .settings: continue
      case .post(let number, let id):
        names.ids[number] = try one("SELECT id FROM post WHERE post_id = ?", number)
        guard names.ids[number] == nil, let id else { continue }
        names.numbers[ByteText(id)] = try one("SELECT post_id FROM post WHERE id = ?", id)
      case .feed(let number, let name):
        guard let name else {
          names.feeds[number] = try one("SELECT name FROM feed WHERE feed_id = ?", number)
          continue
        }
        let feed: Int64? = try one("SELECT feed_id FROM feed WHERE name = ?", name)
        if feed != nil { names.feedNames.insert(ByteText(name)) }
      }
    }
    return names
  }

  private func one<Value: DatabaseValueConvertible & StatementColumnConvertible>(
    _ sql: String, _ key: any DatabaseValueConvertible
  ) throws -> Value? {
    try Value.fetchOne(database.cachedStatement(sql: sql), arguments: [key])
  }
}
