/// Writes values as PostgreSQL sends and receives them in binary: big-endian, each behind its length.
struct BinaryWriter {
  private(set) var bytes: [UInt8] = []

  mutating func append(raw: some Sequence<UInt8>) { bytes.append(contentsOf: raw) }

  mutating func append(_ number: some FixedWidthInteger) {
    withUnsafeBytes(of: number.bigEndian) { bytes.append(contentsOf: $0) }
  }

  /// A length, which the protocol has 31 bits for.
  mutating func append(length: Int) throws(PostgresError) {
    guard let length = Int32(exactly: length) else { throw .tooLarge }
    append(length)
  }

  /// An int8 behind its length, or NULL.
  mutating func append(integer: Int64?) throws(PostgresError) {
    guard let integer else { return append(Int32(-1)) }
    append(Int32(8))
    append(integer)
  }

  /// A text behind its length, or NULL.
  mutating func append(text: String?) throws(PostgresError) {
    guard let text else { return append(Int32(-1)) }
    try append(length: text.utf8.count)
    bytes.append(contentsOf: text.utf8)
  }

  /// Bytes behind their length, or NULL.
  mutating func append(bytes value: (some Collection<UInt8>)?) throws(PostgresError) {
    guard let value else { return append(Int32(-1)) }
    try append(length: value.count)
    bytes.append(contentsOf: value)
  }

  /// An array of one dimension, as `array_recv` reads it; without elements it has none.
  mutating func appendArray<Element>(
    of type: Int32, _ elements: [Element?],
    _ append: (inout BinaryWriter, Element?) throws(PostgresError) -> Void
  ) throws(PostgresError) {
    self.append(Int32(elements.isEmpty ? 0 : 1))
    self.append(Int32(elements.contains { $0 == nil } ? 1 : 0))
    self.append(type)
    guard !elements.isEmpty else { return }
    try self.append(length: elements.count)
    self.append(Int32(1))
    for element in elements { try append(&self, element) }
  }
}
