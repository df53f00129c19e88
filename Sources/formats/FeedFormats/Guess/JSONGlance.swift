/// A scan of the first object of a JSON text, as far as the given bytes reach, without parsing the text.
struct JSONGlance {
  /// The object's members: the values that are strings, nil for others.
  private(set) var members: [String: String?] = [:]
  /// The first member that is an array.
  private(set) var firstList: String?
  /// The names of the members of that array's elements.
  private(set) var itemNames: Set<String> = []
  /// Whether the text continues on a line that does not begin with another object.
  private(set) var isOverLines = false

  /// Scans a text that begins with an object or an array of objects.
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

  /// The index of the quotation mark that ends a string, or the end of the text.
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

/// A scan for the root element of an XML document, without parsing the document.
enum XMLGlance {
  /// The root element's name without its prefix; nil if the bytes end before it.
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

  /// Returns what follows a comment, a processing instruction, or a document type with its internal subset.
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
