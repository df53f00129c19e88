/// Characters that HTML calls by name or number.
enum HTMLEntity {
  /// What stands between `&` and `;`, as the character that it is; nil where it is none that is known.
  static func text(_ name: String) -> String? {
    guard name.hasPrefix("#") else { return byName[name] }
    let digits = name.dropFirst()
    let isHex = digits.hasPrefix("x") || digits.hasPrefix("X")
    let digitsAlone = isHex ? digits.dropFirst() : digits
    guard digitsAlone.utf8.allSatisfy({ $0.isDigit || (isHex && $0.isLetter) }),
      !digitsAlone.isEmpty
    else { return nil }
    // What is no character becomes one that says so (HTML, section 13.2.5.80).
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

  /// U+00A0 to U+00FF, in their order.
  private static let latin = """
    nbsp iexcl cent pound curren yen brvbar sect uml copy ordf laquo not shy reg macr deg plusmn sup2 sup3
    acute micro para middot cedil sup1 ordm raquo frac14 frac12 frac34 iquest Agrave Aacute Acirc Atilde
    Auml Aring AElig Ccedil Egrave Eacute Ecirc Euml Igrave Iacute Icirc Iuml ETH Ntilde Ograve Oacute Ocirc
    Otilde Ouml times Oslash Ugrave Uacute Ucirc Uuml Yacute THORN szlig agrave aacute acirc atilde auml
    aring aelig ccedil egrave eacute ecirc euml igrave iacute icirc iuml eth ntilde ograve oacute ocirc
    otilde ouml divide oslash ugrave uacute ucirc uuml yacute thorn yuml
    """
}
