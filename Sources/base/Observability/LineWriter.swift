import CivilTime
import JSON

/// Builds one line of a log.
///
/// Whatever the texts contain, the line stays one line, and a terminal shows it as it is: control characters
/// are escaped as in JSON (RFC 8259 section 7), and so are characters that JSON permits but a terminal or an
/// editor interprets: DEL and the C1 controls (U+009B begins an escape sequence like ESC does), the line and
/// paragraph separators, and the characters that change the direction of text. The same escapes are valid in
/// both formats. (`JSONWriter` escapes only what it must.)
struct LineWriter {
  private(set) var bytes: [UInt8]

  init(capacity: Int = 384) {
    bytes = [UInt8](capacity: capacity) { _ in }
  }

  /// Appends a part of the line's own syntax, verbatim.
  mutating func syntax(_ text: StaticString) {
    bytes.append(addingCapacity: text.utf8CodeUnitCount) { $0.append(text) }
  }

  /// Appends a whole number, after a part of the line's own syntax.
  mutating func integer(_ value: Int, after syntax: StaticString = "") {
    let capacity = syntax.utf8CodeUnitCount + OutputSpan<UInt8>.decimalCapacity
    bytes.append(addingCapacity: capacity) { output in
      output.append(syntax)
      output.append(decimal: value)
    }
  }

  /// Appends bytes that need no escapes, since they are not text from outside.
  mutating func append(atMost count: Int, _ write: (inout OutputSpan<UInt8>) -> Void) {
    bytes.append(addingCapacity: count, initializingWith: write)
  }

  /// Appends a text without quotes around it; quotation marks in it stay.
  mutating func plain(_ text: String) {
    var text = text
    text.withUTF8 { appendEscaped($0, quoted: false) }
  }

  /// Appends a text in quotes, after a part of the line's own syntax: a JSON string. A text longer than
  /// `limit` is cut, and ends in `…`.
  mutating func quoted(
    _ text: String, after syntax: StaticString = "", atMostBytes limit: Int = .max
  ) {
    var text = text
    text.withUTF8 { text in
      let part = Self.prefix(of: text, atMostBytes: limit)
      appendQuoted(part, after: syntax, isCut: part.count < text.count)
    }
  }

  /// Appends a key or value of the text form, after a part of the line's own syntax: verbatim if that is
  /// unambiguous, otherwise in quotes.
  mutating func word(
    _ text: String, after syntax: StaticString = "", atMostBytes limit: Int = .max
  ) {
    var text = text
    text.withUTF8 { text in
      let part = Self.prefix(of: text, atMostBytes: limit)
      let isCut = part.count < text.count
      guard Self.isWord(part) else { return appendQuoted(part, after: syntax, isCut: isCut) }
      self.syntax(syntax)
      bytes.append(contentsOf: part)
      if isCut { self.syntax("…") }
    }
  }

  private mutating func appendQuoted(
    _ text: UnsafeBufferPointer<UInt8>, after syntax: StaticString, isCut: Bool
  ) {
    guard !isCut, Self.isPlain(text) else {
      self.syntax(syntax)
      bytes.append(UInt8(ascii: "\""))
      appendEscaped(text, quoted: true)
      if isCut { self.syntax("…") }
      return bytes.append(UInt8(ascii: "\""))
    }
    bytes.append(addingCapacity: syntax.utf8CodeUnitCount + text.count + 2) { output in
      output.append(syntax)
      output.append(UInt8(ascii: "\""))
      output.append(text.span)
      output.append(UInt8(ascii: "\""))
    }
  }

  /// Whether the text is ASCII that needs no escapes, as nearly all texts of requests are. There is no early
  /// exit, so that the compiler can check many bytes at once.
  private static func isPlain(_ text: UnsafeBufferPointer<UInt8>) -> Bool {
    var special: UInt8 = 0
    for byte in text {
      special |= byte &- 0x20 < 0x5f ? 0 : 1
      special |= byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\") ? 1 : 0
    }
    return special == 0
  }

  /// Appends the text with the necessary escapes; copies runs without escapes as a whole.
  private mutating func appendEscaped(_ text: UnsafeBufferPointer<UInt8>, quoted: Bool) {
    var start = 0
    var index = 0
    while index < text.count {
      guard let escape = Escape(in: text, at: index, quoted: quoted) else {
        index += 1
        continue
      }
      bytes.append(contentsOf: UnsafeBufferPointer(rebasing: text[start..<index]))
      escape.append(to: &bytes)
      index += escape.byteCount
      start = index
    }
    bytes.append(contentsOf: UnsafeBufferPointer(rebasing: text[start...]))
  }

  /// Whether a text needs no quotes: it is not empty, needs no escapes, and has no space or `=`.
  private static func isWord(_ text: UnsafeBufferPointer<UInt8>) -> Bool {
    for index in 0..<text.count {
      if text[index] == UInt8(ascii: " ") || text[index] == UInt8(ascii: "=") { return false }
      if Escape(in: text, at: index, quoted: true) != nil { return false }
    }
    return !text.isEmpty
  }

  /// The longest beginning of a text within the limit that does not cut a character of UTF-8.
  private static func prefix(
    of text: UnsafeBufferPointer<UInt8>, atMostBytes limit: Int
  ) -> UnsafeBufferPointer<UInt8> {
    guard text.count > limit else { return text }
    var end = limit
    while end > 0, text[end] & 0xc0 == 0x80 { end -= 1 }
    return UnsafeBufferPointer(rebasing: text[..<end])
  }
}

extension LineWriter {
  /// Appends a time in the format of RFC 3339 (section 5.6), in UTC, with milliseconds:
  /// `2026-11-21T05:19:46.123Z`.
  ///
  /// Nanoseconds in 64 bits range from the year 1677 to 2262.
  mutating func time(_ nanosecondsSince1970: Int) {
    let (quotient, remainder) = nanosecondsSince1970.quotientAndRemainder(dividingBy: 1_000_000_000)
    // Rounded down, so that a moment before 1970 falls into its second.
    let seconds = remainder < 0 ? quotient - 1 : quotient
    let nanoseconds = remainder < 0 ? remainder + 1_000_000_000 : remainder
    let civilTime = CivilTime(secondsSince1970: seconds)
    append(atMost: CivilTime.textBytes + 5) { output in
      civilTime.append(to: &output)
      output.append(UInt8(ascii: "."))
      output.append(nanoseconds / 1_000_000, digits: 3)
      output.append(UInt8(ascii: "Z"))
    }
  }
}
