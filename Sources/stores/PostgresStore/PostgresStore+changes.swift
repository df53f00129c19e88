import Catalog
import Feed
import Postgres
import RowStore

// Numbers of rows and of transactions are assigned before the commit: a reader that goes by the greatest
// number that it has seen would lose what is committed later. So changes are returned in the order of their
// transactions, and only those before the oldest transaction that still runs (`pg_snapshot_xmin`); what is
// after it waits until it has ended. A cursor names a transaction and a row of it. At the end of the
// returned changes, it names the first transaction that is not returned.

/// The changes since a cursor.
extension PostgresStore: ChangeStore {
  /// The database's number, the end of the transactions whose changes are returned, the end of the
  /// transactions that have begun, and the last transaction of which rows were deleted.
  static let changeBounds = """
    SELECT source, pg_snapshot_xmin(pg_current_snapshot())::text::int8,
      pg_snapshot_xmax(pg_current_snapshot())::text::int8,
      (SELECT transaction::text::int8 FROM change_log_floor WHERE "only" = 1)
    FROM change_source WHERE "only" = 1
    """

  private static func rows(_ columns: String, of table: String, number: String) -> String {
    """
    (SELECT \(columns), post_id, feed_id, id, transaction, \(number) AS number FROM \(table)
      WHERE transaction >= $1::int8::text::xid8 AND transaction <= $3::int8::text::xid8
        AND (transaction, \(number)) > ($1::int8::text::xid8, $2::int8)
        AND (transaction, \(number)) <= ($3::int8::text::xid8, $4::int8)
      ORDER BY transaction, \(number) LIMIT $5::int8)
    """
  }

  /// Entries have even numbers, rows of the log odd ones.
  static let changedAfter = """
    SELECT kind, post_id, feed_id, id, transaction::text::int8, number FROM (
      \(rows("'entry' AS kind", of: "feed_entry", number: "2 * entry_id"))
      UNION ALL
      \(rows("kind", of: "change_log", number: "2 * change_id + 1"))) AS changed
    ORDER BY transaction, number LIMIT $5::int8
    """

  static let changedNames = [
    "SELECT post_id, id FROM post WHERE post_id = ANY ($1::int8[])",
    "SELECT post_id, id FROM post WHERE id = ANY ($1::text[])",
    "SELECT feed_id, name FROM feed WHERE feed_id = ANY ($1::int8[])",
    "SELECT feed_id, name FROM feed WHERE name = ANY ($1::text[])",
  ]

  /// See `ChangeStore`. Reads from the primary.
  ///
  /// - Throws: `ChangeCursorError`, `PostgresStoreError`.
  package func changes(
    after cursor: ChangeCursor?, through end: ChangeCursor?, limit: Int, withItems: Bool
  ) throws -> ChangePage {
    try read { connection in
      try connection.transaction(.reading) {
        let bounds = RowValues(rows: try connection.run(Self.changeBounds), row: 0)
        let source = try bounds.integer(0)
        var now = ChangeCursor(source: source, first: try bounds.integer(1), second: -1)
        guard let cursor else { return ChangePage(next: now) }
        guard cursor.source == source else { throw ChangeCursorError.foreign }
        guard try cursor.first > bounds.integer(3), try cursor.first <= bounds.integer(2) else {
          throw ChangeCursorError.expired
        }
        if now.first < cursor.first { now = cursor }
        let end = end ?? now
        let found = try connection.run(
          Self.changedAfter,
          [
            .integer(cursor.first), .integer(cursor.second), .integer(end.first),
            .integer(end.second), .integer(Int64(limit + 1)),
          ])
        let hasMore = found.count > limit
        let values = Array(found.values.prefix(limit))
        let rows = try values.map { row in
          ChangedRow(
            kind: try row.name(0), post: row.optional(1), feed: row.optional(2), id: row.string(3))
        }
        var page = ChangePage(next: end, hasMore: hasMore)
        if hasMore, let last = values.last {
          page.next = ChangeCursor(
            source: source, first: try last.integer(4), second: try last.integer(5))
        }
        var changed = ChangedRows(rows, try Self.names(of: rows, connection))
        if withItems, !changed.posts.isEmpty {
          changed.add(
            try Self.items(try connection.run(Self.itemStatements(numbers: changed.posts))))
        }
        page.changes = changed.changes
        return page
      }
    }
  }

