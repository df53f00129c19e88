/// Appends JSON (RFC 8259) to a buffer of bytes, without white space between tokens.
///
/// The caller opens and closes values; the writer adds commas. Text is UTF-8, with only the necessary escapes
/// (section 7).
public struct JSONWriter: Sendable {
  /// The bytes written so far.
  public var bytes: [UInt8] { written }
  @usableFromInline var written: [UInt8] = []
  @usableFromInline var needsComma = false

  /// A writer with a buffer of this initial capacity, in bytes.
  public init(capacity: Int = 256) {
    written.reserveCapacity(capacity)
  }

  /// Writes an object, whose members `body` writes with `key`.
  public mutating func object(_ body: (inout JSONWriter) throws -> Void) rethrows {
    begin("{")
    try body(&self)
    end(UInt8(ascii: "}"))
  }

  /// Writes a member with an object. `name` must need no escapes.
  @inlinable @inline(__always)
  public mutating func object(
    _ name: StaticString, _ body: (inout JSONWriter) throws -> Void
  ) rethrows {
    begin(name, UInt8(ascii: "{"))
    try body(&self)
    end(UInt8(ascii: "}"))
  }

  /// Discards what was written, and keeps the buffer.
  public mutating func removeAll() {
    written.removeAll(keepingCapacity: true)
    needsComma = false
  }

  /// Ends the document: what is written next is another document, directly behind it.
  public mutating func beginDocument() { needsComma = false }

  /// Writes an array, whose elements `body` writes.
  public mutating func array(_ body: (inout JSONWriter) throws -> Void) rethrows {
    begin("[")
    try body(&self)
    end(UInt8(ascii: "]"))
  }

  /// Writes a member with an array. `name` must need no escapes.
  @inlinable @inline(__always)
  public mutating func array(
    _ name: StaticString, _ body: (inout JSONWriter) throws -> Void
  ) rethrows {
    begin(name, UInt8(ascii: "["))
    try body(&self)
    end(UInt8(ascii: "]"))
  }

  @inlinable @inline(__always)
  mutating func begin(_ name: StaticString, _ bracket: UInt8) {
    written.append(addingCapacity: name.utf8CodeUnitCount + Self.nameCapacity + 1) { output in
      output.append(key: name, isFirst: !needsComma)
      output.append(bracket)
    }
    needsComma = false
  }

  @inlinable @inline(__always)
  mutating func end(_ bracket: UInt8) {
    written.append(bracket)
    needsComma = true
  }

  /// Writes the name of the next member. `name` must need no escapes.
  @inlinable @inline(__always)
  public mutating func key(_ name: StaticString) {
    written.append(addingCapacity: name.utf8CodeUnitCount + Self.nameCapacity) { output in
      output.append(key: name, isFirst: !needsComma)
    }
    needsComma = false
  }

  /// The maximum number of bytes that a name takes besides its own: a comma, quotation marks, a colon.
  @inlinable static var nameCapacity: Int { 4 }

  /// Writes the name of the next member. The label keeps literals on the overload above: without it they
  /// would become a `String`.
  public mutating func key(text name: String) {
    string(name)
    written.append(UInt8(ascii: ":"))
    needsComma = false
  }

  /// Writes the name of the next member, in UTF-8.
  public mutating func key(utf8: Span<UInt8>) {
    string(utf8: utf8)
    written.append(UInt8(ascii: ":"))
    needsComma = false
  }

  /// Writes a text, with the necessary escapes (RFC 8259 section 7).
  public mutating func string(_ value: String) {
    var value = value
    value.withUTF8 { appendQuoted($0) }
  }

  /// Writes a text of these bytes of UTF-8, with the necessary escapes.
  public mutating func string(utf8: Span<UInt8>) {
    utf8.withUnsafeBufferPointer { appendQuoted($0) }
  }

  /// Writes a text of pieces, which `body` writes with `piece`.
  public mutating func string(_ body: (inout JSONWriter) -> Void) {
    separate()
    written.append(UInt8(ascii: "\""))
    body(&self)
    written.append(UInt8(ascii: "\""))
    needsComma = true
  }

