import Feed
import Foundation
import GRDB
import JSON

/// The columns that hold a little JSON: a post's tags and counters.
///
/// They are read for every post of every page, so the plain case, which is what this store writes but
/// for texts that need an escape (no escape, no space), is read in one pass; anything else goes through
/// the general parser.
enum JSONText {
  /// `["a","b"]`
  static func strings(_ text: String) throws -> [String] {
    var scanner = PlainScanner(text)
    if let strings = scanner.strings() { return strings }
    return try decode([String].self, text)
  }

  /// `{"comments":12,"likes":3}`, in the order of the names.
  static func counters(_ text: String) throws -> [Counter] {
    var scanner = PlainScanner(text)
    if let counters = scanner.counters() { return counters }
    return try decode([String: Int].self, text).map { Counter($0.key, $0.value) }
      .sorted { $0.name.utf8.lexicographicallyPrecedes($1.name.utf8) }
  }

  /// The text of the tags; `nil` where there are none.
  static func text(_ strings: [String]) -> String? {
    guard !strings.isEmpty else { return nil }
    var writer = JSONWriter(capacity: 64)
    writer.array { writer in
      for string in strings { writer.string(string) }
    }
    return String(decoding: writer.bytes, as: UTF8.self)
  }

  /// The text of the counters; `nil` where there are none.
  static func text(_ counters: [Counter]) -> String? {
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

  private static func decode<Value: Decodable>(_: Value.Type, _ text: String) throws -> Value {
    do {
      return try JSONDecoder().decode(Value.self, from: Data(text.utf8))
    } catch {
      throw DatabaseError(message: "a column holds \"\(text.prefix(80))\", not the JSON expected")
    }
  }
}

/// Reads JSON without escapes and spaces; `nil` where there are any.
private struct PlainScanner {
  private let bytes: [UInt8]
  private var position = 0

  init(_ text: String) {
    bytes = Array(text.utf8)
  }

  private mutating func take(_ scalar: Unicode.Scalar) -> Bool {
    guard position < bytes.count, bytes[position] == UInt8(ascii: scalar) else { return false }
    position += 1
    return true
  }

  private mutating func string() -> String? {
    guard take("\""), let end = bytes[position...].firstIndex(of: UInt8(ascii: "\"")) else {
      return nil
    }
    let content = bytes[position..<end]
    guard !content.contains(UInt8(ascii: "\\")) else { return nil }
    position = end + 1
    return String(decoding: content, as: UTF8.self)
  }

  private mutating func integer() -> Int? {
    let isNegative = take("-")
    let start = position
    while position < bytes.count, bytes[position] >= 48, bytes[position] <= 57 { position += 1 }
    guard position > start, position - start <= 18 else { return nil }
    let value = bytes[start..<position].reduce(0) { $0 * 10 + Int($1 - 48) }
    return isNegative ? -value : value
  }

  mutating func strings() -> [String]? {
    guard take("[") else { return nil }
    var strings: [String] = []
    repeat {
      guard let string = string() else { return nil }
      strings.append(string)
    } while take(",")
    return take("]") && position == bytes.count ? strings : nil
  }

  /// In the order of the text, which is that of the names where this store wrote it.
  mutating func counters() -> [Counter]? {
    guard take("{") else { return nil }
    var counters: [Counter] = []
    repeat {
      guard let name = string(), take(":"), let value = integer() else { return nil }
      if let last = counters.last, !last.name.utf8.lexicographicallyPrecedes(name.utf8) {
        return nil
      }
      counters.append(Counter(name, value))
    } while take(",")
    return take("}") && position == bytes.count ? counters : nil
  }
}
