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
