/// Parses the bytes of one JSON text into nodes.
struct JSONParser {
  private let bytes: [UInt8]
  private let depthLimit: Int
  private(set) var nodes: [JSONNode] = []
  private var position = 0
  /// The nodes of the lists and objects that contain `position`.
  private var open: [Int] = []

  /// Up to this number of keys, an object's keys are compared one by one; beyond it, with a set.
  private static let fewKeys = 16

  init(_ bytes: [UInt8], depthLimit: Int) {
    self.bytes = bytes
    self.depthLimit = depthLimit
    // Most values are about 16 bytes long.
    nodes.reserveCapacity(bytes.count / 16 + 8)
  }

  mutating func readDocument() throws(JSONError) {
    // Nodes keep offsets in 32 bits.
    guard bytes.count < UInt32.max else {
      throw failure(.tooLong(limitBytes: Int(UInt32.max) - 1), at: 0)
    }
    guard !bytes.starts(with: [0xef, 0xbb, 0xbf]) else { throw failure(.byteOrderMark, at: 0) }
    // A JSON text begins with two ASCII characters: a zero among the first two bytes means UTF-16 or UTF-32.
    guard !bytes.prefix(2).contains(0) else { throw failure(.notUTF8, at: 0) }
    skipWhiteSpace()
    try readValue()
    skipWhiteSpace()
    guard position == bytes.count else { throw failure(.textBehindEnd) }
  }

  // MARK: Values

  private var byte: UInt8? { position < bytes.count ? bytes[position] : nil }

  private mutating func skipWhiteSpace() {
    while position < bytes.count {
      let byte = bytes[position]
      guard byte == 0x20 || byte == 0x0a || byte == 0x0d || byte == 0x09 else { return }
      position += 1
    }
  }

  private mutating func readValue() throws(JSONError) {
    guard let byte else { throw failure(.unexpectedEnd) }
    switch byte {
    case UInt8(ascii: "{"): try readObject()
    case UInt8(ascii: "["): try readArray()
    case UInt8(ascii: "\""): try readText()
    case UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"): try readNumber()
    case UInt8(ascii: "t"): try readWord("true", .boolean)
    case UInt8(ascii: "f"): try readWord("false", .boolean)
    case UInt8(ascii: "n"): try readWord("null", .null)
    default: throw failure(.noValue)
    }
  }

  private mutating func begin(_ kind: JSONKind) -> Int {
    nodes.append(JSONNode(kind: kind, start: UInt32(position)))
    return nodes.count - 1
  }

  private mutating func end(_ node: Int) {
    nodes[node].end = UInt32(position)
    nodes[node].next = UInt32(nodes.count)
  }

  private mutating func enter(_ kind: JSONKind) throws(JSONError) -> Int {
    guard open.count < depthLimit else { throw failure(.tooDeep(limit: depthLimit)) }
    let node = begin(kind)
    open.append(node)
    position += 1
    skipWhiteSpace()
    return node
  }

  private mutating func leave(_ node: Int) {
    position += 1
    open.removeLast()
    end(node)
  }

  private mutating func readArray() throws(JSONError) {
    let node = try enter(.array)
    if byte == UInt8(ascii: "]") { return leave(node) }
    while true {
      if byte == UInt8(ascii: "]") { throw failure(.trailingComma) }
      try readValue()
      guard try readComma(orEnd: "]") else { return leave(node) }
    }
  }

  private mutating func readObject() throws(JSONError) {
    let node = try enter(.object)
    if byte == UInt8(ascii: "}") { return leave(node) }
    var keys = 0
    while true {
      guard let byte else { throw failure(.unexpectedEnd) }
      if byte == UInt8(ascii: "}") { throw failure(.trailingComma) }
      guard byte == UInt8(ascii: "\"") else { throw failure(.noKey) }
      try readText()
      keys += 1
      if keys <= Self.fewKeys { try checkLastKey(of: node) }
      skipWhiteSpace()
      guard let colon = self.byte else { throw failure(.unexpectedEnd) }
      guard colon == UInt8(ascii: ":") else { throw failure(.noColon) }
      position += 1
      skipWhiteSpace()
      try readValue()
      guard try readComma(orEnd: "}") else { break }
    }
    if keys > Self.fewKeys { try checkKeys(of: node) }
    leave(node)
  }

  /// Reads a comma; `false` at the end of the list or object, which it leaves unread.
  private mutating func readComma(orEnd end: Unicode.Scalar) throws(JSONError) -> Bool {
    skipWhiteSpace()
    guard let byte else { throw failure(.unexpectedEnd) }
    if byte == UInt8(ascii: end) { return false }
    guard byte == UInt8(ascii: ",") else { throw failure(.noCommaOrEnd(Character(end))) }
    position += 1
    skipWhiteSpace()
    return true
  }

  private mutating func readWord(_ word: StaticString, _ kind: JSONKind) throws(JSONError) {
    let node = begin(kind)
    for index in 0..<word.utf8CodeUnitCount {
      guard let byte else { throw failure(.unexpectedEnd) }
      let expected = word.withUTF8Buffer { $0[index] }
      guard byte == expected else { throw failure(.noValue, at: Int(nodes[node].start)) }
      position += 1
    }
    end(node)
  }

  // MARK: Numbers

