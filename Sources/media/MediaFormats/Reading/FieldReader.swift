/// Reads the fields of a structure one after another, and never beyond its end. Numbers are big-endian
/// unless stated otherwise.
struct FieldReader {
  private let bytes: ArraySlice<UInt8>
  private var index: Int
  /// The file offset and the name of the structure, for errors.
  let offset: Int64
  let place: String

  init(_ bytes: ArraySlice<UInt8>, at offset: Int64, in place: String) {
    self.bytes = bytes
    self.offset = offset
    self.place = place
    index = bytes.startIndex
  }

  /// The number of unread bytes.
  var remaining: Int { bytes.endIndex - index }
  /// The file offset of the next byte.
  var position: Int64 { offset + Int64(index - bytes.startIndex) }

  /// Reads an unsigned number of `width` bytes (at most 8).
  mutating func number(_ width: Int) throws -> UInt64 {
    try bytes(width).reduce(0) { $0 << 8 | UInt64($1) }
  }

  /// Reads an unsigned little-endian number of `width` bytes (at most 8).
  mutating func littleEndian(_ width: Int) throws -> UInt64 {
    try bytes(width).reversed().reduce(0) { $0 << 8 | UInt64($1) }
  }

  mutating func byte() throws -> UInt8 {
    guard index < bytes.endIndex else { throw ended(1) }
    index += 1
    return bytes[index - 1]
  }

  mutating func unsigned16() throws -> Int { Int(try number(2)) }
  mutating func unsigned32() throws -> UInt32 { UInt32(truncatingIfNeeded: try number(4)) }
  mutating func signed32() throws -> Int32 { Int32(bitPattern: try unsigned32()) }

  /// Reads an unsigned number of eight bytes that fits 63 bits.
  mutating func unsigned63() throws -> Int64 {
    let start = position
    guard let value = Int64(exactly: try number(8)) else {
      throw FormatError(.malformed("a number of 64 bits is too large"), at: start, in: place)
    }
    return value
  }

  mutating func signed64() throws -> Int64 { Int64(bitPattern: try number(8)) }

  /// Reads a four-character code.
  mutating func code() throws -> FourCC { FourCC(try unsigned32()) }

  mutating func bytes(_ count: Int) throws -> ArraySlice<UInt8> {
    guard count >= 0, count <= remaining else { throw ended(count) }
    index += count
    return bytes[index - count..<index]
  }

  mutating func skip(_ count: Int) throws { _ = try bytes(count) }

  /// Reads all remaining bytes.
  mutating func rest() -> ArraySlice<UInt8> {
    defer { index = bytes.endIndex }
    return bytes[index...]
  }

  /// Returns a reader of the next `count` bytes.
  mutating func part(_ count: Int, in place: String) throws -> FieldReader {
    let start = position
    return FieldReader(try bytes(count), at: start, in: place)
  }

  func malformed(_ text: String) -> FormatError {
    FormatError(.malformed(text), at: offset, in: place)
  }

  private func ended(_ count: Int) -> FormatError {
    malformed("it ends after \(bytes.count) bytes, in the middle of a field")
  }
}

/// A four-character code: the name of a box, a chunk or a brand.
struct FourCC: Hashable, ExpressibleByStringLiteral, CustomStringConvertible {
  let value: UInt32

  init(_ value: UInt32) { self.value = value }

  init(stringLiteral text: StaticString) {
    precondition(text.utf8CodeUnitCount == 4)
    value = text.withUTF8Buffer { $0.reduce(0) { $0 << 8 | UInt32($1) } }
  }

  /// The four characters, with a period for each that is not printable ASCII.
  var description: String {
    let bytes = [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: value >> $0) }
    return String(decoding: bytes.map { (0x20...0x7e).contains($0) ? $0 : 0x2e }, as: UTF8.self)
  }
}