  /// Writes a piece of a text, within `string`.
  public mutating func piece(utf8: Span<UInt8>) {
    utf8.withUnsafeBufferPointer { appendEscaped($0) }
  }

  /// Writes a piece of a text, within `string`.
  public mutating func piece(_ value: String) {
    var value = value
    value.withUTF8 { appendEscaped($0) }
  }

  /// Writes a whole number with all its digits. Not every reader represents numbers beyond ±(2^53 − 1)
  /// exactly (RFC 8259 section 6).
  public mutating func integer(_ value: Int) {
    written.append(addingCapacity: OutputSpan<UInt8>.decimalCapacity + 1) { output in
      if needsComma { output.append(UInt8(ascii: ",")) }
      output.append(decimal: value)
    }
    needsComma = true
  }

  /// Writes a part of a document verbatim, including its commas and names: at most `capacity` bytes.
  public mutating func literal(capacity: Int, _ write: (inout OutputSpan<UInt8>) -> Void) {
    written.append(addingCapacity: capacity, initializingWith: write)
    needsComma = true
  }

  /// Writes a part of a document verbatim.
  public mutating func literal(_ text: Span<UInt8>) {
    written.append(addingCapacity: text.count) { $0.append(text) }
    needsComma = true
  }

  /// Writes a part of a document verbatim, including its commas and names.
  public mutating func literal(_ text: StaticString) {
    written.append(addingCapacity: text.utf8CodeUnitCount) { $0.append(text) }
    needsComma = true
  }

  /// Writes a number in the shortest form that reads back as the same one. It must be finite.
  public mutating func number(_ value: Double) {
    precondition(value.isFinite, "JSON has no infinity")
    separate()
    let text = String(value)
    written.append(contentsOf: (text.hasSuffix(".0") ? String(text.dropLast(2)) : text).utf8)
    needsComma = true
  }

  /// Writes `true` or `false`.
  public mutating func boolean(_ value: Bool) {
    separate()
    written.append(contentsOf: (value ? "true" : "false").utf8)
    needsComma = true
  }

  /// Writes `null`.
  public mutating func null() {
    separate()
    written.append(contentsOf: "null".utf8)
    needsComma = true
  }

  /// Writes a value that is already JSON.
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

  /// Appends a comma if one is due, and the text in quotation marks: in one step if nothing in it must be
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

  /// Appends the rest of a text in quotation marks, from this byte on.
  private mutating func appendRest(_ text: UnsafeBufferPointer<UInt8>, from start: Int) {
    appendEscaped(UnsafeBufferPointer(rebasing: text[start...]))
    written.append(UInt8(ascii: "\""))
  }

  /// Appends the text with the necessary escapes; copies runs without escapes as a whole.
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
  /// Writes a member whose value is a part of a document, verbatim, of at most `capacity` bytes.
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

  /// Writes a member whose value is a text of these bytes of UTF-8, with the necessary escapes.
  @inlinable @inline(__always)
  public mutating func member(_ name: StaticString, utf8 value: Span<UInt8>) {
    value.withUnsafeBufferPointer { append(name, quoted: $0) }
  }

  /// Writes a member, or nothing if the value is `nil`.
  @inlinable @inline(__always)
  public mutating func member(_ name: StaticString, _ value: String?) {
    guard var value else { return }
    value.withUTF8 { append(name, quoted: $0) }
  }

  /// Writes a member whose value is a text of these bytes of UTF-8, which needs no escapes.
  public mutating func member(_ name: StaticString, plain value: Span<UInt8>) {
    member(name, capacity: value.count + 2) {
      $0.append(UInt8(ascii: "\""))
      $0.append(value)
      $0.append(UInt8(ascii: "\""))
    }
  }

  /// Writes a member whose value is a text that needs no escapes.
  public mutating func member(_ name: StaticString, plain value: StaticString) {
    member(name, capacity: value.utf8CodeUnitCount + 2) { $0.append(plain: value) }
  }

  /// Writes a member, or nothing if the value is `nil`.
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
