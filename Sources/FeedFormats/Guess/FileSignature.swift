/// Files that are no text, by their first bytes.
enum FileSignature {
  /// What UTF-16 is called.
  static let utf16 = "UTF-16; write it as UTF-8 (iconv -f UTF-16 -t UTF-8)"

  private static let known: [(start: [UInt8], name: String)] = [
    ([0x1f, 0x8b], "gzip within what was compressed already: decompress it once more"),
    (
      [0x28, 0xb5, 0x2f, 0xfd],
      "Zstandard within what was compressed already: decompress it once more"
    ),
    (
      Array("PK\u{3}\u{4}".utf8),
      "a ZIP archive: unpack it, gzip and Zstandard alone are read as they are"
    ),
    (Array("BZh".utf8), "bzip2: decompress it, gzip and Zstandard alone are read as they are"),
    (
      [0xfd, 0x37, 0x7a, 0x58, 0x5a],
      "xz: decompress it, gzip and Zstandard alone are read as they are"
    ),
    (Array("SQLite format 3\u{0}".utf8), "a SQLite database and no file of posts"),
    ([0xff, 0xfe], utf16), ([0xfe, 0xff], utf16),
    (Array("%PDF".utf8), "a PDF"), ([0x89, 0x50, 0x4e, 0x47], "a picture (PNG)"),
    ([0xff, 0xd8, 0xff], "a picture (JPEG)"),
  ]

  /// What the file is; nil where it may be text.
  static func name(of start: [UInt8]) -> String? {
    if let found = known.first(where: { start.starts(with: $0.start) }) { return found.name }
    return start.prefix(512).contains(0) ? "no text: it holds bytes of zero" : nil
  }
}
