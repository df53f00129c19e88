/// A value of a document.
public struct JSONValue: Sendable {
  let document: JSONDocument
  let index: Int

  private var node: JSONNode { document.nodes[index] }

  /// Its kind.
  public var kind: JSONKind { node.kind }

  /// The value as text; `nil` if it is not a text.
  public var text: String? {
    kind == .text ? document.bytes.text(of: node) : nil
  }

  /// The value as a whole number, in any notation (`1`, `1.0`, `1e6`); `nil` if it is not a number, is not
  /// whole, or does not fit 64 bits. It is never rounded.
  public var wholeNumber: Int? {
    kind == .number ? Int(exactly: document.bytes[node.range]) : nil
  }

  /// The value as the nearest `Double`; `nil` if it is not a number, or is too large.
  public var number: Double? {
    guard kind == .number else { return nil }
    let number = Double(String(decoding: document.bytes[node.range], as: UTF8.self))
    return number.flatMap { $0.isFinite ? $0 : nil }
  }

  /// The value as a Boolean; `nil` if it is neither `true` nor `false`.
  public var truth: Bool? {
    kind == .boolean ? document.bytes[node.range].first == UInt8(ascii: "t") : nil
  }

  /// Its range of bytes in the document; of a text, without the quotation marks.
  public var byteRange: Range<Int> { node.range }

  /// The path to the value.
  public var path: JSONPath { document.bytes.path(to: index, in: document.nodes) }

  /// The elements of a list, in order; empty for any other kind.
  public var elements: Elements {
    Elements(
      document: document, position: index + 1, end: kind == .array ? Int(node.next) : index + 1)
  }

  /// The members of an object, in the order of the text; empty for any other kind.
  public var members: Members {
    Members(
      document: document, position: index + 1, end: kind == .object ? Int(node.next) : index + 1)
  }

  /// The object's member with this name, compared byte by byte; `nil` if there is none.
  public func member(_ name: String) -> JSONValue? {
    var position = index + 1
    let end = kind == .object ? Int(node.next) : position
    while position < end {
      if document.isName(at: position, name) {
        return JSONValue(document: document, index: position + 1)
      }
      position = Int(document.nodes[position + 1].next)
    }
    return nil
  }

  /// The elements of a list.
  public struct Elements: Sequence, IteratorProtocol {
    fileprivate let document: JSONDocument
    fileprivate var position: Int
    fileprivate let end: Int

    /// The next element; `nil` after the last.
    public mutating func next() -> JSONValue? {
      guard position < end else { return nil }
      defer { position = Int(document.nodes[position].next) }
      return JSONValue(document: document, index: position)
    }
  }

  /// The members of an object.
  public struct Members: Sequence, IteratorProtocol {
    fileprivate let document: JSONDocument
    fileprivate var position: Int
    fileprivate let end: Int

    /// The next member; `nil` after the last.
    public mutating func next() -> JSONMember? {
      guard position < end else { return nil }
      defer { position = Int(document.nodes[position + 1].next) }
      return JSONMember(document: document, index: position)
    }
  }
}

/// A member of an object.
public struct JSONMember: Sendable {
  fileprivate let document: JSONDocument
  /// The index of its name's node, which precedes its value's node.
  fileprivate let index: Int

  /// Its name.
  public var name: String { document.bytes.text(of: document.nodes[index]) }

  /// Its value.
  public var value: JSONValue { JSONValue(document: document, index: index + 1) }

  /// Whether it has this name, compared byte by byte.
  public func isNamed(_ name: String) -> Bool { document.isName(at: index, name) }
}

