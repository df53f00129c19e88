/// Appends JSON (RFC 8259) to a buffer of bytes, with no space between tokens.
///
/// The caller opens and closes what it writes; commas are the writer's. Text is UTF-8 as it is, with
/// only the characters escaped that must be (section 7).
public struct JSONWriter: Sendable {
  /// What was written.
  public var bytes: [UInt8] { written }
  @usableFromInline var written: [UInt8] = []
  @usableFromInline var needsComma = false

  /// A writer whose buffer holds this many bytes before it grows.
  public init(capacity: Int = 256) {
    written.reserveCapacity(capacity)
  }

  /// Writes an object of what the body writes with `key`.
  public mutating func object(_ body: (inout JSONWriter) throws -> Void) rethrows {
    begin("{")
    try body(&self)
    written.append(UInt8(ascii: "}"))
    needsComma = true
  }

  /// Forgets what was written, and goes on in the same buffer.
  public mutating func removeAll() {
    written.removeAll(keepingCapacity: true)
    needsComma = false
  }

  /// Ends what was written: what comes next is a document of its own, directly behind it.
  public mutating func beginDocument() { needsComma = false }

  /// Writes an array of what the body writes.
  public mutating func array(_ body: (inout JSONWriter) throws -> Void) rethrows {
    begin("[")
    try body(&self)
    written.append(UInt8(ascii: "]"))
    needsComma = true
  }

  /// The name of the member whose value is written next. `name` must need no escape.
  @inlinable @inline(__always)
  public mutating func key(_ name: StaticString) {
    written.append(addingCapacity: name.utf8CodeUnitCount + Self.nameCapacity) { output in
      output.append(key: name, isFirst: !needsComma)
    }
    needsComma = false
  }

  /// What a name takes at the most beside its own bytes: a comma, quotation marks, a colon.
  @inlinable static var nameCapacity: Int { 4 }

  /// The name of the member whose value is written next. Its label keeps literals with the name above: they would
  /// be made strings.
  public mutating func key(text name: String) {
    string(name)
    written.append(UInt8(ascii: ":"))
    needsComma = false
  }

  /// The name of the member whose value is written next, in UTF-8.
  public mutating func key(utf8: Span<UInt8>) {
    string(utf8: utf8)
    written.append(UInt8(ascii: ":"))
    needsComma = false
  }

  /// A text, with the characters escaped that must be (RFC 8259 section 7).
  public mutating func string(_ value: String) {
    var value = value
    value.withUTF8 { appendQuoted($0) }
  }

  /// A text of these bytes of UTF-8, with the characters escaped that must be.
  public mutating func string(utf8: Span<UInt8>) {
    utf8.withUnsafeBufferPointer { appendQuoted($0) }
  }

  /// A text of pieces: what the body writes with `piece`.
  public mutating func string(_ body: (inout JSONWriter) -> Void) {
    separate()
    written.append(UInt8(ascii: "\""))
    body(&self)
    written.append(UInt8(ascii: "\""))
    needsComma = true
  }

  /// A piece of a text, within `string`.
  public mutating func piece(utf8: Span<UInt8>) {
    utf8.withUnsafeBufferPointer { appendEscaped($0) }
  }

  /// A piece of a text, within `string`.
  public mutating func piece(_ value: String) {
    var value = value
    value.withUTF8 { appendEscaped($0) }
  }

  /// A whole number, in all its digits: beyond ±(2^53 − 1) not every reader has it exactly (RFC 8259
  /// section 6).
  public mutating func integer(_ value: Int) {
    written.append(addingCapacity: OutputSpan<UInt8>.decimalCapacity + 1) { output in
      if needsComma { output.append(UInt8(ascii: ",")) }
      output.append(decimal: value)
    }
    needsComma = true
  }

  /// A piece of a document as it is, its commas and names with it: at most this many bytes.
  public mutating func literal(capacity: Int, _ write: (inout OutputSpan<UInt8>) -> Void) {
    written.append(addingCapacity: capacity, initializingWith: write)
    needsComma = true
  }

  /// A piece of a document as it is.
  public mutating func literal(_ text: Span<UInt8>) {
    written.append(addingCapacity: text.count) { $0.append(text) }
    needsComma = true
  }

  /// A piece of a document as it is, its commas and names with it.
  public mutating func literal(_ text: StaticString) {
    written.append(addingCapacity: text.utf8CodeUnitCount) { $0.append(text) }
    needsComma = true
  }

  /// A number, in the shortest form that reads back as the same one. It must be finite.
  public mutating func number(_ value: Double) {
    precondition(value.isFinite, "JSON has no infinity")
    separate()
    let text = String(value)
    written.append(contentsOf: (text.hasSuffix(".0") ? String(text.dropLast(2)) : text).utf8)
    needsComma = true
  }

