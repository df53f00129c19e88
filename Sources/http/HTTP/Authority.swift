/// `uri-host [ ":" port ]` (RFC 9110 section 7.2, RFC 3986 section 3.2), without user information.
///
/// The host is an IPv6 address in brackets, or a DNS name (RFC 1123 section 2.1), which includes IPv4
/// addresses: labels of letters, digits, hyphens and underscores (names of containers have underscores). The
/// grammar of a URI permits more (`$(x)`, `a..b`, an empty port), which no client sends for a real host.
public enum Authority {
  private static let maximumLabelBytes = 63
  /// Without the final dot.
  private static let maximumNameBytes = 253

  /// Whether the text is a non-empty host, with a port if there is a colon.
  public static func isWellFormed(_ text: String) -> Bool {
    let bytes = Array(text.utf8)
    return isWellFormed(bytes.span, bytes.indices)
  }

  /// Whether the bytes of `range` are well formed.
  static func isWellFormed(_ bytes: Span<UInt8>, _ range: Range<Int>) -> Bool {
    guard !range.isEmpty else { return false }
    var index = range.lowerBound
    if bytes[index] == UInt8(ascii: "[") {
      index += 1
      let start = index
      while index < range.upperBound, bytes[index] != UInt8(ascii: "]") { index += 1 }
      guard index < range.upperBound, isIPv6(bytes, start..<index) else { return false }
      index += 1
    } else {
      guard let end = endOfName(bytes, range) else { return false }
      index = end
    }
    guard index < range.upperBound else { return true }
    guard bytes[index] == UInt8(ascii: ":") else { return false }
    let port = (index + 1)..<range.upperBound
    guard (1...5).contains(port.count) else { return false }
    var number = 0
    for digit in port {
      guard bytes[digit].isDigit else { return false }
      number = number * 10 + Int(bytes[digit] - 0x30)
    }
    return number <= 65_535
  }

  /// The end of the name at the beginning of the range: a colon, or the end of the range; nil if it is not a
  /// name.
  private static func endOfName(_ bytes: Span<UInt8>, _ range: Range<Int>) -> Int? {
    var labelStart = range.lowerBound
    var index = range.lowerBound
    while index < range.upperBound {
      let byte = bytes[index]
      if !byte.isInLabel {
        if byte == UInt8(ascii: ":") { break }
        guard byte == UInt8(ascii: "."), isLabel(bytes, labelStart..<index) else { return nil }
        labelStart = index + 1
      }
      index += 1
    }
    // A final dot marks the name as complete.
    let isWhole = labelStart == index && index > range.lowerBound
    guard isWhole || isLabel(bytes, labelStart..<index) else { return nil }
    let length = index - range.lowerBound - (isWhole ? 1 : 0)
    return length <= maximumNameBytes ? index : nil
  }

  private static func isLabel(_ bytes: Span<UInt8>, _ label: Range<Int>) -> Bool {
    guard !label.isEmpty, label.count <= maximumLabelBytes else { return false }
    return bytes[label.lowerBound] != UInt8(ascii: "-")
      && bytes[label.upperBound - 1] != UInt8(ascii: "-")
  }

  /// Whether the bytes are an IPv6 address (RFC 4291 section 2.2), without a zone.
  private static func isIPv6(_ bytes: Span<UInt8>, _ range: Range<Int>) -> Bool {
    let colon = UInt8(ascii: ":")
    var index = range.lowerBound
    var groups = 0
    var isShortened = false
    while index < range.upperBound {
      if bytes[index] == colon {
        // Between two groups, or in place of the one run of zeros that is left out.
        let isDouble = index + 1 < range.upperBound && bytes[index + 1] == colon
        guard isDouble ? !isShortened : groups > 0 && index + 1 < range.upperBound else {
          return false
        }
        if isDouble { isShortened = true }
        index += isDouble ? 2 : 1
        if isDouble, index < range.upperBound, bytes[index] == colon { return false }
      }
      let start = index
      while index < range.upperBound, bytes[index].hexadecimalValue != nil { index += 1 }
      if index < range.upperBound, bytes[index] == UInt8(ascii: ".") {
        guard isIPv4(bytes, start..<range.upperBound) else { return false }
        groups += 2
        break
      }
      guard index > start || index == range.upperBound, index - start <= 4 else { return false }
      guard index == range.upperBound || bytes[index] == colon else { return false }
      if index > start { groups += 1 }
    }
    return isShortened ? groups < 8 : groups == 8
  }

  private static func isIPv4(_ bytes: Span<UInt8>, _ range: Range<Int>) -> Bool {
    var numbers = 1
    var digits = 0
    var number = 0
    for index in range {
      if bytes[index] == UInt8(ascii: "."), digits > 0 {
        (numbers, digits, number) = (numbers + 1, 0, 0)
      } else {
        guard bytes[index].isDigit, digits < 3 else { return false }
        number = number * 10 + Int(bytes[index] - 0x30)
        digits += 1
        guard number < 256 else { return false }
      }
    }
    return numbers == 4 && digits > 0
  }
}
