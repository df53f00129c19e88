/// The first bytes of a file, read without ever leaving them: what lies behind their end is nil or
/// no match.
struct MediaHead {
  let bytes: ArraySlice<UInt8>

  init(_ bytes: [UInt8]) { self.bytes = bytes.prefix(MediaType.headBytes) }

  var count: Int { bytes.count }

  /// The byte at an offset of zero or more.
  subscript(offset: Int) -> UInt8? { offset < bytes.count ? bytes[offset] : nil }

  /// Whether these characters stand at `offset`.
  func holds(_ text: String, at offset: Int = 0) -> Bool {
    offset <= bytes.count && bytes[offset...].starts(with: text.utf8)
  }

  /// The unsigned number in `width` bytes (8 at the most), the most significant one first.
  func number(at offset: Int, width: Int) -> UInt64? {
    guard offset >= 0, width <= bytes.count - offset else { return nil }
    return bytes[offset..<offset + width].reduce(0) { $0 << 8 | UInt64($1) }
  }

  /// The four-character code at `offset`, as ISO base media files have it.
  func code(at offset: Int) -> String? {
    guard offset >= 0, 4 <= bytes.count - offset else { return nil }
    return String(decoding: bytes[offset..<offset + 4], as: UTF8.self)
  }

  /// Whether this is markup as a browser would see it: the first byte that is neither a byte order
  /// mark nor whitespace is `<` (WHATWG MIME Sniffing section 7.1).
  var beginsLikeMarkup: Bool {
    let marks: [[UInt8]] = [[0xef, 0xbb, 0xbf], [0xfe, 0xff], [0xff, 0xfe]]
    let mark = marks.first(where: bytes.starts(with:)) ?? []
    let text = bytes.dropFirst(mark.count).drop { [0x09, 0x0a, 0x0c, 0x0d, 0x20].contains($0) }
    return text.first == UInt8(ascii: "<")
  }
}
