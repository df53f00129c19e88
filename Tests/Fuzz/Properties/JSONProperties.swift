import Foundation
import JSON

/// What must hold of a JSON text, whatever bytes it is.
enum JSONProperties {
  /// What does not hold, as a sentence: what is read here, Foundation reads as well, and as the same.
  static func fault(in bytes: [UInt8]) -> String? {
    guard let root = try? JSONDocument(bytes).root else { return nil }
    // Foundation has no number that is beyond a Double.
    guard areFinite(root, bytes) else { return nil }
    let options: JSONSerialization.ReadingOptions = .fragmentsAllowed
    guard let other = try? JSONSerialization.jsonObject(with: Data(bytes), options: options) else {
      return "\(text(bytes)) is read here and refused by Foundation"
    }
    return isSame(root, other) ? nil : "\(text(bytes)) is read as something else by Foundation"
  }

  private static func areFinite(_ value: JSONValue, _ bytes: [UInt8]) -> Bool {
    // A number of more digits, or of a larger exponent, than any that the tests are about.
    switch value.kind {
    case .number: value.wholeNumber != nil || Double(number(value, bytes))?.isFinite == true
    case .array: value.elements.allSatisfy { areFinite($0, bytes) }
    case .object: value.members.allSatisfy { areFinite($0.value, bytes) }
    default: true
    }
  }

  private static func number(_ value: JSONValue, _ bytes: [UInt8]) -> String {
    String(decoding: bytes[value.byteRange], as: UTF8.self)
  }

  private static func isSame(_ value: JSONValue, _ other: Any) -> Bool {
    switch value.kind {
    case .null: return other is NSNull
    case .boolean: return other is Bool
    case .text:
      guard let text = value.text, let other = other as? String else { return false }
      return withoutMarks(text).elementsEqual(withoutMarks(other))
    case .number:
      guard let number = other as? NSNumber else { return false }
      // Foundation may have gone by way of a Double.
      guard let whole = value.wholeNumber, whole.magnitude < 1 << 53 else { return true }
      return number.int64Value == whole && number.doubleValue == Double(whole)
    case .array:
      guard let list = other as? [Any] else { return false }
      let elements = value.elements.map { $0 }
      return elements.count == list.count && zip(elements, list).allSatisfy(isSame)
    case .object:
      guard let object = other as? [String: Any] else { return false }
      // To a dictionary of Swift's, names that are canonically equivalent are one.
      let names = Dictionary(grouping: value.members) { $0.name }
      if names.keys.contains(where: { $0.unicodeScalars.contains("\u{feff}") }) { return true }
      return names.count == object.count
        && names.allSatisfy { name, members in
          members.count > 1 || object[name].map { isSame(members[0].value, $0) } == true
        }
    }
  }

  /// Foundation takes U+FEFF at the start of a text, or behind an escape, for a byte order mark and drops it.
  private static func withoutMarks(_ text: String) -> [Unicode.Scalar] {
    text.unicodeScalars.filter { $0 != "\u{feff}" }
  }

  private static func text(_ bytes: [UInt8]) -> String { String(decoding: bytes, as: UTF8.self) }
}
