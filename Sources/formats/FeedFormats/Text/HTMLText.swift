import Feed

/// The visible text of HTML: paragraphs and lines, without tags and entities.
///
/// It reads any text in one pass, as browsers do (HTML, section 13.2.5): what is not a tag is text, and an
/// unclosed tag extends to the end.
struct HTMLText {
  /// The text.
  private(set) var plain = ""
  /// The sources of the pictures in the text; an empty string for one without a source.
  private(set) var pictures: [String] = []

  private let bytes: [UInt8]
  private var position = 0
  private var output: [UInt8] = []
  /// The number of line ends to write before the next output.
  private var breaks = 0
  private var isSpaceDue = false

  private static let paragraphs: Set<String> = [
    "p", "h1", "h2", "h3", "h4", "h5", "h6", "blockquote", "ul", "ol", "dl", "pre", "table",
    "figure",
    "section", "article", "hr",
  ]
  private static let lines: Set<String> = [
    "div", "li", "tr", "dt", "dd", "figcaption", "header", "footer", "aside", "main", "nav", "form",
  ]
  private static let hidden: Set<String> = ["script", "style", "template", "noscript", "iframe"]

  /// Extracts the text of `html`.
  init(_ html: String) {
    bytes = Array(html.utf8)
    output.reserveCapacity(bytes.count)
    while position < bytes.count { step() }
    plain = String(decoding: output, as: UTF8.self)
  }

  private mutating func step() {
    let byte = bytes[position]
    switch byte {
    case UInt8(ascii: "<") where beginsTag: takeTag()
    case UInt8(ascii: "&"): takeReference()
    case let byte where byte.isSpace:
      isSpaceDue = true
      position += 1
    default:
      let rest = bytes[(position + 1)...].prefix { !Self.isSpecial($0) }
      append(bytes[position..<rest.endIndex])
      position = rest.endIndex
    }
  }

  private static func isSpecial(_ byte: UInt8) -> Bool {
    byte == UInt8(ascii: "<") || byte == UInt8(ascii: "&") || byte.isSpace
  }

  private mutating func append(_ text: some Collection<UInt8>) {
    if !output.isEmpty {
      if breaks > 0 {
        output.append(contentsOf: repeatElement(UInt8(ascii: "\n"), count: breaks))
      } else if isSpaceDue {
        output.append(UInt8(ascii: " "))
      }
    }
    (breaks, isSpaceDue) = (0, false)
    output.append(contentsOf: text)
  }

  // MARK: Tags

  private var beginsTag: Bool {
    guard position + 1 < bytes.count else { return false }
    let next = bytes[position + 1]
    return next.isLetter || next == UInt8(ascii: "/") || next == UInt8(ascii: "!")
      || next == UInt8(ascii: "?")
  }

  private mutating func takeTag() {
    if bytes[position...].starts(with: Array("<!--".utf8)) {
      position = end(of: Array("-->".utf8), from: position + 4)
      return
    }
    var start = position + 1
    let isEnd = bytes[start] == UInt8(ascii: "/")
    if isEnd { start += 1 }
    let nameBytes = bytes[start...].prefix { $0.isLetter || $0.isDigit }
    let name = String(decoding: nameBytes.map(\.lowercased), as: UTF8.self)
    position = endOfTag(from: start + nameBytes.count)
    let attributes = bytes[(start + nameBytes.count)..<max(position - 1, start + nameBytes.count)]
    if name == "br" {
      breaks = min(breaks + 1, 2)
    } else if Self.paragraphs.contains(name) {
      breaks = 2
    } else if Self.lines.contains(name) {
      breaks = max(breaks, 1)
    } else if name == "td" || name == "th" {
      isSpaceDue = true
    } else if name == "img" {
      let source = Self.value(of: "src", in: attributes)
      // A source may contain references, but no tags.
      pictures.append(source.map { HTMLText($0).plain } ?? "")
    } else if !isEnd, Self.hidden.contains(name) {
      position = end(of: Array("</\(name)".utf8), from: position)
      position = endOfTag(from: position)
    }
  }

  /// The value of an attribute (HTML, section 13.1.2.3); nil if the tag does not have it.
  private static func value(of name: String, in attributes: ArraySlice<UInt8>) -> String? {
    var rest = attributes
    while let start = rest.firstIndex(where: { !$0.isSpace && $0 != UInt8(ascii: "/") }) {
      rest = rest[start...]
      let key = rest.prefix { !$0.isSpace && $0 != UInt8(ascii: "=") }
      rest = rest[key.endIndex...].drop(while: \.isSpace)
      guard rest.first == UInt8(ascii: "=") else {
        // An attribute without a value. A character that begins no name is skipped.
        if key.isEmpty { rest = rest.dropFirst() }
        continue
      }
      rest = rest.dropFirst().drop(while: \.isSpace)
      let quote = rest.first.flatMap {
        $0 == UInt8(ascii: "\"") || $0 == UInt8(ascii: "'") ? $0 : nil
      }
      if quote != nil { rest = rest.dropFirst() }
      let value = rest.prefix { byte in quote.map { byte != $0 } ?? !byte.isSpace }
      rest = rest[value.endIndex...].dropFirst(quote == nil ? 0 : 1)
      if key.map(\.lowercased).elementsEqual(name.utf8) {
        return String(decoding: value, as: UTF8.self)
      }
    }
    return nil
  }