  private mutating func readNumber() throws(JSONError) {
    let node = begin(.number)
    if byte == UInt8(ascii: "-") { position += 1 }
    if byte == UInt8(ascii: "0") {
      position += 1
      if let byte, byte.isDigit { throw failure(.malformedNumber, at: Int(nodes[node].start)) }
    } else {
      try readDigits(of: node)
    }
    if byte == UInt8(ascii: ".") {
      position += 1
      try readDigits(of: node)
    }
    if byte == UInt8(ascii: "e") || byte == UInt8(ascii: "E") {
      position += 1
      if byte == UInt8(ascii: "+") || byte == UInt8(ascii: "-") { position += 1 }
      try readDigits(of: node)
    }
    end(node)
  }

  /// Reads one or more digits.
  private mutating func readDigits(of node: Int) throws(JSONError) {
    let start = position
    while let byte, byte.isDigit { position += 1 }
    guard position > start else { throw failure(.malformedNumber, at: Int(nodes[node].start)) }
  }

  // MARK: Texts

  private mutating func readText() throws(JSONError) {
    position += 1
    let node = begin(.text)
    while true {
      guard position < bytes.count else { throw failure(.unexpectedEnd) }
      let byte = bytes[position]
      if byte >= 0x80 {
        guard let length = bytes.lengthOfUTF8(at: position) else { throw failure(.notUTF8) }
        position += length
      } else if byte == UInt8(ascii: "\"") {
        break
      } else if byte == UInt8(ascii: "\\") {
        nodes[node].hasEscapes = true
        try readEscape()
      } else if byte >= 0x20 {
        position += 1
      } else {
        throw failure(.controlCharacter)
      }
    }
    end(node)
    position += 1
  }

  private mutating func readEscape() throws(JSONError) {
    guard position + 1 < bytes.count else { throw failure(.unexpectedEnd) }
    switch bytes[position + 1] {
    case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"), UInt8(ascii: "b"),
      UInt8(ascii: "f"), UInt8(ascii: "n"), UInt8(ascii: "r"), UInt8(ascii: "t"):
      position += 2
    case UInt8(ascii: "u"):
      guard let unit = bytes.codeUnit(ofEscapeAt: position) else { throw failure(.unknownEscape) }
      guard UTF16.isLeadSurrogate(unit) || UTF16.isTrailSurrogate(unit) else {
        position += 6
        return
      }
      guard UTF16.isLeadSurrogate(unit), let other = bytes.codeUnit(ofEscapeAt: position + 6),
        UTF16.isTrailSurrogate(other)
      else { throw failure(.loneSurrogate) }
      position += 12
    default: throw failure(.unknownEscape)
    }
  }

  // MARK: Keys

  /// Checks that the last key differs from the earlier keys of the object.
  private func checkLastKey(of object: Int) throws(JSONError) {
    let last = nodes.count - 1
    var key = object + 1
    while key < last {
      if isSameText(nodes[key], nodes[last]) { throw duplicate(last) }
      key = Int(nodes[key + 1].next)
    }
  }

  /// Checks that the keys of the object are distinct.
  private func checkKeys(of object: Int) throws(JSONError) {
    var seen: Set<ArraySlice<UInt8>> = []
    var key = object + 1
    while key < nodes.count {
      let text =
        nodes[key].hasEscapes ? bytes.unescaped(nodes[key].range)[...] : bytes[nodes[key].range]
      guard seen.insert(text).inserted else { throw duplicate(key) }
      key = Int(nodes[key + 1].next)
    }
  }

  private func isSameText(_ left: JSONNode, _ right: JSONNode) -> Bool {
    if left.hasEscapes || right.hasEscapes {
      return bytes.unescaped(left.range) == bytes.unescaped(right.range)
    }
    return left.range.count == right.range.count && bytes[left.range] == bytes[right.range]
  }

  private func duplicate(_ key: Int) -> JSONError {
    let path = path.key(bytes.text(of: nodes[key]))
    return failure(.duplicateKey, at: Int(nodes[key].start) - 1, path)
  }

  // MARK: Errors

  /// The path to the innermost open list or object.
  private var path: JSONPath {
    guard let last = open.last else { return JSONPath([]) }
    return bytes.path(to: last, in: nodes)
  }

  private func failure(_ problem: JSONError.Problem) -> JSONError {
    // The unexpected byte may be invalid UTF-8.
    let isBroken = byte.map { $0 >= 0x80 && bytes.lengthOfUTF8(at: position) == nil } ?? false
    return failure(isBroken ? .notUTF8 : problem, at: position)
  }

  private func failure(
    _ problem: JSONError.Problem, at offset: Int, _ path: JSONPath? = nil
  ) -> JSONError {
    let before = bytes[..<offset]
    let lineStart = before.lastIndex(of: 0x0a).map { $0 + 1 } ?? 0
    return JSONError(
      problem: problem, byteOffset: offset,
      line: before.reduce(1) { $1 == 0x0a ? $0 + 1 : $0 },
      // Each character has exactly one byte that is not a continuation byte.
      column: before[lineStart...].reduce(1) { $1 & 0xc0 == 0x80 ? $0 : $0 + 1 },
      path: path ?? self.path)
  }
}

extension UInt8 {
  var isDigit: Bool { self >= 0x30 && self <= 0x39 }
}
