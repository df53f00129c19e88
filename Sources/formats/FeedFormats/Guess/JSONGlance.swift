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

/// What an XML document's first element is called, without reading the document.
enum XMLGlance {
  /// The name without its prefix; nil where it does not come.
  static func root(of text: ArraySlice<UInt8>) -> String? {
    var rest = text
    while let start = rest.firstIndex(of: UInt8(ascii: "<")) {
      rest = rest[(start + 1)...]
      guard let byte = rest.first else { return nil }
      if byte == UInt8(ascii: "?") || byte == UInt8(ascii: "!") {
        guard let behind = end(of: rest) else { return nil }
        rest = behind
        continue
      }
      let name = rest.prefix {
        !$0.isSpace && $0 != UInt8(ascii: ">") && $0 != UInt8(ascii: "/")
      }.prefix(80)
      let local = name.split(separator: UInt8(ascii: ":")).last ?? []
      return String(decoding: local, as: UTF8.self)
    }
    return nil
  }

  /// What follows a comment, a processing instruction, or a document type with what is in it.
  private static func end(of rest: ArraySlice<UInt8>) -> ArraySlice<UInt8>? {
    if rest.starts(with: Array("!--".utf8)) {
      var index = rest.startIndex + 3
      while index + 3 <= rest.endIndex {
        if rest[index..<index + 3].elementsEqual("-->".utf8) { return rest[(index + 3)...] }
        index += 1
      }
      return nil
    }
    var depth = 0
    for index in rest.indices {
      switch rest[index] {
      case UInt8(ascii: "["): depth += 1
      case UInt8(ascii: "]"): depth -= 1
      case UInt8(ascii: ">") where depth <= 0: return rest[(index + 1)...]
      default: break
      }
    }
    return nil
  }
}
