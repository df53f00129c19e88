/// The character classes of RFC 9110 section 5.6 and RFC 3986, each as two 64-bit masks, so that a test is a
/// shift and nothing is initialized at run time.
extension UInt8 {
  static let horizontalTab: UInt8 = 0x09
  static let lineFeed: UInt8 = 0x0A
  static let carriageReturn: UInt8 = 0x0D
  static let space: UInt8 = 0x20

  /// `tchar` (RFC 9110 section 5.6.2).
  package var isTokenCharacter: Bool {
    isIn(0x03FF_6CFA_0000_0000, 0x57FF_FFFF_C7FF_FFFE)
  }

  /// A character of a field value: VCHAR, obs-text, space, tab (RFC 9110 section 5.5).
  var isFieldValueCharacter: Bool {
    (self >= 0x20 && self != 0x7F) || self == .horizontalTab
  }

  /// Printable ASCII without space.
  var isVisible: Bool { self > 0x20 && self < 0x7F }

  /// Optional white space (RFC 9110 section 5.6.3).
  var isOptionalWhitespace: Bool { self == .space || self == .horizontalTab }

  var isDigit: Bool { self &- 0x30 < 10 }

  /// `unreserved` (RFC 3986 section 2.3).
  var isUnreserved: Bool {
    isIn(0x03FF_6000_0000_0000, 0x47FF_FFFE_87FF_FFFE)
  }

  /// A character of a label of a host's name: a letter, a digit, `-` or `_`.
  var isInLabel: Bool {
    isIn(0x03FF_2000_0000_0000, 0x07FF_FFFE_87FF_FFFE)
  }

  /// `sub-delims` (RFC 3986 section 2.2): `!$&'()*+,;=`.
  var isSubDelimiter: Bool {
    isIn(0x2800_1FD2_0000_0000, 0)
  }

  /// The value of a hexadecimal digit.
  var hexadecimalValue: UInt8? {
    switch self {
    case 0x30...0x39: self &- 0x30
    case 0x41...0x46: self &- 0x37
    case 0x61...0x66: self &- 0x57
    default: nil
    }
  }

  /// The lower-case form of an ASCII capital; any other byte as it is.
  var asciiLowercased: UInt8 { self &- 0x41 < 26 ? self | 0x20 : self }

  @inline(__always)
  private func isIn(_ low: UInt64, _ high: UInt64) -> Bool {
    guard self < 128 else { return false }
    let mask = self < 64 ? low : high
    return (mask &>> UInt64(self & 63)) & 1 == 1
  }
}
