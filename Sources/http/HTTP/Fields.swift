/// Header or trailer fields: in the order of their arrival, with repeated ones, and with names compared
/// regardless of case (RFC 9110 section 5).
///
/// All names and values are in one array of bytes with an index beside it, so that a parsed header section
/// costs two allocations however many fields it has; strings are made on access. Fields that are made here
/// are stored as lines in wire format, so that an answer that is sent repeatedly costs one copy of its
/// fields.
public struct Fields: Sendable {
  /// The ranges of a field's name and value in `bytes`.
  struct Entry: Sendable {
    var name: Range<UInt32>
    var value: Range<UInt32>
  }

  private(set) var bytes: [UInt8]
  private(set) var entries: [Entry]
  /// Whether `bytes` has only the lines of the fields; parsed fields have the received bytes.
  private var areLines: Bool
  /// A bit for each length that names of fields have, perhaps also for others: most look-ups are for fields
  /// that are not there, and end here.
  private var nameLengths: UInt64 = 0

  /// No fields.
  public init() {
    bytes = []
    entries = []
    areLines = true
  }

  /// Fields that were parsed from the bytes.
  init(bytes: [UInt8], entries: [Entry]) {
    self.bytes = bytes
    self.entries = entries
    areLines = false
    for entry in entries { nameLengths |= Self.bit(ofLength: entry.name.count) }
  }

  /// The bit in `nameLengths`; all long names have the same.
  private static func bit(ofLength length: Int) -> UInt64 { 1 << UInt64(Swift.min(length, 63)) }

  /// The number of field lines.
  public var count: Int { entries.count }

  /// Whether there are no fields.
  public var isEmpty: Bool { entries.isEmpty }

  /// The value of the first field of that name.
  public subscript(name: String) -> String? {
    firstIndex(of: name).map { text(entries[$0].value) }
  }

  /// Whether there is a field of that name.
  public func contains(_ name: String) -> Bool { firstIndex(of: name) != nil }

  /// The values of every field of that name, in order.
  public func values(of name: String) -> [String] {
    entries.indices.filter { isNamed($0, name) }.map { text(entries[$0].value) }
  }

  /// All values of that name as one list, joined by a comma (RFC 9110 section 5.3).
  public func combined(_ name: String) -> String? {
    firstIndex(of: name).map { combined(name, from: $0) }
  }

  private func combined(_ name: String, from first: Int) -> String {
    let rest = entries.indices.dropFirst(first + 1).filter { isNamed($0, name) }
    if rest.isEmpty { return text(entries[first].value) }
    return ([first] + rest).map { text(entries[$0].value) }.joined(separator: ", ")
  }

  /// Appends the values of every field of that name to `output` verbatim, with a comma before each but the
  /// first.
  public func appendValues(of name: StaticString, to output: inout [UInt8]) {
    let length = UInt32(name.utf8CodeUnitCount)
    guard nameLengths & Self.bit(ofLength: name.utf8CodeUnitCount) != 0 else { return }
    var isFirst = true
    for entry in entries where entry.name.upperBound - entry.name.lowerBound == length {
      guard name.withUTF8Buffer({ isEqual(entry.name, $0) }) else { continue }
      if !isFirst { output.append(UInt8(ascii: ",")) }
      isFirst = false
      output.append(contentsOf: bytes[Int(entry.value.lowerBound)..<Int(entry.value.upperBound)])
    }
  }

  /// Adds a field after the others.
  ///
  /// A control character in the value (which could end the field line and split the response) is replaced by
  /// a space, as in RFC 9110 section 5.5; the name must be a token.
  public mutating func append(_ name: String, _ value: String) {
    append(name) { $0.append(text: value) }
  }

  /// Adds a field after the others, with the value that `write` appends: for a value of several pieces.
  public mutating func append(_ name: String, writing write: (inout [UInt8]) -> Void) {
    if !areLines { self = lines() }
    let nameStart = UInt32(bytes.count)
    var text = name
    text.withUTF8 { text in
      precondition(
        !text.isEmpty && text.allSatisfy(\.isTokenCharacter), "not a field name: \(name)")
      bytes.append(contentsOf: text)
    }
    let nameEnd = UInt32(bytes.count)
    nameLengths |= Self.bit(ofLength: Int(nameEnd - nameStart))
    bytes.append(UInt8(ascii: ":"))
    bytes.append(.space)
    let valueStart = bytes.count
    write(&bytes)
    bytes.withUnsafeMutableBufferPointer { bytes in
      // Checks many bytes at once; control characters are rare.
      var controls: UInt8 = 0
      for index in valueStart..<bytes.count {
        controls |= (bytes[index] < 0x20 ? 1 : 0) | (bytes[index] == 0x7F ? 1 : 0)
      }
      guard controls != 0 else { return }
      for index in valueStart..<bytes.count where !bytes[index].isFieldValueCharacter {
        bytes[index] = .space
      }
    }
    entries.append(
      Entry(name: nameStart..<nameEnd, value: UInt32(valueStart)..<UInt32(bytes.count)))
    bytes.append(.carriageReturn)
    bytes.append(.lineFeed)
  }

