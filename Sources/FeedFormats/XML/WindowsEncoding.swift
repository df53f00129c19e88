import CExpat

/// windows-1252, which Expat leaves to its user and feeds of some age are written in (WHATWG Encoding,
/// index windows-1252).
enum WindowsEncoding {
  /// 80 to 9F; all others are those of Latin-1.
  private static let high: [Int32] = [
    0x20ac, 0x81, 0x201a, 0x0192, 0x201e, 0x2026, 0x2020, 0x2021, 0x02c6, 0x2030, 0x0160, 0x2039,
    0x0152, 0x8d, 0x017d, 0x8f, 0x90, 0x2018, 0x2019, 0x201c, 0x201d, 0x2022, 0x2013, 0x2014,
    0x02dc,
    0x2122, 0x0161, 0x203a, 0x0153, 0x9d, 0x017e, 0x0178,
  ]

  /// Tells Expat what the bytes are; false where the encoding is another.
  static func fill(
    _ encoding: UnsafeMutablePointer<XML_Encoding>?, _ name: UnsafePointer<XML_Char>?
  ) -> Bool {
    guard let encoding, let name,
      ["windows-1252", "cp1252"].contains(String(cString: name).asciiLowercased)
    else { return false }
    withUnsafeMutableBytes(of: &encoding.pointee.map) { map in
      let characters = map.bindMemory(to: Int32.self)
      for byte in characters.indices {
        characters[byte] = (0x80..<0xa0).contains(byte) ? high[byte - 0x80] : Int32(byte)
      }
    }
    encoding.pointee.data = nil
    encoding.pointee.convert = nil
    encoding.pointee.release = nil
    return true
  }
}
