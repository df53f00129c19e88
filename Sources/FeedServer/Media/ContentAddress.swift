import JSON

/// What a content is called in URLs: the first 128 bits of its SHA-256, so that `sha256sum` tells it.
struct ContentAddress: Hashable, Sendable {
  fileprivate let high: UInt64
  fileprivate let low: UInt64

  /// Of the content with this SHA-256, 32 bytes.
  init(sha256: [UInt8]) {
    func number(_ bytes: ArraySlice<UInt8>) -> UInt64 { bytes.reduce(0) { $0 << 8 | UInt64($1) } }
    high = number(sha256[..<8])
    low = number(sha256[8..<16])
  }

  /// What `text` reads; nil for all but 32 hexadecimal digits in lower case.
  init?(text: String) {
    let isDigits = text.utf8.allSatisfy {
      (0x30...0x39).contains($0) || (0x61...0x66).contains($0)
    }
    guard text.utf8.count == 32, isDigits, let high = UInt64(text.prefix(16), radix: 16),
      let low = UInt64(text.suffix(16), radix: 16)
    else { return nil }
    (self.high, self.low) = (high, low)
  }

  /// 32 hexadecimal digits.
  var text: String {
    String(decoding: [UInt8](capacity: Self.textBytes) { $0.append(self) }, as: UTF8.self)
  }

  /// How many bytes its text has.
  static let textBytes = 32
}

extension OutputSpan<UInt8> {
  /// Appends the address's text.
  mutating func append(_ address: ContentAddress) {
    append(hexadecimal: address.high)
    append(hexadecimal: address.low)
  }
}
