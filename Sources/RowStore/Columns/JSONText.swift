import Feed
import JSON
import PostJSON

/// The columns that hold a little JSON: a post's tags and counters, a file's placeholder.
///
/// They are read for every post of every page, so the plain case, which is what this store writes but
/// for texts that need an escape (no escape, no space), is read in one pass; anything else goes through
/// the general reader.
package enum JSONText {
  /// Adds the tags of `["a","b"]` to the last post.
  package static func addTags(_ text: UnsafeBufferPointer<UInt8>, to posts: inout FlatPosts) throws
  {
    var scanner = PlainScanner(text)
    if let ranges = scanner.strings() {
      let whole = posts.add(text: text)
      for range in ranges { posts.add(tag: whole.part(range)) }
    } else {
      for tag in try decodedTags(text) { posts.add(tag: posts.add(text: tag)) }
    }
  }

  /// Adds the counters of `{"comments":12,"likes":3}` to the last post.
  package static func addCounters(_ text: UnsafeBufferPointer<UInt8>, to posts: inout FlatPosts)
    throws
  {
    var scanner = PlainScanner(text)
    if let counters = scanner.counters() {
      let whole = posts.add(text: text)
      for counter in counters {
        posts.add(counter: FlatCounter(name: whole.part(counter.name), value: counter.value))
      }
    } else {
      for counter in try decodedCounters(text) {
        posts.add(
          counter: FlatCounter(name: posts.add(text: counter.name), value: counter.value))
      }
    }
  }

  /// `{"comments":12,"likes":3}`, in the order of the names.
  package static func counters(_ text: String) throws -> [Counter] {
    var text = text
    return try text.withUTF8(decodedCounters)
  }

  /// `{"thumbhash":"…","color":"#6b7a3d"}`
  package static func placeholder(_ text: UnsafeBufferPointer<UInt8>) throws -> MediaPlaceholder {
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

  /// The text of the tags; `nil` where there are none.
  package static func text(_ strings: [String]) -> String? {
    guard !strings.isEmpty else { return nil }
    var writer = JSONWriter(capacity: 64)
    writer.array { writer in
      for string in strings { writer.string(string) }
    }
    return String(decoding: writer.bytes, as: UTF8.self)
  }

  /// The text of the counters; `nil` where there are none.
  package static func text(_ counters: [Counter]) -> String? {
    guard !counters.isEmpty else { return nil }
    var writer = JSONWriter(capacity: 64)
    writer.object { writer in
      for counter in counters {
        writer.key(counter.name)
        writer.integer(counter.value)
      }
    }
    return String(decoding: writer.bytes, as: UTF8.self)
  }

  /// The text of a placeholder; `nil` where there is none.
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

/// Reads JSON without escapes and spaces, as ranges of its text; `nil` where there are any.
private struct PlainScanner {
  /// Most posts have no more tags, or counters.
  private static let usualCount = 8

  private let bytes: UnsafeBufferPointer<UInt8>
  private var position = 0

  init(_ bytes: UnsafeBufferPointer<UInt8>) {
    self.bytes = bytes
  }

  private mutating func take(_ scalar: Unicode.Scalar) -> Bool {
    guard position < bytes.count, bytes[position] == UInt8(ascii: scalar) else { return false }
    position += 1
    return true
  }

  private mutating func string() -> Range<Int>? {
    guard take("\"") else { return nil }
    let start = position
    while position < bytes.count, bytes[position] != UInt8(ascii: "\"") {
      if bytes[position] == UInt8(ascii: "\\") { return nil }
      position += 1
    }
    return take("\"") ? start..<position - 1 : nil
  }

  private mutating func integer() -> Int? {
    let isNegative = take("-")
    let start = position
    var value = 0
    // Eighteen digits cannot overflow.
    while position < bytes.count, position - start < 18, bytes[position] >= 48,
      bytes[position] <= 57
    {
      value = value * 10 + Int(bytes[position] - 48)
      position += 1
    }
    guard position > start else { return nil }
    return isNegative ? -value : value
  }

  mutating func strings() -> [Range<Int>]? {
    guard take("[") else { return nil }
    var strings: [Range<Int>] = []
    strings.reserveCapacity(Self.usualCount)
    repeat {
      guard let string = string() else { return nil }
      strings.append(string)
    } while take(",")
    return take("]") && position == bytes.count ? strings : nil
  }

  /// In the order of the text, which is that of the names where this store wrote it.
  mutating func counters() -> [(name: Range<Int>, value: Int)]? {
    guard take("{") else { return nil }
    var counters: [(name: Range<Int>, value: Int)] = []
    counters.reserveCapacity(Self.usualCount)
    repeat {
      guard let name = string(), take(":"), let value = integer() else { return nil }
      if let last = counters.last,
        !bytes[last.name].lexicographicallyPrecedes(bytes[name])
      {
        return nil
      }
      counters.append((name, value))
    } while take(",")
    return take("}") && position == bytes.count ? counters : nil
  }
}