  /// Adds fields after the others.
  public mutating func append(_ other: Fields) {
    if !areLines { self = lines() }
    guard other.areLines else { return append(other.lines()) }
    let distance = UInt32(bytes.count)
    bytes.append(contentsOf: other.bytes)
    nameLengths |= other.nameLengths
    for entry in other.entries {
      entries.append(
        Entry(
          name: (entry.name.lowerBound + distance)..<(entry.name.upperBound + distance),
          value: (entry.value.lowerBound + distance)..<(entry.value.upperBound + distance)))
    }
  }

  /// The first `count` fields.
  public func prefix(_ count: Int) -> Fields {
    if !areLines { return lines().prefix(count) }
    guard count < entries.count else { return self }
    // A field's line begins with its name.
    let end = Int(entries[count].name.lowerBound)
    var fields = Fields()
    fields.bytes = Array(bytes[..<end])
    fields.entries = Array(entries[..<count])
    fields.nameLengths = nameLengths
    return fields
  }

  /// Reserves memory for this many bytes of lines.
  public mutating func reserveCapacity(_ byteCount: Int) {
    bytes.reserveCapacity(byteCount)
    // A line has about thirty bytes.
    entries.reserveCapacity(byteCount / 32)
  }

  /// The number of bytes of the lines, exact or approximate.
  public var byteCount: Int { bytes.count + (areLines ? 0 : 4 * entries.count) }

  /// Appends the lines in wire format (RFC 9112 section 5).
  func write(to output: inout [UInt8]) {
    if areLines {
      output.append(contentsOf: bytes)
    } else {
      output.append(contentsOf: lines().bytes)
    }
  }

  /// The same fields, stored as lines.
  private func lines() -> Fields {
    var fields = Fields()
    for entry in entries { fields.append(text(entry.name), text(entry.value)) }
    return fields
  }

  /// Replaces all fields of that name by one at the end.
  public mutating func set(_ name: String, _ value: String) {
    remove(name)
    append(name, value)
  }

  /// Removes every field of that name.
  public mutating func remove(_ name: String) {
    guard contains(name) else { return }
    let rest = entries.indices.filter { !isNamed($0, name) }.map { entries[$0] }
    self = Fields(bytes: bytes, entries: rest).lines()
  }

  func text(_ range: Range<UInt32>) -> String {
    String(decoding: bytes[Int(range.lowerBound)..<Int(range.upperBound)], as: UTF8.self)
  }

  @inline(__always)
  private func firstIndex(of name: String) -> Int? {
    guard nameLengths & Self.bit(ofLength: name.utf8.count) != 0 else { return nil }
    return search(for: name)
  }

  private func search(for name: String) -> Int? {
    for index in entries.indices where isNamed(index, name) { return index }
    return nil
  }

  private func isNamed(_ index: Int, _ name: String) -> Bool {
    let range = entries[index].name
    guard range.count == name.utf8.count else { return false }
    var name = name
    return name.withUTF8 { isEqual(range, $0) }
  }

  /// Whether the name at this range equals `name`, which has the same length, regardless of case.
  private func isEqual(_ range: Range<UInt32>, _ name: UnsafeBufferPointer<UInt8>) -> Bool {
    name.indices.allSatisfy {
      bytes[Int(range.lowerBound) + $0].asciiLowercased == name[$0].asciiLowercased
    }
  }
}

extension [UInt8] {
  /// Appends the text in UTF-8.
  public mutating func append(text: String) {
    text.utf8.span.withUnsafeBufferPointer { append(contentsOf: $0) }
  }
}

extension Fields: RandomAccessCollection {
  /// The index of the first field.
  public var startIndex: Int { 0 }
  /// One past the last field.
  public var endIndex: Int { entries.count }

  /// The name, as it was written, and the value of a field line.
  public subscript(index: Int) -> (name: String, value: String) {
    (text(entries[index].name), text(entries[index].value))
  }
}

extension Fields: ExpressibleByDictionaryLiteral {
  /// The fields in the order in which they are written; a name may occur more than once.
  public init(dictionaryLiteral elements: (String, String)...) {
    self.init()
    for (name, value) in elements { append(name, value) }
  }
}

extension Fields: Equatable {
  /// Whether both have the same names (regardless of case) and values in the same order.
  public static func == (left: Fields, right: Fields) -> Bool {
    left.elementsEqual(right) {
      $0.value == $1.value
        && $0.name.utf8.elementsEqual($1.name.utf8) {
          $0.asciiLowercased == $1.asciiLowercased
        }
    }
  }
}

extension Fields: CustomStringConvertible {
  /// One field per line.
  public var description: String {
    map { "\($0.name): \($0.value)" }.joined(separator: "\n")
  }
}
