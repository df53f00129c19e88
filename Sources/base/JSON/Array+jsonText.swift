/// Helpers that interpret the bytes of a JSON text.
extension [UInt8] {
  /// The length in bytes of the non-ASCII character that begins at `index`, two to four; `nil` if its bytes
  /// are not well-formed UTF-8 (The Unicode Standard, table 3-7).
  func lengthOfUTF8(at index: Int) -> Int? {
    let length: Int
    // The valid second bytes; all further bytes are 80…BF.
    let second: ClosedRange<UInt8>
    switch self[index] {
    case 0xc2...0xdf: (length, second) = (2, 0x80...0xbf)
    case 0xe0: (length, second) = (3, 0xa0...0xbf)
    case 0xed: (length, second) = (3, 0x80...0x9f)
    case 0xe1...0xef: (length, second) = (3, 0x80...0xbf)
    case 0xf0: (length, second) = (4, 0x90...0xbf)
    case 0xf1...0xf3: (length, second) = (4, 0x80...0xbf)
    case 0xf4: (length, second) = (4, 0x80...0x8f)
    default: return nil
    }
    guard index + length <= count, second.contains(self[index + 1]) else { return nil }
    for other in Swift.max(index + 2, index)..<index + length where self[other] & 0xc0 != 0x80 {
      return nil
    }
    return length
  }

  /// The UTF-16 code unit of the escape at `index`, such as `\u00e9`; `nil` if there is no such escape.
  func codeUnit(ofEscapeAt index: Int) -> UInt16? {
    guard index + 6 <= count, self[index] == UInt8(ascii: "\\"),
      self[index + 1] == UInt8(ascii: "u")
    else { return nil }
    var unit: UInt16 = 0
    for byte in self[index + 2..<index + 6] {
      let digit: UInt8
      switch byte {
      case UInt8(ascii: "0")...UInt8(ascii: "9"): digit = byte - UInt8(ascii: "0")
      case UInt8(ascii: "a")...UInt8(ascii: "f"): digit = byte - UInt8(ascii: "a") + 10
      case UInt8(ascii: "A")...UInt8(ascii: "F"): digit = byte - UInt8(ascii: "A") + 10
      default: return nil
      }
      unit = unit << 4 | UInt16(digit)
    }
    return unit
  }

  /// The unescaped text of these bytes, which the parser has accepted.
  func unescaped(_ range: Range<Int>) -> [UInt8] {
    var text: [UInt8] = []
    text.reserveCapacity(range.count)
    var index = range.lowerBound
    while index < range.upperBound {
      guard self[index] == UInt8(ascii: "\\") else {
        text.append(self[index])
        index += 1
        continue
      }
      switch self[index + 1] {
      case UInt8(ascii: "b"): text.append(0x08)
      case UInt8(ascii: "t"): text.append(0x09)
      case UInt8(ascii: "n"): text.append(0x0a)
      case UInt8(ascii: "f"): text.append(0x0c)
      case UInt8(ascii: "r"): text.append(0x0d)
      case UInt8(ascii: "u"):
        let unit = UInt32(codeUnit(ofEscapeAt: index) ?? 0)
        index += 6
        var scalar = Unicode.Scalar(unit)
        if scalar == nil, unit < 0xdc00, let trail = codeUnit(ofEscapeAt: index),
          UTF16.isTrailSurrogate(trail)
        {
          scalar = Unicode.Scalar(0x10000 + ((unit - 0xd800) << 10) + (UInt32(trail) - 0xdc00))
          index += 6
        }
        text += (scalar ?? "\u{fffd}").utf8
        continue
      case let byte: text.append(byte)
      }
      index += 2
    }
    return text
  }

  /// The text of a node whose kind is `.text`.
  func text(of node: JSONNode) -> String {
    String(
      decoding: node.hasEscapes ? unescaped(node.range)[...] : self[node.range], as: UTF8.self)
  }

  /// The path to the value at `target`. The parser may have stopped within it, and within the values that
  /// contain it.
  func path(to target: Int, in nodes: [JSONNode]) -> JSONPath {
    var steps: [JSONPath.Step] = []
    var holder = 0
    while holder < target {
      let isObject = nodes[holder].kind == .object
      var child = holder + (isObject ? 2 : 1)
      var index = 0
      while nodes[child].next != 0, Int(nodes[child].next) <= target {
        child = Int(nodes[child].next) + (isObject ? 1 : 0)
        index += 1
      }
      steps.append(isObject ? .key(text(of: nodes[child - 1])) : .index(index))
      holder = child
    }
    return JSONPath(steps)
  }
}
