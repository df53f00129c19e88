import CXXHash

/// Writes numbers, texts and bytes in sequence, as `PackedReader` reads them.
struct PackedWriter {
  private(set) var bytes: [UInt8] = []

  /// Appends a number that is not negative: seven bits a byte, the lowest first, the eighth bit set in all
  /// but the last (LEB128). A negative number is written as one that every reader refuses.
  mutating func append(_ number: Int) {
    var rest = UInt(bitPattern: number)
    while rest > 0x7f {
      bytes.append(UInt8(truncatingIfNeeded: rest) | 0x80)
      rest >>= 7
    }
    bytes.append(UInt8(truncatingIfNeeded: rest))
  }

  /// Appends a text in UTF-8, after its number of bytes.
  mutating func append(_ text: String) {
    append(text.utf8.count)
    bytes.append(contentsOf: text.utf8)
  }

  /// Appends bytes whose number the reader knows.
  mutating func append(raw: some Collection<UInt8>) { bytes.append(contentsOf: raw) }

  /// Returns the bytes after their form and their checksum: 32 bits of XXH3, little-endian.
  func sealed(form: UInt8) -> [UInt8] {
    let sum = bytes.withUnsafeBytes(PackedReader.checkSum)
    return [form] + (0..<4).map { UInt8(truncatingIfNeeded: sum >> (8 * $0)) } + bytes
  }
}

/// The reason why packed bytes cannot be read.
package enum PackedError: Error, Hashable, CustomStringConvertible {
  /// They have another form: that of a later program, or of before a migration that could not read them.
  case unknownForm(UInt8?)
  /// They are not the bytes that were written.
  case damaged
  /// They end too early or too late.
  case wrongLength
  /// A value, named as in JSON, is impossible.
  case impossible(String)

  package var description: String {
    switch self {
    case .unknownForm(let form?): "it has the unknown format \(form)"
    case .unknownForm(nil): "it is empty"
    case .damaged: "its checksum does not match"
    case .wrongLength: "it is too short or too long"
    case .impossible(let name): "\(name) is invalid"
    }
  }
}

/// Reads what `PackedWriter` wrote, never beyond the end: every length and number is checked before it is used.
struct PackedReader {
  private let bytes: UnsafeBufferPointer<UInt8>
  private var position: Int

  private static let headBytes = 5

  static func checkSum(_ bytes: UnsafeRawBufferPointer) -> UInt32 {
    UInt32(truncatingIfNeeded: lookahead_xxh3_128(bytes.baseAddress, bytes.count).low)
  }

  /// Creates a reader that begins after the form and the checksum, which must be right.
  ///
  /// - Parameter bytes: must stay valid as long as the reader is used.
  init(sealed bytes: UnsafeBufferPointer<UInt8>, form: UInt8) throws(PackedError) {
    guard bytes.first == form else { throw .unknownForm(bytes.first) }
    guard bytes.count >= Self.headBytes else { throw .wrongLength }
    var sum: UInt32 = 0
    for index in 0..<4 { sum |= UInt32(bytes[1 + index]) << UInt32(8 * index) }
    let content = UnsafeRawBufferPointer(rebasing: UnsafeRawBufferPointer(bytes)[Self.headBytes...])
    guard Self.checkSum(content) == sum else { throw .damaged }
    self.bytes = bytes
    position = Self.headBytes
  }

  /// Reads the next number, which must be in the range.
  ///
  /// - Parameter name: the name of the number in the error.
  @inline(__always)
  mutating func number(
    _ name: StaticString, in range: ClosedRange<Int> = 0...Int.max
  ) throws(PackedError) -> Int {
    // Most numbers have one byte.
    if position < bytes.count, bytes[position] < 0x80, range.contains(Int(bytes[position])) {
      position += 1
      return Int(bytes[position - 1])
    }
    return try longNumber(name, in: range)
  }

  private mutating func longNumber(
    _ name: StaticString, in range: ClosedRange<Int>
  ) throws(PackedError) -> Int {
    var (value, shift, next) = (0, 0, position)
    while next < bytes.count, shift < 63 {
      let byte = bytes[next]
      next += 1
      value |= Int(byte & 0x7f) << shift
      if byte < 0x80 {
        position = next
        guard range.contains(value) else { throw .impossible("\(name)") }
        return value
      }
      shift += 7
    }
    throw shift < 63 ? .wrongLength : .impossible("\(name)")
  }

  /// Reads the next `count` bytes, which are valid as long as the reader's bytes.
  mutating func raw(_ count: Int) throws(PackedError) -> UnsafeBufferPointer<UInt8> {
    guard count <= bytes.count - position else { throw .wrongLength }
    defer { position += count }
    return UnsafeBufferPointer(rebasing: bytes[position..<position + count])
  }

  /// Reads the next `count` bytes, copied.
  mutating func copied(_ count: Int) throws(PackedError) -> [UInt8] {
    let raw = try raw(count)
    return Array(unsafeUninitializedCapacity: count) { buffer, initialized in
      initialized = buffer.initialize(fromContentsOf: raw)
    }
  }

  /// Reads the next text.
  mutating func text(
    _ name: StaticString, bytes range: ClosedRange<Int>
  ) throws(PackedError) -> String {
    String(decoding: try raw(try number(name, in: range)), as: UTF8.self)
  }

  /// Checks that nothing is left.
  func end() throws(PackedError) {
    guard position == bytes.count else { throw .wrongLength }
  }
}
