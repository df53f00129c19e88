/// A value of a statement, as the server is told it: in binary
/// (https://www.postgresql.org/docs/15/protocol-overview.html#PROTOCOL-FORMAT-CODES). The statement says of
/// which type each is: `$1::int8`.
public enum Parameter: Sendable {
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
  public static func text(_ text: String?) -> Parameter { text.map { .text($0) } ?? .null }
  /// A number, or NULL.
  public static func integer(_ number: Int64?) -> Parameter { number.map { .integer($0) } ?? .null }
  /// A number, or NULL.
  public static func integer(_ number: Int?) -> Parameter { .integer(number.map(Int64.init)) }

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
