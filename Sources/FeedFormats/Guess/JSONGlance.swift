/// What the first object of a JSON text has, as far as its first bytes go, without reading the text.
struct JSONGlance {
  /// Its members' names, with the values that are texts.
  private(set) var members: [String: String?] = [:]
  /// The first member that is a list.
  private(set) var firstList: String?
  /// The names of members of what is in that list.
  private(set) var itemNames: Set<String> = []
  /// It begins on one line and goes on in another, on which no further object begins.
  private(set) var isOverLines = false

  /// Looks at a text that begins with an object, or an array of objects.
  init(_ text: ArraySlice<UInt8>) {
    var depth = 0
    /// The depth of the first object's members.
    let inner = text.first == UInt8(ascii: "[") ? 2 : 1
    var name: String?
    var index = text.startIndex
    while index < text.endIndex {
      let byte = text[index]
      switch byte {
      case UInt8(ascii: "\""):
        let end = Self.endOfText(text, from: index + 1)
        if depth == inner {
          let string = String(decoding: text[(index + 1)..<end], as: UTF8.self)
          if let known = name {
            members[known] = .some(string)
            name = nil
          } else if Self.isName(text, behind: end) {
            name = string
            members[string] = .some(nil)
          }
        }
        if depth == inner + 2, firstList != nil, Self.isName(text, behind: end) {
          itemNames.insert(String(decoding: text[(index + 1)..<end], as: UTF8.self))
        }
        index = end
      case UInt8(ascii: "{"), UInt8(ascii: "["):
        if depth == inner, byte == UInt8(ascii: "["), firstList == nil { firstList = name }
        depth += 1
      case UInt8(ascii: "}"), UInt8(ascii: "]"):
        depth -= 1
        if depth < inner { return }
      case UInt8(ascii: ",") where depth == inner: name = nil
      case UInt8(ascii: "\n") where !isOverLines:
        let next = text[index...].first { !$0.isSpace }
        if next != UInt8(ascii: "{"), next != nil { isOverLines = true }
      default: break
      }
      index += 1
    }
  }

  /// Where the quotation mark is that ends a text, or the end of all.
  private static func endOfText(_ text: ArraySlice<UInt8>, from start: Int) -> Int {
    var index = start
    while index < text.endIndex {
      if text[index] == UInt8(ascii: "\\") {
        index += 1
      } else if text[index] == UInt8(ascii: "\"") {
        return index
      }
      index += 1
    }
    return text.endIndex
  }

  private static func isName(_ text: ArraySlice<UInt8>, behind end: Int) -> Bool {
    text[min(end + 1, text.endIndex)...].first { !$0.isSpace } == UInt8(ascii: ":")
  }
}
