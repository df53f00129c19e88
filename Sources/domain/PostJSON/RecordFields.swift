import Feed
import JSON

/// A JSON object whose fields are checked: an unknown field is an error, so that a misspelt name does not
/// silently lose its value.
struct RecordFields {
  private let object: JSONValue

  /// - Parameter known: The known names, sorted for error messages; `nil` to ignore unknown ones, as in
  ///   responses of a newer server.
  init(_ value: JSONValue, known: [String]?) throws(RecordError) {
    object = try value.checked(as: .object)
    guard let known else { return }
    for member in object.members where !known.contains(where: member.isNamed) {
      throw RecordError(
        field: member.value.path.description,
        problem: "unknown field; known fields: \(known.joined(separator: ", "))")
    }
  }

  func has(_ name: String) -> Bool { object.member(name) != nil }

  func error(_ name: String, _ problem: String) -> RecordError {
    RecordError(field: object.path.key(name).description, problem: problem)
  }

  /// Returns an error of an element of a list.
  func error(_ name: String, at index: Int, _ problem: String) -> RecordError {
    RecordError(
      field: JSONPath(object.path.key(name).steps + [.index(index)]).description, problem: problem)
  }

  /// Returns a required value.
  func value(_ name: String) throws(RecordError) -> JSONValue {
    guard let value = object.member(name) else { throw error(name, "is missing") }
    return value
  }

  /// Decodes the elements of a list; empty if it is absent.
  func list<Element>(
    _ name: String, limit: Int, _ element: (JSONValue) throws(RecordError) -> Element
  ) throws(RecordError) -> [Element] {
    guard let list = try object.member(name)?.checked(as: .array) else { return [] }
    let count = list.elements.reduce(0) { count, _ in count + 1 }
    guard count <= limit else {
      throw error(name, "has \(count) elements, more than \(limit)")
    }
    var elements: [Element] = []
    elements.reserveCapacity(count)
    for value in list.elements { elements.append(try element(value)) }
    return elements
  }

  /// Decodes a text up to the limit; an empty text is equivalent to an absent one.
  func text(_ name: String, limit: TextLimit) throws(RecordError) -> String? {
    guard let value = object.member(name) else { return nil }
    let text = try value.checkedText(limit)
    return text.isEmpty ? nil : text
  }

  /// Decodes a URL with a scheme, or an absolute path on the server. A relative path is an error, because
  /// clients would resolve it against the URL of each page.
  func url(_ name: String) throws(RecordError) -> String? {
    guard let text = try text(name, limit: .bytes(RecordLimits.urlBytes)) else { return nil }
    if text.isURLOrPath { return text }
    let shown = text.excerpt(characters: 100)
    if text.utf8.starts(with: "//".utf8) {
      throw error(name, "\"\(shown)\" has no scheme; write \"https:\(shown)\"")
    }
    let path = shown.hasPrefix("media/") ? "/\(shown)" : "/media/\(shown)"
    throw error(
      name,
      "\"\(shown)\" is a relative URL; write a path that begins with a slash, such as "
        + "\"\(path)\", or a URL with a scheme")
  }

  /// Decodes a required, nonempty text without control characters.
  func name(_ name: String, limit: TextLimit) throws(RecordError) -> String {
    let value = try value(name)
    let text = try value.checkedText(limit)
    if let problem = text.problemAsName { throw value.error(problem) }
    return text
  }

  /// Decodes a name that can be a segment of a path.
  func segmentName(_ name: String, limit: TextLimit) throws(RecordError) -> String {
    let text = try self.name(name, limit: limit)
    if let problem = text.problemAsSegment { throw try value(name).error(problem) }
    return text
  }

  /// Decodes an integer in the range.
  func number(_ name: String, in range: ClosedRange<Int>) throws(RecordError) -> Int? {
    guard let value = object.member(name) else { return nil }
    let number = try value.checkedNumber()
    guard range.contains(number) else {
      throw value.error("\(number) is not in \(range.lowerBound)…\(range.upperBound)")
    }
    return number
  }

  /// Decodes a boolean.
  func boolean(_ name: String) throws(RecordError) -> Bool? {
    guard let value = object.member(name) else { return nil }
    return try value.checked(as: .boolean).truth
  }

  /// Decodes one of the cases of an enumeration.
  func option<Option: RawRepresentable & CaseIterable>(_ name: String) throws(RecordError) -> Option
  where Option.RawValue == String {
    let value = try value(name)
    let text = try value.checked(as: .text).text ?? ""
    guard let option = Option.allCases.first(where: { $0.rawValue.utf8.elementsEqual(text.utf8) })
    else {
      let known = Option.allCases.map(\.rawValue).joined(separator: ", ")
      throw value.error("\"\(text.excerpt(characters: 40))\" is not one of \(known)")
    }
    return option
  }

