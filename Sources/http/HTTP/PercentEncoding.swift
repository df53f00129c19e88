/// Percent-encoding (RFC 3986 section 2.1): text is decoded exactly once, and refused if it is malformed.
public enum PercentEncoding {
  /// The place of encoded text, which determines the characters that stay as they are.
  public enum Place: Sendable {
    /// One segment of a path: `pchar` stays (RFC 3986 section 3.3).
    case pathSegment
    /// A name or value of a query: only unreserved characters stay, so that parsers of forms read it as well.
    case queryValue
  }

  /// The decoded text.
  public static func decode(_ text: some StringProtocol) throws(PercentEncodingError) -> String {
    try decode(Array(text.utf8)[...], plusIsSpace: false)
  }

  /// The decoded text of encoded bytes.
  public static func decode(bytes: [UInt8]) throws(PercentEncodingError) -> String {
    try decode(bytes[...], plusIsSpace: false)
  }

  static func decode(
    _ raw: ArraySlice<UInt8>, plusIsSpace: Bool
  ) throws(PercentEncodingError) -> String {
    if let text = plainText(raw) { return text }
    var bytes: [UInt8] = []
    bytes.reserveCapacity(raw.count)
    var iterator = raw.makeIterator()
    var offset = 0
    while let byte = iterator.next() {
      var decoded = byte
      var width = 1
      if byte == UInt8(ascii: "%") {
        guard let high = iterator.next()?.hexadecimalValue,
          let low = iterator.next()?.hexadecimalValue
        else { throw PercentEncodingError(reason: .malformedEscape, offset: offset) }
        decoded = high << 4 | low
        width = 3
      } else if byte == UInt8(ascii: "+"), plusIsSpace {
        decoded = .space
      }
      guard decoded != 0 else { throw PercentEncodingError(reason: .nul, offset: offset) }
      bytes.append(decoded)
      offset += width
    }
    if let text = String(validating: bytes, as: UTF8.self) { return text }
    throw PercentEncodingError(reason: .invalidUTF8, offset: invalidOffset(in: raw, of: bytes))
  }

  /// The text if it is ASCII without any encoding, as most is.
  private static func plainText(_ raw: ArraySlice<UInt8>) -> String? {
    raw.withUnsafeBufferPointer { raw in
      // Checks many bytes at once: for NUL, bytes that are not ASCII, `%` and `+`.
      var others: UInt8 = 0
      for byte in raw {
        let isOther = byte == UInt8(ascii: "%") ? 1 : byte == UInt8(ascii: "+") ? 1 : 0 as UInt8
        others |= isOther | (byte &- 1 < 0x7F ? 0 : 1)
      }
      return others == 0 ? String(decoding: raw, as: UTF8.self) : nil
    }
  }

  /// The text with all characters encoded that `place` does not permit.
  public static func encode(_ text: some StringProtocol, for place: Place) -> String {
    var bytes: [UInt8] = []
    append(String(text), for: place, to: &bytes)
    return String(decoding: bytes, as: UTF8.self)
  }

  /// Appends the text with all characters encoded that `place` does not permit.
  public static func append(_ text: String, for place: Place, to bytes: inout [UInt8]) {
    var text = text
    text.withUTF8 { text in
      // Most names consist of such characters only.
      if text.allSatisfy(\.isUnreserved) { return bytes.append(contentsOf: text) }
      for byte in text {
        if byte.isUnreserved || (place == .pathSegment && byte.isPathCharacter) {
          bytes.append(byte)
        } else {
          bytes.append(UInt8(ascii: "%"))
          bytes.append(hexadecimalDigit(byte >> 4))
          bytes.append(hexadecimalDigit(byte & 15))
        }
      }
    }
  }

  private static func hexadecimalDigit(_ value: UInt8) -> UInt8 {
    value < 10 ? 0x30 + value : 0x41 + value - 10
  }

  /// The offset in `raw` of the first byte that makes `decoded` invalid UTF-8.
  private static func invalidOffset(in raw: ArraySlice<UInt8>, of decoded: [UInt8]) -> Int {
    var valid = 0
    var decoder = UTF8()
    var iterator = decoded.makeIterator()
    while case .scalarValue(let scalar) = decoder.decode(&iterator) {
      valid += UTF8.width(scalar)
    }
    var offset = 0
    var index = raw.startIndex
    for _ in 0..<valid {
      let width = raw[index] == UInt8(ascii: "%") ? 3 : 1
      index = raw.index(index, offsetBy: width)
      offset += width
    }
    return offset
  }
}

extension UInt8 {
  /// `pchar` without percent-encoded bytes and `unreserved` (RFC 3986 section 3.3).
  fileprivate var isPathCharacter: Bool {
    isSubDelimiter || self == UInt8(ascii: ":") || self == UInt8(ascii: "@")
  }
}

/// The segments of a path (RFC 3986 section 3.3).
public enum PathSegments {
  /// Whether the raw path encodes no character that never needs encoding (RFC 3986 section 2.3): letters,
  /// digits, `-`, `.`, `_`. (Some clients encode `~`.) Otherwise the path is another spelling of one for
  /// which a proxy may have rules.
  public static func isPlainlySpelt(_ path: some StringProtocol) -> Bool {
    var rest = path.utf8[...]
    while let percent = rest.firstIndex(of: UInt8(ascii: "%")) {
      let digits = rest[percent...].dropFirst().prefix(2).compactMap(\.hexadecimalValue)
      rest = rest[percent...].dropFirst()
      guard digits.count == 2 else { continue }
      let byte = digits[0] << 4 | digits[1]
      if byte.isUnreserved, byte != UInt8(ascii: "~") { return false }
    }
    return true
  }

  /// The segments of the path. It is split first, and each segment is then decoded once, so that an encoded
  /// slash stays inside its segment. A trailing slash gives an empty last segment; `/` gives one empty
  /// segment.
  public static func split(
    _ path: some StringProtocol
  ) throws(PercentEncodingError) -> [String] {
    var segments: [String] = []
    var offset = 0
    for piece in path.utf8.dropFirst().split(
      separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
    {
      offset += 1
      do throws(PercentEncodingError) {
        segments.append(try PercentEncoding.decode(Array(piece)[...], plusIsSpace: false))
      } catch {
        throw PercentEncodingError(reason: error.reason, offset: offset + error.offset)
      }
      offset += piece.count
    }
    return segments
  }
}

/// An error of percent-decoding, with its place.
public struct PercentEncodingError: Error, Sendable, Hashable {
  /// What is wrong.
  public enum Reason: Sendable, Hashable {
    /// `%` without two hexadecimal digits after it.
    case malformedEscape
    /// `%00`, which no name here contains and which ends a string in C.
    case nul
    /// The decoded bytes are not UTF-8.
    case invalidUTF8
  }

  /// What is wrong.
  public let reason: Reason
  /// The offset of the error in the encoded text, in bytes.
  public let offset: Int

  /// An error at an offset of the encoded text.
  public init(reason: Reason, offset: Int) {
    self.reason = reason
    self.offset = offset
  }
}

extension PercentEncodingError: CustomStringConvertible {
  /// What is wrong, as a noun phrase.
  public var description: String {
    let what =
      switch reason {
      case .malformedEscape: "a % without two hexadecimal digits"
      case .nul: "an encoded NUL"
      case .invalidUTF8: "bytes that are not UTF-8"
      }
    return "\(what) at offset \(offset)"
  }
}
