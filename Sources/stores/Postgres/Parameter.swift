import CPostgres

/// A value of a statement, as the server is told it: in binary
/// (https://www.postgresql.org/docs/15/protocol-overview.html#PROTOCOL-FORMAT-CODES). The statement says of
/// which type each is: `$1::int8`.
package enum Parameter: Sendable {
  case null
  /// int8
  case integer(Int64)
  /// bool
  case boolean(Bool)
  /// text
  case text(String)
  /// bytea
  case bytes([UInt8])
  /// int8[]; `nil` is NULL.
  case integers([Int64?])
  /// text[]; `nil` is NULL.
  case texts([String?])
  /// bytea[]; `nil` is NULL.
  case byteStrings([[UInt8]?])

  /// A text, or NULL.
  package static func text(_ text: String?) -> Parameter { text.map { .text($0) } ?? .null }
  /// A number, or NULL.
  package static func integer(_ number: Int64?) -> Parameter {
    number.map { .integer($0) } ?? .null
  }
  /// A number, or NULL.
  package static func integer(_ number: Int?) -> Parameter { .integer(number.map(Int64.init)) }

  /// The value's bytes; `nil` for NULL.
  func encoded() throws(PostgresError) -> [UInt8]? {
    var writer = BinaryWriter()
    switch self {
    case .null: return nil
    case .integer(let number): writer.append(number)
    case .boolean(let value): writer.append(raw: [value ? 1 : 0])
    case .text(let text): return Array(text.utf8)
    case .bytes(let bytes): return bytes
    case .integers(let numbers):
      try writer.appendArray(of: ElementType.int8, numbers) {
        writer, number throws(PostgresError) in
        try writer.append(integer: number)
      }
    case .texts(let texts):
      try writer.appendArray(of: ElementType.text, texts) { writer, text throws(PostgresError) in
        try writer.append(text: text)
      }
    case .byteStrings(let strings):
      try writer.appendArray(of: ElementType.bytea, strings) {
        writer, bytes throws(PostgresError) in
        try writer.append(bytes: bytes)
      }
    }
    return writer.bytes
  }
}

/// The numbers of types in every server (`pg_type.dat`).
private enum ElementType {
  static let bytea: Int32 = 17
  static let int8: Int32 = 20
  static let text: Int32 = 25
}

/// A statement and its values. Its text is prepared once on each connection: it is one of the program's own,
/// of which there are few, and never made of what comes from outside.
package struct Statement: Sendable {
  /// The text, with `$1` and so on in place of the values, each with its type.
  package let sql: String
  /// The values.
  package let parameters: [Parameter]

  /// A statement with these values.
  package init(_ sql: String, _ parameters: [Parameter] = []) {
    self.sql = sql
    self.parameters = parameters
  }
}

extension Connection {
  /// How the server plans statements (https://www.postgresql.org/docs/15/runtime-config-query.html).
  ///
  /// What a table has is known to the planner once it was analyzed, which is some minutes after it was filled; what
  /// it takes a table for that was empty then, a plan that is kept is made for until the next time. So statements that
  /// look for a few rows would go over the whole table, right after the first seed. By indexes they do not: nothing is
  /// forbidden by that, a statement that has no other way takes it.
  package enum Planning: Hashable, Sendable {
    /// The server's usual settings: for statements that read whole tables.
    case asUsual
    /// By indexes, planned each time: for statements that fill tables.
    case byIndexes
    /// By indexes, planned again after a while (`Options.planLifeMilliseconds`): for frequent statements, of which
    /// planning would be half the work.
    case byIndexesKept

    /// Statements that say so to the server.
    var settings: String {
      switch self {
      case .asUsual: ""
      case .byIndexes: Self.indexes + "SET plan_cache_mode = force_custom_plan;"
      case .byIndexesKept: Self.indexes + "SET plan_cache_mode = force_generic_plan;"
      }
    }

    // The remaining join methods work row by row, with an index. Made-up costs are not worth compiling for.
    private static let indexes = """
      SET enable_seqscan = off; SET enable_bitmapscan = off;
      SET enable_hashjoin = off; SET enable_mergejoin = off;
      SET max_parallel_workers_per_gather = 0; SET jit = off;

      """
  }

  /// Discards plans that are older than they may be. Within a transaction, which may have failed, they stay.
  func forgetOldPlans() throws(PostgresError) {
    guard let end = plansUntil, end < .now, PQtransactionStatus(handle) == PQTRANS_IDLE else {
      return
    }
    try run(script: "DISCARD PLANS")
    plansUntil = .now + planLife
  }
}
