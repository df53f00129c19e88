import CPostgres

/// A value of a statement, sent to the server in binary
/// (https://www.postgresql.org/docs/15/protocol-overview.html#PROTOCOL-FORMAT-CODES). The statement says
/// the type of each: `$1::int8`.
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

/// The OIDs of types, the same in every server (`pg_type.dat`).
private enum ElementType {
  static let bytea: Int32 = 17
  static let int8: Int32 = 20
  static let text: Int32 = 25
}

/// A statement and its values. Its text is prepared once on each connection: it is one of the few texts of
/// the program, and never made of external input.
package struct Statement: Sendable {
  /// The text, with `$1` and so on in place of the values, each with its type.
  package let sql: String
  /// The values.
  package let parameters: [Parameter]

  /// Creates a statement with these values.
  package init(_ sql: String, _ parameters: [Parameter] = []) {
    self.sql = sql
    self.parameters = parameters
  }
}

extension Connection {
  /// How the server plans statements (https://www.postgresql.org/docs/15/runtime-config-query.html).
  ///
  /// The planner knows the contents of a table once the table was analyzed, some minutes after it was filled.
  /// Until the next analysis, a kept plan is made for what the planner takes the table for: an empty one. So,
  /// right after the first seed, statements that look for a few rows would scan the whole table. With plans by
  /// indexes they do not. These settings forbid nothing: a statement that has no other way takes it.
  package enum Planning: Hashable, Sendable {
    /// The server's usual settings: for statements that read whole tables.
    case asUsual
    /// By indexes, planned each time: for statements that fill tables.
    case byIndexes
    /// By indexes, planned again at intervals (`Options.planLifeMilliseconds`): for frequent statements,
    /// for which planning would be half the work.
    case byIndexesKept

    /// The statements that set this on the server.
    var settings: String {
      switch self {
      case .asUsual: ""
      case .byIndexes: Self.indexes + "SET plan_cache_mode = force_custom_plan;"
      case .byIndexesKept: Self.indexes + "SET plan_cache_mode = force_generic_plan;"
      }
    }

    // The remaining join methods work row by row, with an index. Artificial costs do not justify compilation.
    private static let indexes = """
      SET enable_seqscan = off; SET enable_bitmapscan = off;
      SET enable_hashjoin = off; SET enable_mergejoin = off;
      SET max_parallel_workers_per_gather = 0; SET jit = off;

      """
  }

  /// Discards plans that are too old. Within a transaction, which may have failed, they stay.
  func forgetOldPlans() throws(PostgresError) {
    guard let end = plansUntil, end < .now, PQtransactionStatus(handle) == PQTRANS_IDLE else {
      return
    }
    try run(script: "DISCARD PLANS")
    plansUntil = .now + planLife
  }
}
