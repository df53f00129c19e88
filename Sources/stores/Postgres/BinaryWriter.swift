/// Writes values in PostgreSQL's binary format: big-endian, each after its length.
struct BinaryWriter {
  private(set) var bytes: [UInt8] = []

  mutating func append(raw: some Sequence<UInt8>) { bytes.append(contentsOf: raw) }

  mutating func append(_ number: some FixedWidthInteger) {
    withUnsafeBytes(of: number.bigEndian) { bytes.append(contentsOf: $0) }
  }

  /// Appends a length, for which the protocol has 31 bits.
  mutating func append(length: Int) throws(PostgresError) {
    guard let length = Int32(exactly: length) else { throw .tooLarge }
    append(length)
  }

  /// Appends an int8 after its length, or NULL.
  mutating func append(integer: Int64?) throws(PostgresError) {
    guard let integer else { return append(Int32(-1)) }
    append(Int32(8))
    append(integer)
  }

  /// Appends a text after its length, or NULL.
  mutating func append(text: String?) throws(PostgresError) {
    guard let text else { return append(Int32(-1)) }
    try append(length: text.utf8.count)
    bytes.append(contentsOf: text.utf8)
  }

  /// Appends bytes after their length, or NULL.
  mutating func append(bytes value: (some Collection<UInt8>)?) throws(PostgresError) {
    guard let value else { return append(Int32(-1)) }
    try append(length: value.count)
    bytes.append(contentsOf: value)
  }

  /// Appends an array of one dimension, as `array_recv` reads it; an empty array has no dimension.
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