  /// Decodes a language tag (RFC 5646).
  func language(_ name: String) throws(RecordError) -> String? {
    guard let text = try text(name, limit: .bytes(RecordLimits.languageBytes)) else { return nil }
    guard LanguageTag.isWellFormed(text) else {
      throw error(
        name, "\"\(text.excerpt(characters: 40))\" is not a language tag such as en or pt-BR")
    }
    return text
  }

  /// Decodes an object that is stored unchanged; an empty one is equivalent to an absent one.
  func extra(_ name: String) throws(RecordError) -> Extra? {
    guard let value = try object.member(name)?.checked(as: .object) else { return nil }
    let depth = value.depth
    guard depth <= RecordLimits.extraDepth else {
      throw value.error("is nested \(depth) levels deep, more than \(RecordLimits.extraDepth)")
    }
    let json = value.compactJSON
    guard json.count <= RecordLimits.extraBytes else {
      throw value.error("has \(json.count) bytes, more than \(RecordLimits.extraBytes)")
    }
    return json.count > 2 ? Extra(checkedJSON: String(decoding: json, as: UTF8.self)) : nil
  }

  func time(_ name: String) throws(RecordError) -> Timestamp? {
    guard let text = try text(name, limit: .bytes(64)) else { return nil }
    do throws(TimestampError) {
      return try Timestamp(rfc3339: text)
    } catch {
      switch error {
      case .malformed:
        throw self.error(
          name, "\"\(text)\" is not an RFC 3339 time such as 2012-07-28T23:05:56Z")
      case .outOfRange(let part): throw self.error(name, "\"\(text)\" has no such \(part)")
      case .tooPrecise: throw self.error(name, "\"\(text)\" has more than nine decimals")
      }
    }
  }
}

/// The maximum size of a text.
enum TextLimit {
  /// In bytes of UTF-8: for machine-readable text, and for names in URLs.
  case bytes(Int)
  /// In Unicode code points, as JSON Schema and most databases count: for human text.
  case characters(Int)
}

extension JSONValue {
  func error(_ problem: String) -> RecordError {
    RecordError(field: path.description, problem: problem)
  }

  /// Returns the value if it has this kind.
  func checked(as wanted: JSONKind) throws(RecordError) -> JSONValue {
    if kind == wanted { return self }
    let words =
      switch wanted {
      case .object: "an object"
      case .array: "a list"
      case .text: "a text"
      case .number: "a whole number"
      case .boolean: "true or false"
      case .null: "null"
      }
    throw error(
      kind == .null ? "is null, not \(words); leave out what is unknown" : "is not \(words)")
  }

  func checkedText(_ limit: TextLimit) throws(RecordError) -> String {
    let text = try checked(as: .text).text ?? ""
    if let problem = text.problem(limit) { throw error(problem) }
    return text
  }

  func checkedNumber() throws(RecordError) -> Int {
    guard let number = try checked(as: .number).wholeNumber else {
      throw error("is not a whole number")
    }
    return number
  }
}

extension String {
  /// The problem of the string as a text of a record; `nil` if there is none.
  func problem(_ limit: TextLimit) -> String? {
    switch limit {
    case .bytes(let most):
      if utf8.count > most { return "has \(utf8.count) bytes, more than \(most)" }
    case .characters(let most):
      // Each character has at least one byte, so few bytes need no count.
      if utf8.count > most, unicodeScalars.count > most {
        return "has \(unicodeScalars.count) characters, more than \(most)"
      }
    }
    return utf8.contains(0) ? "contains a NUL character" : nil
  }

  /// Whether it begins with a scheme (RFC 3986 section 3.1), or with a single slash.
  fileprivate var isURLOrPath: Bool {
    if utf8.first == UInt8(ascii: "/") { return !utf8.dropFirst().starts(with: "/".utf8) }
    let scheme = utf8.prefix { $0 != UInt8(ascii: ":") }
    func isLetter(_ byte: UInt8) -> Bool {
      (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte | 0x20)
    }
    return scheme.endIndex < utf8.endIndex && scheme.first.map(isLetter) == true
      && scheme.allSatisfy {
        isLetter($0) || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0)
          || "+-.".utf8.contains($0)
      }
  }

  /// The problem of a name as a segment of a path: clients remove `.` and `..` from URLs, even if they are
  /// encoded (RFC 3986 section 5.2.4, https://url.spec.whatwg.org/#double-dot-path-segment).
  var problemAsSegment: String? {
    self == "." || self == ".."
      ? "is \"\(self)\", which a URL cannot contain: clients take it for a folder" : nil
  }

  /// The problem of the string as a name; `nil` if there is none.
  var problemAsName: String? {
    if isEmpty { return "is empty" }
    return utf8.allSatisfy { $0 >= 0x20 && $0 != 0x7f } ? nil : "contains a control character"
  }
}
