/// Rows on their way into a table, in COPY's binary form
/// (https://www.postgresql.org/docs/15/sql-copy.html, "Binary Format"). Each row is begun with `beginRow` and
/// then has that many values.
package struct CopyRows: Sendable {
  private var writer = BinaryWriter()
  /// How many rows there are.
  package private(set) var count = 0

  /// No rows.
  package init() {
    // The signature, no flags, no extension.
    writer.append(raw: Array("PGCOPY\n".utf8) + [0xff, 0x0d, 0x0a, 0x00])
    writer.append(Int32(0))
    writer.append(Int32(0))
  }

  /// How many bytes they have.
  package var byteCount: Int { writer.bytes.count }

  /// Begins a row of this many values.
  package mutating func beginRow(columns: Int16) {
    writer.append(columns)
    count += 1
  }

  /// An int8.
  package mutating func append(_ number: Int64?) throws(PostgresError) {
    try writer.append(integer: number)
  }
  /// An int8.
  package mutating func append(_ number: Int?) throws(PostgresError) {
    try writer.append(integer: number.map(Int64.init))
  }
  /// A text.
  package mutating func append(_ text: String?) throws(PostgresError) {
    try writer.append(text: text)
  }
  /// A text's bytes, or bytea.
  package mutating func append(_ bytes: [UInt8]?) throws(PostgresError) {
    try writer.append(bytes: bytes)
  }

  /// All of it, with the trailer.
  var finished: [UInt8] {
    var writer = writer
    writer.append(Int16(-1))
    return writer.bytes
  }
}
