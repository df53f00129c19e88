extension MediaType {
  /// Images with a signature of their own (WHATWG MIME Sniffing section 6.1; ISO/IEC 18181-2 for
  /// JPEG XL). APNG has the signature of PNG, and browsers take it as such.
  static func image(_ head: MediaHead) -> MediaType? {
    if head.number(at: 0, width: 3) == 0xff_d8ff { return .passive("image/jpeg") }
    if head.number(at: 0, width: 8) == 0x8950_4e47_0d0a_1a0a { return .passive("image/png") }
    if head.holds("GIF87a") || head.holds("GIF89a") { return .passive("image/gif") }
    if head.holds("RIFF"), head.holds("WEBPVP", at: 8) { return .passive("image/webp") }
    if isJPEGXL(head) { return .passive("image/jxl") }
    return isBitmap(head) ? .passive("image/bmp") : nil
  }

  private static func isJPEGXL(_ head: MediaHead) -> Bool {
    let isCodestream = head.number(at: 0, width: 2) == 0xff0a
    let isContainer =
      head.number(at: 0, width: 4) == 12 && head.holds("JXL ", at: 4)
      && head.number(at: 8, width: 4) == 0x0d0a_870a
    return isCodestream || isContainer
  }

  /// `BM` alone begins many a text; so the reserved bytes have to be zero as well, and the size of
  /// the second header (little-endian) that of one of its versions.
  private static func isBitmap(_ head: MediaHead) -> Bool {
    guard head.holds("BM"), head.number(at: 6, width: 4) == 0, let size = head[14] else {
      return false
    }
    return [12, 40, 52, 56, 64, 108, 124].contains(size) && head.number(at: 15, width: 3) == 0
  }
}
