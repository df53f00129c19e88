/// Rows to copy into a table, in COPY's binary format (https://www.postgresql.org/docs/15/sql-copy.html,
/// "Binary Format"). Each row begins with `beginRow`, followed by that number of values.
package struct CopyRows: Sendable {
  private var writer = BinaryWriter()
  /// The number of rows.
  package private(set) var count = 0

  /// Creates an empty list of rows.
  package init() {
    // The signature, no flags, no extension.
    writer.append(raw: Array("PGCOPY\n".utf8) + [0xff, 0x0d, 0x0a, 0x00])
    writer.append(Int32(0))
    writer.append(Int32(0))
  }

  /// The size of the rows.
  package var byteCount: Int { writer.bytes.count }

  /// Begins a row of this many values.
  package mutating func beginRow(columns: Int16) {
    writer.append(columns)
    count += 1
  }

  /// Appends an int8.
  package mutating func append(_ number: Int64?) throws(PostgresError) {
    try writer.append(integer: number)
  }
  /// Appends an int8.
  package mutating func append(_ number: Int?) throws(PostgresError) {
    try writer.append(integer: number.map(Int64.init))
  }
  /// Appends a text.
  package mutating func append(_ text: String?) throws(PostgresError) {
    try writer.append(text: text)
  }
  /// Appends a text's bytes, or bytea.
  package mutating func append(_ bytes: [UInt8]?) throws(PostgresError) {
    try writer.append(bytes: bytes)
  }

  /// All bytes, with the trailer.
  var finished: [UInt8] {
    var writer = writer
    writer.append(Int16(-1))
    return writer.bytes
  }
}
