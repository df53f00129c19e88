import Feed
import JSON

/// Makes posts from JSON objects of any kind; mappings with paths name the fields.
///
/// A path names nested members: `content.body`. In an array, `[0]` is an element and `[]` all of them:
/// `images[].src`. If a member's own name equals the whole path, the path means that member.
struct JSONMapping {
  private let fields: [(path: String, field: ColumnField)]

  init(_ mappings: [ColumnMapping]) {
    fields = mappings.map { ($0.column, $0.field) }
  }

  /// Makes a record from an object.
  func translate(_ object: JSONValue, _ lines: inout JSONLines, _ translation: inout Translation) {
    let line = lines.line(of: object)
    do throws(FormatError) {
      guard !fields.isEmpty else {
        throw FormatError(
          "--map field=path is required; the members are \(Self.names(object))")
      }
      var draft = MappedPost(feed: translation.settings.feed, zone: translation.settings.timeZone)
      var used: Set<String> = []
      var isMapped = false
      for (path, field) in fields {
        let values = try Self.values(of: object, at: path)
        isMapped = isMapped || !values.isEmpty
        used.insert(Self.steps(path).first?.name ?? path)
        used.insert(path)
        try Self.set(field, values, path, &draft)
      }
      guard isMapped else {
        throw FormatError(
          "no mapped value is present; the members are \(Self.names(object)), the fields "
            + ColumnField.known)
      }
      let (post, placements) = try draft.record(
        .json, identity: String(decoding: object.compactJSON, as: UTF8.self),
        &translation.omissions)
      translation.add(post, placements, line: line)
      translation.omissions.add(.column, object.members.count { !used.contains($0.name) })
    } catch {
      translation.refuse(error.description, line: line)
    }
  }

  private static func names(_ object: JSONValue) -> String {
    object.members.prefix(40).map(\.name).joined(separator: ", ")
  }

  private static func set(
    _ field: ColumnField, _ values: [JSONValue], _ path: String, _ draft: inout MappedPost
  ) throws(FormatError) {
    if case .extra(let name) = field, let value = values.first, values.count == 1 {
      draft.add(extra: name, value)
      return
    }
    let values = values.flatMap { $0.kind == .array ? Array($0.elements) : [$0] }
      .filter { $0.kind != .null }
    for (index, value) in values.enumerated() {
      guard let text = try text(of: value, path) else { continue }
      switch field {
      case .tags: draft.add(tag: text)
      case .media(let first, let part): try draft.set(.media(first + index, part), text)
      default:
        guard values.count == 1 else {
          throw FormatError("\(path): has \(values.count) values; [0] selects the first")
        }
        try draft.set(field, text)
      }
    }
  }

  /// The text of a single value; nil if it is empty.
  private static func text(of value: JSONValue, _ path: String) throws(FormatError) -> String? {
    switch value.kind {
    case .text: return value.text?.trimmed
    case .object:
      throw FormatError("\(path): is an object; continue the path to a member: \(names(value))")
    case .array: throw FormatError("\(path): is a list within a list")
    case .null: return nil
    case .number, .boolean: return String(decoding: value.compactJSON, as: UTF8.self)
    }
  }

  // MARK: Paths

  private enum Choice { case element(Int), all }

  /// Splits a path into the members that it names, with the elements chosen from each.
  private static func steps(_ path: String) -> [(name: String, choices: [Choice])] {
    path.split(separator: ".").map { part in
      let pieces = part.split(separator: "[", omittingEmptySubsequences: false)
      let choices = pieces.dropFirst().map { piece in
        let text = piece.drop { $0 == " " }.prefix { $0 != "]" }
        return Int(text).map { Choice.element($0) } ?? .all
      }
      return (String(pieces[0]), choices)
    }
  }

  private static func values(
    of object: JSONValue, at path: String
  ) throws(FormatError) -> [JSONValue] {
    if let value = object.member(path) { return [value] }
    var values = [object]
    for (name, choices) in steps(path) {
      if !name.isEmpty { values = values.compactMap { $0.member(name) } }
      for choice in choices {
        switch choice {
        case .all: values = values.flatMap { Array($0.elements) }
        case .element(let index):
          values = values.compactMap { value in
            var elements = value.elements.makeIterator()
            for _ in 0..<index where elements.next() == nil { return nil }
            return elements.next()
          }
        }
      }
    }
    return values.filter { $0.kind != .null }
  }
}
