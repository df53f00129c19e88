import JSON

/// What is there of the right kind: others leave out what they do not know, write null, or something else.
extension JSONValue {
  /// The member of this name, unless it is null.
  func present(_ name: String) -> JSONValue? {
    member(name).flatMap { $0.kind == .null ? nil : $0 }
  }

  /// The text of this name, without white space around it.
  func text(_ name: String) -> String? { member(name)?.text?.trimmed }

  /// The text or whole number of this name: ids are both.
  func id(_ name: String) -> String? {
    guard let value = member(name) else { return nil }
    return value.text?.trimmed ?? value.wholeNumber.map { String($0) }
  }

  /// The number of this name, rounded.
  func number(_ name: String) -> Int? { Int(rounding: member(name)?.number) }

  /// Whether the member of this name is true.
  func isTrue(_ name: String) -> Bool { member(name)?.truth == true }

  /// The elements of the list of this name.
  func list(_ name: String) -> [JSONValue] { member(name).map { Array($0.elements) } ?? [] }
}