extension JSONDocument {
  /// Whether the name at this index has these bytes.
  fileprivate func isName(at index: Int, _ name: String) -> Bool {
    let node = nodes[index]
    if node.hasEscapes {
      // An escaped byte takes at most six bytes, so a text of another length is not unescaped for each name.
      guard (name.utf8.count...6 * name.utf8.count).contains(node.range.count) else { return false }
      return bytes.unescaped(node.range).elementsEqual(name.utf8)
    }
    guard node.range.count == name.utf8.count else { return false }
    var place = node.range.lowerBound
    for byte in name.utf8 {
      guard bytes[place] == byte else { return false }
      place += 1
    }
    return true
  }
}

extension Int {
  /// The whole number that a JSON number stands for; `nil` if it is not whole, or does not fit.
  init?(exactly number: ArraySlice<UInt8>) {
    let isNegative = number.first == UInt8(ascii: "-")
    var rest = isNegative ? number.dropFirst() : number
    // The number is value × 10 ^ power, where value has no zero at the end.
    var (value, zeros, fractionDigits) = (0, 0, 0)
    var isFraction = false
    while let byte = rest.first, byte.isDigit || byte == UInt8(ascii: ".") {
      rest.removeFirst()
      guard byte.isDigit else {
        isFraction = true
        continue
      }
      if isFraction { fractionDigits += 1 }
      zeros += 1
      if byte == UInt8(ascii: "0") { continue }
      // The value is accumulated below zero, where an Int has one more number than above.
      guard let next = value.timesTen(zeros), case let digit = Int(byte & 15),
        case let (sum, overflow) = next.subtractingReportingOverflow(digit), !overflow
      else { return nil }
      (value, zeros) = (sum, 0)
    }
    guard value != 0 else {
      self = 0
      return
    }
    // An exponent that does not fit an Int is too large for every Int, in either direction.
    let exponent = rest.isEmpty ? 0 : Int(String(decoding: rest.dropFirst(), as: UTF8.self))
    guard let exponent, exponent.magnitude < 1 << 40 else { return nil }
    let power = zeros - fractionDigits + exponent
    guard power >= 0, let scaled = value.timesTen(power) else { return nil }
    guard isNegative || scaled > Int.min else { return nil }
    self = isNegative ? scaled : -scaled
  }

  /// The product with 10 ^ power; `nil` if it does not fit.
  private func timesTen(_ power: Int) -> Int? {
    if self == 0 { return 0 }
    var value = self
    for _ in 0..<Swift.min(power, 20) {
      let (product, overflow) = value.multipliedReportingOverflow(by: 10)
      if overflow { return nil }
      value = product
    }
    return power > 20 ? nil : value
  }
}

extension JSONValue {
  /// The JSON of the value as it is written in the text, but without white space between tokens: members keep
  /// their order, numbers and texts their notation.
  public var compactJSON: [UInt8] {
    // The range of a text excludes the quotation marks.
    let range = kind == .text ? byteRange.lowerBound - 1..<byteRange.upperBound + 1 : byteRange
    var json: [UInt8] = []
    json.reserveCapacity(range.count)
    var isInText = false
    var index = range.lowerBound
    while index < range.upperBound {
      let byte = document.bytes[index]
      index += 1
      if isInText {
        json.append(byte)
        if byte == UInt8(ascii: "\\") {
          // An escaped character does not end the text.
          json.append(document.bytes[index])
          index += 1
        } else if byte == UInt8(ascii: "\"") {
          isInText = false
        }
      } else if byte > 0x20 {
        json.append(byte)
        isInText = byte == UInt8(ascii: "\"")
      }
    }
    return json
  }

  /// The depth of nested lists and objects in the value, including itself; 0 for any other kind.
  public var depth: Int {
    // Texts may contain brackets, so this counts nodes. Each node ends before its next sibling.
    var (depth, open) = (0, [Int]())
    var position = index
    let end = max(Int(document.nodes[index].next), index + 1)
    while position < end {
      while let last = open.last, last <= position { open.removeLast() }
      let node = document.nodes[position]
      if node.kind == .object || node.kind == .array {
        open.append(Int(node.next))
        depth = max(depth, open.count)
      }
      position += 1
    }
    return depth
  }
}
