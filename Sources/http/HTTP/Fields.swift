/// Header or trailer fields: in the order in which they came, repeated ones visible, names compared
/// without regard to case (RFC 9110 section 5).
///
/// All names and values lie in one array of bytes with an index beside it, so that a parsed header
/// section costs two allocations however many fields it has; strings are made when asked for. Fields
/// that are made here lie there as the lines that go over the wire, so that an answer which is sent
/// again and again costs one copy of its fields.
public struct Fields: Sendable {
  /// Where a field's name and value lie in `bytes`.
  struct Entry: Sendable {
    var name: Range<UInt32>
    var value: Range<UInt32>
  }

  private(set) var bytes: [UInt8]
  private(set) var entries: [Entry]
  /// Whether `bytes` is the fields' lines and nothing else; of parsed fields it is what came.
  private var areLines: Bool

  /// No fields.
  public init() {
    bytes = []
    entries = []
    areLines = true
  }

  /// Fields that were parsed out of the bytes.
  init(bytes: [UInt8], entries: [Entry]) {
    self.bytes = bytes
    self.entries = entries
    areLines = false
  }

  /// How many field lines there are.
  public var count: Int { entries.count }

  /// Whether there are none.
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
    guard let first = firstIndex(of: name) else { return nil }
    let rest = entries.indices.dropFirst(first + 1).filter { isNamed($0, name) }
    if rest.isEmpty { return text(entries[first].value) }
    return ([first] + rest).map { text(entries[$0].value) }.joined(separator: ", ")
  }

  /// Appends the values of every field of that name to `output` as they came, each behind a comma but
  /// the first.
  public func appendValues(of name: StaticString, to output: inout [UInt8]) {
    let length = UInt32(name.utf8CodeUnitCount)
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
  /// A control character in the value (which could end the field line and split the response) is
  /// written as a space, as RFC 9110 section 5.5 has it; the name must be a token.
  public mutating func append(_ name: String, _ value: String) {
    append(name) { $0.append(text: value) }
  }

  /// Adds a field after the others, with the value that `write` appends: for one of several pieces.
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
    bytes.append(UInt8(ascii: ":"))
    bytes.append(.space)
    let valueStart = bytes.count
    write(&bytes)
    bytes.withUnsafeMutableBufferPointer { bytes in
      // Looked at many at once; nearly never is there one.
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
    for entry in other.entries {
      entries.append(
        Entry(
          name: (entry.name.lowerBound + distance)..<(entry.name.upperBound + distance),
          value: (entry.value.lowerBound + distance)..<(entry.value.upperBound + distance)))
    }
  }

  /// This many first fields.
  public func prefix(_ count: Int) -> Fields {
    if !areLines { return lines().prefix(count) }
    guard count < entries.count else { return self }
    // A field's line begins with its name.
    let end = Int(entries[count].name.lowerBound)
    var fields = Fields()
    fields.bytes = Array(bytes[..<end])
    fields.entries = Array(entries[..<count])
    return fields
  }

  /// Makes room for this many bytes of lines.
  public mutating func reserveCapacity(_ byteCount: Int) {
    bytes.reserveCapacity(byteCount)
    // Lines of some thirty bytes.
    entries.reserveCapacity(byteCount / 32)
  }

  /// How many bytes the lines take, or about as many.
  public var byteCount: Int { bytes.count + (areLines ? 0 : 4 * entries.count) }

  /// Appends the lines as they go over the wire (RFC 9112 section 5).
  func write(to output: inout [UInt8]) {
    if areLines {
      output.append(contentsOf: bytes)
    } else {
      output.append(contentsOf: lines().bytes)
    }
  }

  /// The same fields, rebuilt.
  private func lines() -> Fields {
    var fields = Fields()
    for entry in entries { fields.append(text(entry.name), text(entry.value)) }
    return fields
  }

  /// Replaces every field of that name by one, at the end.
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

  private func firstIndex(of name: String) -> Int? {
    for index in entries.indices where isNamed(index, name) { return index }
    return nil
  }

  private func isNamed(_ index: Int, _ name: String) -> Bool {
    let range = entries[index].name
    guard range.count == name.utf8.count else { return false }
    var name = name
    return name.withUTF8 { isEqual(range, $0) }
  }

  /// Whether the name that lies there, which has as many bytes, is this one.
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

  /// A field line's name, as it was written, and value.
  public subscript(index: Int) -> (name: String, value: String) {
    (text(entries[index].name), text(entries[index].value))
  }
}

extension Fields: ExpressibleByDictionaryLiteral {
  /// The fields in the order in which they are written; a name may come more than once.
  public init(dictionaryLiteral elements: (String, String)...) {
    self.init()
    for (name, value) in elements { append(name, value) }
  }
}

extension Fields: Equatable {
  /// Same names but for case, same values, same order.
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
  /// One field a line.
  public var description: String {
    map { "\($0.name): \($0.value)" }.joined(separator: "\n")
  }
}
