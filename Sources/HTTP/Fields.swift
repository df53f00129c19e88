/// Header or trailer fields: in the order in which they came, repeated ones visible, names compared
/// without regard to case (RFC 9110 section 5).
///
/// All names and values lie in one array of bytes with an index beside it, so that a parsed header
/// section costs two allocations however many fields it has; strings are made when asked for.
public struct Fields: Sendable {
  /// Where a field's name and value lie in `bytes`.
  struct Entry: Sendable {
    var name: Range<UInt32>
    var value: Range<UInt32>
  }

  var bytes: [UInt8]
  var entries: [Entry]

  /// No fields.
  public init() {
    bytes = []
    entries = []
  }

  init(bytes: [UInt8], entries: [Entry]) {
    self.bytes = bytes
    self.entries = entries
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

  /// Adds a field after the others.
  ///
  /// A control character in the value (which could end the field line and split the response) is
  /// written as a space, as RFC 9110 section 5.5 has it; the name must be a token.
  public mutating func append(_ name: String, _ value: String) {
    precondition(
      !name.isEmpty && name.utf8.allSatisfy(\.isTokenCharacter), "not a field name: \(name)")
    let nameStart = UInt32(bytes.count)
    bytes.append(contentsOf: name.utf8)
    let nameEnd = UInt32(bytes.count)
    for byte in value.utf8 { bytes.append(byte.isFieldValueCharacter ? byte : .space) }
    entries.append(Entry(name: nameStart..<nameEnd, value: nameEnd..<UInt32(bytes.count)))
  }

  /// Replaces every field of that name by one, at the end.
  public mutating func set(_ name: String, _ value: String) {
    remove(name)
    append(name, value)
  }

  /// Removes every field of that name.
  public mutating func remove(_ name: String) {
    entries = entries.indices.filter { !isNamed($0, name) }.map { entries[$0] }
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
    let text = name.utf8
    guard range.count == text.count else { return false }
    var position = Int(range.lowerBound)
    for byte in text {
      guard bytes[position].asciiLowercased == byte.asciiLowercased else { return false }
      position += 1
    }
    return true
  }
}