  private static func names(
    of rows: [ChangedRow], _ connection: Connection
  ) throws -> ChangedNames {
    var (posts, ids, feeds, feedNames): ([Int64], [String], [Int64], [String]) = ([], [], [], [])
    for row in Set(rows) {
      switch row {
      case .settings: continue
      case .post(let number, let id):
        posts.append(number)
        if let id { ids.append(id) }
      case .feed(let number, nil): feeds.append(number)
      case .feed(_, let name?): feedNames.append(name)
      }
    }
    let keys: [Parameter] = [
      .integers(posts.map { $0 }), .texts(ids.map { $0 }), .integers(feeds.map { $0 }),
      .texts(feedNames.map { $0 }),
    ]
    let found = try connection.run(zip(changedNames, keys).map { Statement($0, [$1]) })
    var names = ChangedNames()
    for row in found[0].values { names.ids[try row.integer(0)] = try row.name(1) }
    for row in found[1].values { names.numbers[ByteText(try row.name(1))] = try row.integer(0) }
    for row in found[2].values { names.feeds[try row.integer(0)] = try row.name(1) }
    for row in found[3].values { names.feedNames.insert(ByteText(try row.name(1))) }
    return names
  }

  /// See `ChangeStore`.
  ///
  /// - Throws: `PostgresStoreError`.
  package func keepChanges(_ count: Int) throws {
    let kept = try read {
      try $0.run("SELECT kept_changes FROM change_source").integer(0, 0)
    }
    guard kept != Int64(count) else { return }
    try withStoreErrors(name) {
      _ = try writer.transaction { rows in
        try rows.connection.run(
          "UPDATE change_source SET kept_changes = $1::int8", [.integer(Int64(count))])
      }
    }
  }

  /// See `ChangeStore`.
  ///
  /// - Throws: `PostgresStoreError`.
  package func webhooks() throws -> [WebhookState] {
    try read { connection in
      try connection.run(WebhookText.all).values.map { row in
        var state = WebhookState(
          name: try row.name(0), position: try ChangeCursor(text: try row.name(2)))
        state.revision = Int(try row.integer(1))
        state.end = try row.string(3).map { try ChangeCursor(text: $0) }
        state.isReset = try row.integer(4) == 1
        state.behindSince = row.optional(5)
        state.failures = Int(try row.integer(6))
        state.nextAttempt = row.optional(7)
        state.lastSuccess = row.optional(8)
        state.lastFailure = row.optional(9)
        state.lastProblem = row.string(10)
        return state
      }
    }
  }

  private static let webhookPlaces = [
    "$1::text", "$2::int8", "$3::text", "$4::text", "$5::int8", "$6::int8", "$7::int8", "$8::int8",
    "$9::int8", "$10::int8", "$11::text",
  ]

  /// See `ChangeStore`.
  ///
  /// - Throws: `PostgresStoreError`.
  package func save(_ webhook: WebhookState) throws -> Bool {
    try withStoreErrors(name) {
      try writer.transaction { rows in
        try rows.connection.run(
          WebhookText.save(Self.webhookPlaces),
          [
            .text(webhook.name), .integer(Int64(webhook.revision + 1)),
            .text(webhook.position.text), .text(webhook.end?.text),
            .integer(Int64(webhook.isReset ? 1 : 0)), .integer(webhook.behindSince),
            .integer(Int64(webhook.failures)), .integer(webhook.nextAttempt),
            .integer(webhook.lastSuccess), .integer(webhook.lastFailure),
            .text(webhook.lastProblem),
          ]
        ).changedCount == 1
      }
    }
  }
}
