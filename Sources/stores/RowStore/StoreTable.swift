/// A table of a whole store, the same in every database.
package struct StoreTable: Hashable, Sendable {
  /// The type of a column's values.
  package enum Kind: Sendable {
    case integer, text, bytes
  }

  /// A column.
  package struct Column: Hashable, Sendable {
    /// The column's name.
    package let name: String
    /// The type of its values.
    package let kind: Kind
  }

  /// The table's name.
  package let name: String
  /// The table's columns, in the order of the values.
  package let columns: [Column]
  /// Whether the schema inserts rows at first, which another store's rows replace.
  let hasFirstRows: Bool

  /// - Parameter columns: the names; `#` precedes those of whole numbers, `%` those of bytes.
  private init(_ name: String, _ columns: String, hasFirstRows: Bool = false) {
    self.name = name
    self.hasFirstRows = hasFirstRows
    self.columns = columns.split(separator: " ").map { column in
      switch column.first {
      case "#": Column(name: String(column.dropFirst()), kind: .integer)
      case "%": Column(name: String(column.dropFirst()), kind: .bytes)
      default: Column(name: String(column), kind: .text)
      }
    }
  }

  /// All tables that a copy contains, each after those that it refers to. The tables by which readers
  /// follow one database are missing, and the one of its migrations.
  package static let all = [
    StoreTable("strategy", "name", hasFirstRows: true),
    StoreTable("strategy_parameter", "strategy name #least #most", hasFirstRows: true),
    StoreTable(
      "network_profile",
      """
      name title #downlink_kbps #uplink_kbps #round_trip_ms #loss_percent effective_type #is_default
      """, hasFirstRows: true),
    StoreTable("author", "#author_id " + PostColumns.declared(PostColumns.author)),
    StoreTable(
      "post", "#post_id id #author_id " + PostColumns.declared(PostColumns.post) + " survival"),
    StoreTable("media", "#post_id #ordinal " + PostColumns.declared(PostColumns.media)),
    StoreTable("feed", "#feed_id name title #ranking #oldest_ranking"),
    StoreTable(
      "feed_entry",
      "#entry_id #feed_id #post_id #sort_key id #published_at #rank #since #until"),
    StoreTable("schedule", "#post_id #due_at"),
    StoreTable("scheduled_place", "#post_id #feed_id #rank"),
    StoreTable(
      "policy",
      "#policy_id feed network "
        + PolicyColumns.texts.joined(separator: " ")
        + PolicyColumns.numbers.map { " #\($0)" }.joined(), hasFirstRows: true),
    StoreTable("applied_policy", "#applied_id feed network #applied_at evidence before applied"),
    StoreTable(
      "experiment",
      "#experiment_id kind feed network setting salt #share_permille #margin_percent #days"),
    StoreTable(
      "experiment_step", "#step_id #experiment_id #taken_at kind #share_permille evidence"),
    StoreTable("idempotency_key", "#key_id key fingerprint counters #created_at"),
    StoreTable("ranking_run", "#run_id"),
    StoreTable("pending_place", "#run_id #feed_id #post_id #rank"),
    StoreTable("replaced_ranking", "#feed_id #ranking #replaced_at"),
    StoreTable("ranking_floor", "#only #ranking", hasFirstRows: true),
    StoreTable("media_truth", "#truth_id version %truth"),
    StoreTable("media_file", "url #truth_id #modified_ns %variants"),
    StoreTable("report_cell", "#hour feed policy arm network %figures"),
    StoreTable("report_batch", "#batch_id #hour %fingerprints"),
    StoreTable("report_watch", "kind name #hour #views %figures"),
    StoreTable(
      "report_promise",
      "url version network #hour #kept #late #recent_kept #recent_late #state"),
  ]

  /// The statements that make room for another store's rows, ordered so that no row refers to a deleted one.
  package static let makingRoom = all.filter(\.hasFirstRows).reversed().map {
    "DELETE FROM \($0.name)"
  }

  /// The columns' names, quoted, for a statement.
  package var columnList: String { columns.map { "\"\($0.name)\"" }.joined(separator: ", ") }
}

/// A value of a column.
package enum TableValue: Hashable, Sendable {
  case null
  case integer(Int64)
  /// In UTF-8.
  case text([UInt8])
  case bytes([UInt8])
}

/// A store whose tables can be read and written as they are: every kept ranking, every policy, every key.
package protocol TableStore: Sendable {
  /// Passes the rows of every table to `body`, as they were at one moment, in portions, in the order of
  /// `StoreTable.all`.
  ///
  /// - Throws: errors of `body` and of the store.
  func readTables(_ body: (StoreTable, [[TableValue]]) throws -> Void) throws
  /// Takes the rows of every table, which `fill` passes in that order: all of them or none.
  ///
  /// - Throws: `StoreNotEmpty` if there are posts or feeds already, errors of `fill` and of the store.
  func writeTables(_ fill: ((StoreTable, [[TableValue]]) throws -> Void) throws -> Void) throws
}

/// The error of a copy into a store that already has posts or feeds.
package struct StoreNotEmpty: Error, Hashable, CustomStringConvertible {
  /// The store's name.
  package let name: String

  package init(name: String) { self.name = name }

  /// What is wrong and how to fix it.
  package var description: String {
    "\(name) already has posts or feeds: copy into a new or empty database"
  }
}
