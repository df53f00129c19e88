import Feed
import JSON
import PostJSON

/// The columns that hold small JSON texts: a post's tags and counters, a file's placeholder.
///
/// They are read for every post of every page, so the plain case (no escape, no space) is read in one pass:
/// this store writes it for all texts that need no escape. The general reader reads anything else.
@usableFromInline package enum JSONText {
  /// Adds the tags of `["a","b"]` to the last post.
  @usableFromInline package static func addTags(
    _ text: UnsafeBufferPointer<UInt8>, to posts: inout FlatPosts
  ) throws {
    var scanner = PlainScanner(text)
    let whole = posts.add(text: text)
    if scanner.begin("[") {
      var isPlain = true
      repeat {
        if let range = scanner.string() {
          posts.add(tag: whole.part(range))
        } else {
          isPlain = false
        }
      } while isPlain && scanner.goOn()
      if isPlain, scanner.end("]") {
        if scanner.isAsWritten { posts.note(tagsJSON: whole) }
        return
      }
      posts.removeTags()
    }
    for tag in try decodedTags(text) { posts.add(tag: posts.add(text: tag)) }
  }

  /// Adds the counters of `{"comments":12,"likes":3}` to the last post.
  @usableFromInline package static func addCounters(
    _ text: UnsafeBufferPointer<UInt8>, to posts: inout FlatPosts
  )
    throws
  {
    var scanner = PlainScanner(text)
    let whole = posts.add(text: text)
    if scanner.begin("{") {
      var isPlain = true
      repeat {
        if let (name, value) = scanner.counter() {
          posts.add(counter: FlatCounter(name: whole.part(name), value: value))
        } else {
          isPlain = false
        }
      } while isPlain && scanner.goOn()
      if isPlain, scanner.end("}") {
        if scanner.isAsWritten { posts.note(countersJSON: whole) }
        return
      }
      posts.removeCounters()
    }
    for counter in try decodedCounters(text) {
      posts.add(
        counter: FlatCounter(name: posts.add(text: counter.name), value: counter.value))
    }
  }

  /// Reads `{"comments":12,"likes":3}`, in the order of the names.
  package static func counters(_ text: String) throws -> [Counter] {
    var text = text
    return try text.withUTF8(decodedCounters)
  }

  /// Reads `{"thumbhash":"…","color":"#6b7a3d"}`.
  @usableFromInline package static func placeholder(_ text: UnsafeBufferPointer<UInt8>) throws
    -> MediaPlaceholder
  {
    guard let placeholder = try? MediaPlaceholder(json: Array(text)) else {
      throw notExpected(text)
    }
    return placeholder
  }

  private static func decodedCounters(_ text: UnsafeBufferPointer<UInt8>) throws -> [Counter] {
    try document(text, .object).members.map { member in
      guard let value = member.value.wholeNumber else { throw notExpected(text) }
      return Counter(member.name, value)
    }
    .sorted { $0.name.utf8.lexicographicallyPrecedes($1.name.utf8) }
  }

  private static func decodedTags(_ text: UnsafeBufferPointer<UInt8>) throws -> [String] {
    try document(text, .array).elements.map { element in
      guard let tag = element.text else { throw notExpected(text) }
      return tag
    }
  }

  /// Returns the text of the tags; `nil` if there are no tags.
  package static func text(_ strings: [String]) -> String? {
    guard !strings.isEmpty else { return nil }
    var writer = JSONWriter(capacity: 64)
    writer.array { writer in
      for string in strings { writer.string(string) }
    }
    return String(decoding: writer.bytes, as: UTF8.self)
  }

  /// Returns the text of the counters; `nil` if there are no counters.
  package static func text(_ counters: [Counter]) -> String? {
    guard !counters.isEmpty else { return nil }
    var writer = JSONWriter(capacity: 64)
    writer.object { writer in
      for counter in counters {
        writer.key(text: counter.name)
        writer.integer(counter.value)
      }
    }
    return String(decoding: writer.bytes, as: UTF8.self)
  }

  /// Returns the text of a placeholder; `nil` if there is no placeholder.
  package static func text(_ placeholder: MediaPlaceholder?) -> String? {
    placeholder.map { String(decoding: $0.json, as: UTF8.self) }
  }

  private static func document(
    _ text: UnsafeBufferPointer<UInt8>, _ kind: JSONKind
  ) throws -> JSONValue {
    guard let root = try? JSONDocument(Array(text)).root, root.kind == kind else {
      throw notExpected(text)
    }
    return root
  }

  private static func notExpected(_ text: UnsafeBufferPointer<UInt8>) -> RowError {
    let start = String(decoding: text.prefix(80), as: UTF8.self)
    return RowError("a column holds \"\(start)\", not the JSON expected")
  }
}

