import Feed

/// A JSON object whose fields are known and checked: an unknown one is an error, so that a misspelt
/// name does not silently lose what it holds.
struct Fields {
  private let container: KeyedDecodingContainer<FieldName>

  init(_ decoder: any Decoder, known: Set<String>) throws {
    container = try decoder.container(keyedBy: FieldName.self)
    for key in container.allKeys where !known.contains(key.stringValue) {
      throw RecordError(
        field: (container.codingPath + [key]).field,
        problem: "unknown field; the known ones are \(known.sorted().joined(separator: ", "))")
    }
  }

  func has(_ name: String) -> Bool {
    container.contains(FieldName(stringValue: name))
  }

  func error(_ name: String, _ problem: String) -> RecordError {
    RecordError(
      field: (container.codingPath + [FieldName(stringValue: name)]).field, problem: problem)
  }

  func value<Value: Decodable>(_ name: String, as _: Value.Type = Value.self) throws -> Value {
    do {
      return try container.decode(Value.self, forKey: FieldName(stringValue: name))
    } catch let error as DecodingError {
      throw error
    } catch {
      // Foundation has an error of its own, and private, for a number that is no `Int`.
      switch Value.self {
      case is Int.Type: throw self.error(name, "is not a whole number")
      case is [String: Int].Type: throw self.error(name, "holds no whole number")
      default: throw error
      }
    }
  }

  /// A list; what is absent is empty.
  func list<Value: Decodable>(_ name: String, of _: Value.Type = Value.self, limit: Int) throws
    -> [Value]
  {
    guard has(name) else { return [] }
    let list: [Value] = try value(name)
    guard list.count <= limit else {
      throw error(name, "has \(list.count) elements, more than \(limit)")
    }
    return list
  }

  /// A text of so many bytes at the most; an empty one says as little as an absent one.
  func text(_ name: String, limit: Int) throws -> String? {
    guard has(name) else { return nil }
    let text: String = try value(name)
    try check(text, name, limit: limit)
    return text.isEmpty ? nil : text
  }

  /// A text that is there, is not empty and holds no control characters.
  func name(_ name: String, limit: Int) throws -> String {
    let text: String = try value(name)
    try checkName(text, name, limit: limit)
    return text
  }

  /// A whole number of the range.
  func number(_ name: String, in range: ClosedRange<Int>) throws -> Int? {
    guard has(name) else { return nil }
    let number: Int = try value(name)
    guard range.contains(number) else {
      throw error(name, "\(number) is not in \(range.lowerBound)…\(range.upperBound)")
    }
    return number
  }

  /// One of the cases.
  func option<Option: RawRepresentable & CaseIterable>(_ name: String) throws -> Option
  where Option.RawValue == String {
    let text: String = try value(name)
    guard let option = Option(rawValue: text) else {
      let known = Option.allCases.map(\.rawValue).joined(separator: ", ")
      throw error(name, "\"\(text.prefix(40))\" is not one of \(known)")
    }
    return option
  }

  func time(_ name: String) throws -> Timestamp? {
    guard let text = try text(name, limit: 64) else { return nil }
    do throws(TimestampError) {
      return try Timestamp(rfc3339: text)
    } catch {
      switch error {
      case .malformed:
        throw self.error(
          name, "\"\(text)\" is not an RFC 3339 time such as 2012-07-28T23:05:56Z")
      case .outOfRange(let part): throw self.error(name, "\"\(text)\" has no such \(part)")
      case .tooPrecise: throw self.error(name, "\"\(text)\" has more than six decimals")
      }
    }
  }

  func check(_ text: String, _ name: String, limit: Int) throws {
    guard text.utf8.count <= limit else {
      throw error(name, "has \(text.utf8.count) bytes, more than \(limit)")
    }
    guard !text.utf8.contains(0) else { throw error(name, "holds a NUL character") }
  }

  func checkName(_ text: String, _ name: String, limit: Int) throws {
    try check(text, name, limit: limit)
    guard !text.isEmpty else { throw error(name, "is empty") }
    guard text.utf8.allSatisfy({ $0 >= 0x20 && $0 != 0x7f }) else {
      throw error(name, "holds a control character")
    }
  }
}
