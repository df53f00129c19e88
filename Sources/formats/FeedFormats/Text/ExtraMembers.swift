import Feed
import JSON

/// Members of `extra` for parts of other formats that records have no field for, under
/// the names of those formats.
struct ExtraMembers {
  private var members: [(name: String, json: [UInt8])] = []

  /// Adds a value unchanged, unless it is null, false, or empty.
  mutating func add(_ name: String, _ value: JSONValue?) {
    guard let value, Self.saysSomething(value) else { return }
    members.append((name, value.compactJSON))
  }

  /// Adds a text, unless it is nil or empty.
  mutating func add(_ name: String, text: String?) {
    guard let text, !text.isEmpty else { return }
    var writer = JSONWriter(capacity: text.utf8.count + 2)
    writer.string(text)
    members.append((name, writer.bytes))
  }

  /// Adds the members of an object with these names.
  mutating func add(_ names: [String], of object: JSONValue) {
    for name in names { add(name, object.member(name)) }
  }

  /// All members; nil if there are none.
  var extra: Extra? {
    guard !members.isEmpty else { return nil }
    var writer = JSONWriter(capacity: 256)
    writer.object { writer in
      for (name, json) in members {
        writer.key(text: name)
        writer.raw(json)
      }
    }
    return Extra(checkedJSON: String(decoding: writer.bytes, as: UTF8.self))
  }

  private static func saysSomething(_ value: JSONValue) -> Bool {
    switch value.kind {
    case .null: false
    case .boolean: value.truth == true
    case .text: value.text?.trimmed != nil
    case .array: value.elements.contains { _ in true }
    case .object: value.members.contains { _ in true }
    case .number: true
    }
  }
}