/// Reads a list of texts, or an object of whole numbers, without escapes and spaces, as ranges of its text.
/// Stops at an escape or a space.
private struct PlainScanner {
  private let bytes: UnsafeBufferPointer<UInt8>
  private var position = 0
  /// The name of the previous counter.
  private var last: Range<Int>?
  /// Whether the text is byte for byte what a writer makes of it. Control characters in a text, and leading
  /// zeros in numbers, are not, but are read all the same.
  private(set) var isAsWritten = true

  init(_ bytes: UnsafeBufferPointer<UInt8>) {
    self.bytes = bytes
  }

  /// Takes the opening bracket; false if there is none.
  mutating func begin(_ bracket: Unicode.Scalar) -> Bool { take(bracket) }

  /// Takes a comma; false if there is none.
  mutating func goOn() -> Bool { take(",") }

  /// Takes the closing bracket; false if there is none, or if something follows.
  mutating func end(_ bracket: Unicode.Scalar) -> Bool {
    take(bracket) && position == bytes.count
  }

  @inline(__always)
  private mutating func take(_ scalar: Unicode.Scalar) -> Bool {
    guard position < bytes.count, bytes[position] == UInt8(ascii: scalar) else { return false }
    position += 1
    return true
  }

  mutating func string() -> Range<Int>? {
    guard take("\"") else { return nil }
    let start = position
    var index = bytes.firstToEscape(from: start)
    while index < bytes.count, bytes[index] != UInt8(ascii: "\"") {
      if bytes[index] == UInt8(ascii: "\\") { return nil }
      isAsWritten = false
      index = bytes.firstToEscape(from: index + 1)
    }
    position = index
    return take("\"") ? start..<index : nil
  }

  private mutating func integer() -> Int? {
    let isNegative = take("-")
    let start = position
    var (value, index) = (0, start)
    // Eighteen digits cannot overflow.
    let end = min(bytes.count, start + 18)
    while index < end {
      let digit = bytes[index] &- UInt8(ascii: "0")
      guard digit < 10 else { break }
      value = value &* 10 &+ Int(digit)
      index += 1
    }
    guard index > start else { return nil }
    position = index
    if bytes[start] == UInt8(ascii: "0"), isNegative || index > start + 1 { isAsWritten = false }
    return isNegative ? -value : value
  }

  /// Reads a counter. Counters must be in the order of their names, as this store writes them.
  mutating func counter() -> (name: Range<Int>, value: Int)? {
    guard let name = string(), take(":"), let value = integer() else { return nil }
    if let last, !precedes(last, name) { return nil }
    last = name
    return (name, value)
  }

  private func precedes(_ name: Range<Int>, _ other: Range<Int>) -> Bool {
    for index in 0..<min(name.count, other.count) {
      let (left, right) = (bytes[name.lowerBound + index], bytes[other.lowerBound + index])
      if left != right { return left < right }
    }
    return name.count < other.count
  }
}

extension PostType {
  @usableFromInline package init?(utf8: UnsafeBufferPointer<UInt8>) {
    // The first letter distinguishes all types but two, which differ in their lengths.
    switch utf8.first {
    case UInt8(ascii: "i"): self = .image
    case UInt8(ascii: "v"): self = .video
    case UInt8(ascii: "c"): self = .carousel
    case UInt8(ascii: "w"): self = .webapp
    case UInt8(ascii: "a"): self = utf8.count == 2 ? .ad : .audio
    case UInt8(ascii: "t"): self = .text
    default: return nil
    }
    guard utf8.isSame(as: name) else { return nil }
  }
}

extension MediaKind {
  @usableFromInline package init?(utf8: UnsafeBufferPointer<UInt8>) {
    switch utf8.first {
    case UInt8(ascii: "v"): self = .video
    case UInt8(ascii: "a"): self = .audio
    default: self = .image
    }
    guard utf8.isSame(as: name) else { return nil }
  }
}

extension UnsafeBufferPointer<UInt8> {
  /// Whether these are the bytes of a short text; `elementsEqual` takes ten times as long.
  fileprivate func isSame(as text: StaticString) -> Bool {
    guard text.utf8CodeUnitCount == count else { return false }
    for index in indices where text.utf8Start[index] != self[index] { return false }
    return true
  }
}

/// The error of a row whose content no version of this program wrote.
@usableFromInline package struct RowError: Error, CustomStringConvertible {
  /// The row, and what is wrong with it.
  @usableFromInline package let description: String

  @usableFromInline package init(_ description: String) { self.description = description }
}
