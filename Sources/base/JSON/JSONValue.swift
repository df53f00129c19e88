/// One value of a document.
public struct JSONValue: Sendable {
  let document: JSONDocument
  let index: Int

  private var node: JSONNode { document.nodes[index] }

  /// What it is.
  public var kind: JSONKind { node.kind }

  /// The text that it is; `nil` where it is something else.
  public var text: String? {
    kind == .text ? document.bytes.text(of: node) : nil
  }

  /// The whole number that it is, however it is written (`1`, `1.0`, `1e6`); `nil` where it is something
  /// else, is not whole, or does not fit 64 bits. Nothing is rounded.
  public var wholeNumber: Int? {
    kind == .number ? Int(exactly: document.bytes[node.range]) : nil
  }

  /// The number that it is, as near as a `Double` comes; `nil` where it is something else, or too large.
  public var number: Double? {
    guard kind == .number else { return nil }
    let number = Double(String(decoding: document.bytes[node.range], as: UTF8.self))
    return number.flatMap { $0.isFinite ? $0 : nil }
  }

  /// Whether it is `true`; `nil` where it is neither `true` nor `false`.
  public var truth: Bool? {
    kind == .boolean ? document.bytes[node.range].first == UInt8(ascii: "t") : nil
  }

  /// Where it stands; of a text, between the quotation marks.
  public var byteRange: Range<Int> { node.range }

  /// The way to it.
  public var path: JSONPath { document.bytes.path(to: index, in: document.nodes) }

  /// The elements of a list, in its order; none of what is something else.
  public var elements: Elements {
    Elements(
      document: document, position: index + 1, end: kind == .array ? Int(node.next) : index + 1)
  }

  /// The members of an object, in the order of the text; none of what is something else.
  public var members: Members {
    Members(
      document: document, position: index + 1, end: kind == .object ? Int(node.next) : index + 1)
  }

  /// The object's member of this name, compared by bytes.
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

    /// The next element; `nil` behind the last.
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

    /// The next member; `nil` behind the last.
    public mutating func next() -> JSONMember? {
      guard position < end else { return nil }
      defer { position = Int(document.nodes[position + 1].next) }
      return JSONMember(document: document, index: position)
    }
  }
}

/// One member of an object.
public struct JSONMember: Sendable {
  fileprivate let document: JSONDocument
  /// Its name's node, before its value's.
  fileprivate let index: Int

  /// What the object calls it.
  public var name: String { document.bytes.text(of: document.nodes[index]) }

  /// What it is.
  public var value: JSONValue { JSONValue(document: document, index: index + 1) }

  /// It has this name, compared by bytes.
  public func isNamed(_ name: String) -> Bool { document.isName(at: index, name) }
}

extension JSONDocument {
  /// Whether the name whose node this is has these bytes.
  fileprivate func isName(at index: Int, _ name: String) -> Bool {
    let node = nodes[index]
    if node.hasEscapes {
      // A byte is written in six at the most: a long text is not read anew for each name that it might be.
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
  /// The whole number that a JSON number is; `nil` where it is not whole, or does not fit.
  init?(exactly number: ArraySlice<UInt8>) {
    let isNegative = number.first == UInt8(ascii: "-")
    var rest = isNegative ? number.dropFirst() : number
    // The digits are value × 10 ^ power, with no zero at the end of value.
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
      // Below zero there is one number more.
      guard let next = value.timesTen(zeros), case let digit = Int(byte & 15),
        case let (sum, overflow) = next.subtractingReportingOverflow(digit), !overflow
      else { return nil }
      (value, zeros) = (sum, 0)
    }
    guard value != 0 else {
      self = 0
      return
    }
    // An exponent of more digits than an Int has no room in any number of ours, either side of zero.
    let exponent = rest.isEmpty ? 0 : Int(String(decoding: rest.dropFirst(), as: UTF8.self))
    guard let exponent, exponent.magnitude < 1 << 40 else { return nil }
    let power = zeros - fractionDigits + exponent
    guard power >= 0, let scaled = value.timesTen(power) else { return nil }
    guard isNegative || scaled > Int.min else { return nil }
    self = isNegative ? scaled : -scaled
  }

  /// This times 10 ^ power; `nil` where that does not fit.
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
  /// Its JSON as it stands in the text, but for the white space between its tokens: members in their order,
  /// numbers and texts as they are written.
  public var compactJSON: [UInt8] {
    // Of a text, its range is between the quotation marks.
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
          // What is escaped ends no text.
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

  /// How deep lists and objects stand in each other in it, itself counted; 0 of what is neither.
  public var depth: Int {
    // Brackets stand in texts, too: the nodes know which are some. Each ends before what is beside it.
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
