/// A character of a log line that is written as an escape.
struct Escape {
  /// Its code point; all escaped characters are below U+10000.
  private let scalar: UInt16
  /// The number of its bytes in UTF-8.
  let byteCount: Int

  /// The character at `index` of a text in UTF-8, if it must be escaped; a quotation mark must be only if the
  /// text is in quotes.
  @inline(__always)
  init?(in text: UnsafeBufferPointer<UInt8>, at index: Int, quoted: Bool) {
    let byte = text[index]
    if byte >= 0x80 {
      // The first bytes of the characters in question: this skips most of UTF-8 at once.
      guard byte == 0xc2 || byte == 0xe2 else { return nil }
      self.init(multibyteIn: text, at: index)
    } else {
      let isEscaped =
        byte < 0x20 || byte == UInt8(ascii: "\\") || byte == 0x7f
        || (quoted && byte == UInt8(ascii: "\""))
      guard isEscaped else { return nil }
      self.init(scalar: UInt16(byte), byteCount: 1)
    }
  }

  private init?(multibyteIn text: UnsafeBufferPointer<UInt8>, at index: Int) {
    guard index + 1 < text.count else { return nil }
    if text[index] == 0xc2 {
      guard text[index + 1] < 0xa0 else { return nil }
      self.init(scalar: UInt16(text[index + 1]), byteCount: 2)
    } else {
      guard index + 2 < text.count else { return nil }
      let scalar =
        0x2000 | UInt16(text[index + 1] & 0x3f) << 6 | UInt16(text[index + 2] & 0x3f)
      guard (0x2028...0x202e).contains(scalar) || (0x2066...0x2069).contains(scalar) else {
        return nil
      }
      self.init(scalar: scalar, byteCount: 3)
    }
  }

  private init(scalar: UInt16, byteCount: Int) {
    self.scalar = scalar
    self.byteCount = byteCount
  }

  /// Appends the escape: `\n`, `\"` and the like, or `\u001b`.
  func append(to bytes: inout [UInt8]) {
    bytes.append(UInt8(ascii: "\\"))
    switch scalar {
    case 0x22, 0x5c: bytes.append(UInt8(scalar))
    case 0x08: bytes.append(UInt8(ascii: "b"))
    case 0x09: bytes.append(UInt8(ascii: "t"))
    case 0x0a: bytes.append(UInt8(ascii: "n"))
    case 0x0c: bytes.append(UInt8(ascii: "f"))
    case 0x0d: bytes.append(UInt8(ascii: "r"))
    default:
      bytes.append(UInt8(ascii: "u"))
      for shift in [12, 8, 4, 0] {
        let digit = UInt8(scalar >> UInt16(shift) & 15)
        bytes.append(digit < 10 ? UInt8(ascii: "0") + digit : UInt8(ascii: "a") + digit - 10)
      }
    }
  }
}

extension String {
  /// The text with an escape for every character that a terminal takes for a command, or that changes the
  /// text around it: control characters (C0, DEL and C1), line and paragraph separators, and characters that
  /// override the direction of writing. Names from strangers then have no effect on a terminal.
  ///
  /// - Parameter keepsLines: whether to keep line feeds, for a text of several lines.
  public func escapedForTerminal(keepsLines: Bool = false) -> String {
    var text = self
    return text.withUTF8 { text in
      var bytes: [UInt8] = []
      bytes.reserveCapacity(text.count)
      var index = 0
      while index < text.count {
        let byte = text[index]
        let isKept = byte == UInt8(ascii: "\\") || (keepsLines && byte == UInt8(ascii: "\n"))
        if !isKept, let escape = Escape(in: text, at: index, quoted: false) {
          escape.append(to: &bytes)
          index += escape.byteCount
        } else {
          bytes.append(byte)
          index += 1
        }
      }
      return String(decoding: bytes, as: UTF8.self)
    }
  }
}
