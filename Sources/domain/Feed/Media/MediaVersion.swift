/// The identity of a version of a file: facts about the file hold as long as it is the same.
public enum MediaVersion: Hashable, Sendable {
  /// The SHA-256 of the file's bytes (FIPS 180-4), 32 bytes.
  case content(sha256: [UInt8])
  /// A URL's strong entity tag, with its quotation marks (RFC 9110 section 8.8.3).
  case entityTag(String)
  /// A URL's `Last-Modified` as its server writes it (RFC 9110 section 8.8.2).
  case modified(String)
  /// There is no file, or it cannot be shown.
  case unavailable

  /// The maximum length of `text`, in bytes of UTF-8.
  public static let textBytes = 1_024

  /// `sha256:9f86…`, `etag:"…"`, `modified:Sun, 06 Nov 1994 08:49:37 GMT` or `unavailable:`.
  public var text: String {
    switch self {
    case .content(let sha256):
      var text = Array("sha256:".utf8)
      for byte in sha256 {
        for digit in [byte >> 4, byte & 15] { text.append(digit + (digit < 10 ? 0x30 : 0x57)) }
      }
      return String(decoding: text, as: UTF8.self)
    case .entityTag(let tag): return "etag:\(tag)"
    case .modified(let time): return "modified:\(time)"
    case .unavailable: return "unavailable:"
    }
  }

  /// A short identity for pages and reports, where bytes matter: eight hexadecimal digits, the first ones
  /// of the content's SHA-256, or else a hash of `text` (FNV-1a).
  public var mark: String {
    var number: UInt32 = 0x811c_9dc5
    if case .content(let sha256) = self {
      number = sha256.prefix(4).reduce(0) { $0 << 8 | UInt32($1) }
    } else {
      for byte in text.utf8 { number = (number ^ UInt32(byte)) &* 0x0100_0193 }
    }
    // A new page writes one for each file: formatting the number as text took twice as many instructions.
    return String(unsafeUninitializedCapacity: Self.markBytes) { digits in
      for place in 0..<Self.markBytes {
        let digit = UInt8(truncatingIfNeeded: number >> (28 - 4 * place)) & 15
        digits[place] = digit < 10 ? UInt8(ascii: "0") + digit : UInt8(ascii: "a") - 10 + digit
      }
      return Self.markBytes
    }
  }

  /// The number of bytes of a mark.
  public static let markBytes = 8

  /// Parses what `text` writes; `nil` for any other text.
  public init?(text: String) {
    guard text.utf8.count <= Self.textBytes,
      text.utf8.allSatisfy({ (0x20...0x7e).contains($0) || $0 >= 0x80 }),
      let colon = text.utf8.firstIndex(of: UInt8(ascii: ":"))
    else { return nil }
    let value = String(text[text.utf8.index(after: colon)...])
    switch text[..<colon] {
    case "sha256":
      guard let digest = Self.bytes(hexadecimal: value), digest.count == 32 else { return nil }
      self = .content(sha256: digest)
    case "etag":
      guard value.utf8.count >= 2, value.hasPrefix("\""), value.hasSuffix("\"") else { return nil }
      self = .entityTag(value)
    case "modified" where !value.isEmpty: self = .modified(value)
    case "unavailable" where value.isEmpty: self = .unavailable
    default: return nil
    }
  }

  /// Whether the versions are identical to the byte.
  public static func == (left: MediaVersion, right: MediaVersion) -> Bool {
    switch (left, right) {
    case (.content(let digest), .content(let other)): digest == other
    case (.entityTag(let text), .entityTag(let other)): text.isSame(as: other)
    case (.modified(let text), .modified(let other)): text.isSame(as: other)
    case (.unavailable, .unavailable): true
    default: false
    }
  }

  /// Hashes the bytes that `==` compares.
  public func hash(into hasher: inout Hasher) { text.hashBytes(into: &hasher) }

  private static func bytes(hexadecimal text: String) -> [UInt8]? {
    var bytes: [UInt8] = []
    var high: UInt8?
    for digit in text.utf8 {
      let value: UInt8
      switch digit {
      case 0x30...0x39: value = digit - 0x30
      case 0x61...0x66: value = digit - 0x61 + 10
      default: return nil
      }
      if let first = high {
        bytes.append(first << 4 | value)
        high = nil
      } else {
        high = value
      }
    }
    return high == nil ? bytes : nil
  }
}