  /// The number of pictures that are not among these files, and so are not kept.
  func lostPictures(beside files: [Media], base: String?) -> Int {
    pictures.count { source in
      let url = WebAddress.resolve(source, base: base)
      return !files.contains { $0.url.isSame(as: url ?? "") || $0.poster.isSame(as: url ?? "") }
    }
  }

  /// The index after the `>` that ends a tag, ignoring those between quotation marks.
  private func endOfTag(from start: Int) -> Int {
    var quote: UInt8?
    for index in bytes[start...].indices {
      let byte = bytes[index]
      if let open = quote {
        if byte == open { quote = nil }
      } else if byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "'") {
        quote = byte
      } else if byte == UInt8(ascii: ">") {
        return index + 1
      }
    }
    return bytes.count
  }

  /// The index after the next occurrence of these bytes, ignoring the case of letters.
  private func end(of text: [UInt8], from start: Int) -> Int {
    var index = start
    while index + text.count <= bytes.count {
      if bytes[index..<index + text.count].elementsEqual(text, by: { $0.lowercased == $1 }) {
        return index + text.count
      }
      index += 1
    }
    return bytes.count
  }

  // MARK: References

  private mutating func takeReference() {
    let longest = 32
    let rest = bytes[(position + 1)...].prefix(longest)
    guard let end = rest.firstIndex(of: UInt8(ascii: ";")),
      let text = HTMLEntity.text(String(decoding: rest[..<end], as: UTF8.self))
    else {
      append([UInt8(ascii: "&")])
      position += 1
      return
    }
    append(Array(text.utf8))
    position = end + 1
  }
}

/// HTML character references, by name or number.
enum HTMLEntity {
  /// The character for the text between `&` and `;`; nil if it is unknown.
  static func text(_ name: String) -> String? {
    guard name.hasPrefix("#") else { return byName[name] }
    let digits = name.dropFirst()
    let isHex = digits.hasPrefix("x") || digits.hasPrefix("X")
    let digitsAlone = isHex ? digits.dropFirst() : digits
    guard digitsAlone.utf8.allSatisfy({ $0.isDigit || (isHex && $0.isLetter) }),
      !digitsAlone.isEmpty
    else { return nil }
    // An invalid number becomes U+FFFD (HTML, section 13.2.5.80).
    let scalar = UInt32(digitsAlone, radix: isHex ? 16 : 10).flatMap(Unicode.Scalar.init)
    return scalar.map { $0.value == 0 ? "\u{fffd}" : String($0) } ?? "\u{fffd}"
  }

  private static let byName: [String: String] = {
    var names: [String: String] = [
      "amp": "&", "lt": "<", "gt": ">", "quot": "\"", "apos": "'", "AMP": "&", "LT": "<", "GT": ">",
      "ndash": "–", "mdash": "—", "lsquo": "‘", "rsquo": "’", "sbquo": "‚", "ldquo": "“",
      "rdquo": "”", "bdquo": "„", "hellip": "…", "bull": "•", "euro": "€", "trade": "™",
      "dagger": "†", "Dagger": "‡", "permil": "‰", "lsaquo": "‹", "rsaquo": "›", "OElig": "Œ",
      "oelig": "œ", "Scaron": "Š", "scaron": "š", "Yuml": "Ÿ", "fnof": "ƒ", "circ": "ˆ",
      "tilde": "˜",
      "larr": "←", "uarr": "↑", "rarr": "→", "darr": "↓", "minus": "−", "prime": "′", "Prime": "″",
      "infin": "∞", "ne": "≠", "le": "≤", "ge": "≥", "hearts": "♥", "ensp": "\u{2002}",
      "emsp": "\u{2003}", "thinsp": "\u{2009}", "zwnj": "\u{200c}", "zwj": "\u{200d}",
      "lrm": "\u{200e}", "rlm": "\u{200f}",
    ]
    for (index, name) in latin.split(whereSeparator: \.isWhitespace).enumerated() {
      names[String(name)] = Unicode.Scalar(UInt32(160 + index)).map { String($0) }
    }
    return names
  }()

  /// U+00A0 to U+00FF, in order.
  private static let latin = """
    nbsp iexcl cent pound curren yen brvbar sect uml copy ordf laquo not shy reg macr deg plusmn sup2 sup3
    acute micro para middot cedil sup1 ordm raquo frac14 frac12 frac34 iquest Agrave Aacute Acirc Atilde
    Auml Aring AElig Ccedil Egrave Eacute Ecirc Euml Igrave Iacute Icirc Iuml ETH Ntilde Ograve Oacute Ocirc
    Otilde Ouml times Oslash Ugrave Uacute Ucirc Uuml Yacute THORN szlig agrave aacute acirc atilde auml
    aring aelig ccedil egrave eacute ecirc euml igrave iacute icirc iuml eth ntilde ograve oacute ocirc
    otilde ouml divide oslash ugrave uacute ucirc uuml yacute thorn yuml
    """
}

/// A description of a file, within the limit of `alt`. A longer one goes to `extra`, so that no post is
/// refused for a long description.
struct AltText {
  /// The value of `alt`.
  let text: String?

  /// Takes the description in the source.
  init(_ words: String?, _ extra: inout ExtraMembers) {
    guard let words, words.unicodeScalars.count > RecordLimits.altCharacters else {
      text = words
      return
    }
    text = nil
    extra.add("description", text: words)
  }
}
