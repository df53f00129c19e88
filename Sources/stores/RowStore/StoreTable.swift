/// A table that a whole store consists of, as every database has it.
package struct StoreTable: Hashable, Sendable {
  /// What a column holds.
  package enum Kind: Sendable {
    case integer, text, bytes
  }

  /// A column.
  package struct Column: Hashable, Sendable {
    /// Its name.
    package let name: String
    /// What it holds.
    package let kind: Kind
  }

  /// Its name.
  package let name: String
  /// Its columns, in the order in which values are told.
  package let columns: [Column]
  /// Its rows are there from the beginning, and are others' in place of these.
  let hasFirstRows: Bool

  /// - Parameter columns: the names, behind `#` of whole numbers, behind `%` of bytes.
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

  /// All that is to be kept, each table behind those that it refers to. What is missing is what readers of one
  /// database follow it by, and which migrations it has.
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
  /// UTF-8
  case text([UInt8])
  case bytes([UInt8])
}

/// A store whose tables can be read and written as they are: every ranking that is kept, every policy, every key.
package protocol TableStore: Sendable {
  /// Hands out the rows of every table, as they were at one moment, some at a time, in the order of `StoreTable.all`.
  ///
  /// - Throws: what `body` throws, what the store says of itself.
  func readTables(_ body: (StoreTable, [[TableValue]]) throws -> Void) throws
  /// Takes the rows of every table, which `fill` hands over in that order: all of them or none.
  ///
  /// - Throws: `StoreNotEmpty` where there is anything already, what `fill` throws, what the store says of itself.
  func writeTables(_ fill: ((StoreTable, [[TableValue]]) throws -> Void) throws -> Void) throws
}

/// The store that should become a copy of another one already has posts or feeds.
package struct StoreNotEmpty: Error, Hashable, CustomStringConvertible {
  /// The store.
  package let name: String

  package init(name: String) { self.name = name }

  /// What mends it.
  package var description: String {
    "\(name) already has posts or feeds: copy into a new or empty database"
  }
}