  /// `true` or `false`.
  public mutating func boolean(_ value: Bool) {
    separate()
    written.append(contentsOf: (value ? "true" : "false").utf8)
    needsComma = true
  }

  /// `null`.
  public mutating func null() {
    separate()
    written.append(contentsOf: "null".utf8)
    needsComma = true
  }

  /// A value that is JSON already.
  public mutating func raw(_ value: some Collection<UInt8>) {
    separate()
    written.append(contentsOf: value)
    needsComma = true
  }

  private mutating func begin(_ bracket: Unicode.Scalar) {
    written.append(addingCapacity: 2) { output in
      if needsComma { output.append(UInt8(ascii: ",")) }
      output.append(UInt8(ascii: bracket))
    }
    needsComma = false
  }

  private mutating func separate() {
    if needsComma { written.append(UInt8(ascii: ",")) }
  }

  /// A comma where one is due, and the text in quotation marks: all at once where nothing in it must be
  /// escaped.
  private mutating func appendQuoted(_ text: UnsafeBufferPointer<UInt8>) {
    var plain = 0
    written.append(addingCapacity: text.count + 3) { output in
      if needsComma { output.append(UInt8(ascii: ",")) }
      plain = output.append(quoted: text)
    }
    needsComma = true
    if plain < text.count { appendRest(text, from: plain) }
  }

  /// What follows of a text in quotation marks from this byte on.
  private mutating func appendRest(_ text: UnsafeBufferPointer<UInt8>, from start: Int) {
    appendEscaped(UnsafeBufferPointer(rebasing: text[start...]))
    written.append(UInt8(ascii: "\""))
  }

  /// Runs that need no escape are copied whole.
  private mutating func appendEscaped(_ text: UnsafeBufferPointer<UInt8>) {
    var start = 0
    while true {
      let end = text.firstToEscape(from: start)
      let run = UnsafeBufferPointer(rebasing: text[start..<end])
      written.append(addingCapacity: run.count) { $0.append(run) }
      guard end < text.count else { return }
      appendEscape(of: text[end])
      start = end + 1
    }
  }

  private mutating func appendEscape(of byte: UInt8) {
    written.append(UInt8(ascii: "\\"))
    switch byte {
    case UInt8(ascii: "\""), UInt8(ascii: "\\"): written.append(byte)
    case 0x08: written.append(UInt8(ascii: "b"))
    case 0x09: written.append(UInt8(ascii: "t"))
    case 0x0a: written.append(UInt8(ascii: "n"))
    case 0x0c: written.append(UInt8(ascii: "f"))
    case 0x0d: written.append(UInt8(ascii: "r"))
    default:
      let digits = Array("0123456789abcdef".utf8)
      written.append(contentsOf: "u00".utf8)
      written.append(digits[Int(byte >> 4)])
      written.append(digits[Int(byte & 15)])
    }
  }
}

// MARK: Members, all at once

extension JSONWriter {
  /// A member whose value is a piece of a document as it is, of at most this many bytes.
  @inlinable @inline(__always)
  public mutating func member(
    _ name: StaticString, capacity: Int, _ write: (inout OutputSpan<UInt8>) -> Void
  ) {
    written.append(addingCapacity: name.utf8CodeUnitCount + Self.nameCapacity + capacity) {
      $0.append(key: name, isFirst: !needsComma)
      write(&$0)
    }
    needsComma = true
  }

  /// A member whose value is a text of these bytes of UTF-8, with the characters escaped that must be.
  @inlinable @inline(__always)
  public mutating func member(_ name: StaticString, utf8 value: Span<UInt8>) {
    value.withUnsafeBufferPointer { append(name, quoted: $0) }
  }

  /// A member, left out where the value is unknown.
  @inlinable @inline(__always)
  public mutating func member(_ name: StaticString, _ value: String?) {
    guard var value else { return }
    value.withUTF8 { append(name, quoted: $0) }
  }

  /// A member whose value is a text in which nothing must be escaped.
  public mutating func member(_ name: StaticString, plain value: StaticString) {
    member(name, capacity: value.utf8CodeUnitCount + 2) { $0.append(plain: value) }
  }

  /// A member, left out where the value is unknown.
  @inlinable @inline(__always)
  public mutating func member(_ name: StaticString, _ value: Int?) {
    guard let value else { return }
    member(name, capacity: OutputSpan<UInt8>.decimalCapacity) { $0.append(decimal: value) }
  }

  @usableFromInline
  mutating func append(_ name: StaticString, quoted text: UnsafeBufferPointer<UInt8>) {
    var plain = 0
    member(name, capacity: text.count + 2) { plain = $0.append(quoted: text) }
    if plain < text.count { appendRest(text, from: plain) }
  }
}
