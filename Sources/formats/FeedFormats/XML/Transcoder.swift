import Glibc

/// Converts bytes of another encoding to UTF-8 incrementally, with the tables of the C library (iconv(3)).
///
/// Not `Sendable`: only one thread at a time may use it.
final class Transcoder {
  /// The encoding's name in the document.
  let name: String
  private let state: iconv_t
  /// The bytes of an incomplete character.
  private var waiting: [UInt8] = []
  private var takenBytes = 0

  /// Encoding names in documents, mapped to the Windows encodings of which they are subsets
  /// (WHATWG Encoding, section 4.2).
  private static let meant = [
    "gb2312": "GB18030", "gb_2312-80": "GB18030", "gbk": "GB18030", "x-gbk": "GB18030",
    "shift_jis": "CP932", "shift-jis": "CP932", "sjis": "CP932", "x-sjis": "CP932",
    "windows-31j": "CP932",
    "euc-kr": "CP949", "ks_c_5601-1987": "CP949", "windows-949": "CP949", "big5": "BIG5-HKSCS",
    "iso-8859-9": "CP1254", "iso-8859-11": "CP874", "tis-620": "CP874", "x-x-big5": "BIG5-HKSCS",
  ]

  /// The encodings that Expat supports.
  private static let native: Set = ["utf-8", "utf8", "utf-16", "us-ascii", "iso-8859-1"]

  /// Returns a transcoder for the encoding in the document's XML declaration; nil if
  /// Expat supports the encoding.
  ///
  /// - Parameter start: the document's first bytes.
  /// - Throws: `FormatError` for an unknown encoding.
  static func needed(for start: ArraySlice<UInt8>) throws(FormatError) -> Transcoder? {
    guard let name = declaredEncoding(start), !native.contains(name.asciiLowercased) else {
      return nil
    }
    guard let transcoder = Transcoder(name) else {
      throw FormatError("the document's encoding \"\(name.prefix(40))\" is not supported")
    }
    return transcoder
  }

  private init?(_ name: String) {
    let meant = Self.meant[name.asciiLowercased] ?? name
    // The check excludes the suffixes of iconv_open(3).
    guard name.utf8.allSatisfy({ $0.isLetter || $0.isDigit || "-_:.".utf8.contains($0) }),
      let state = iconv_open("UTF-8", meant), state != iconv_t(bitPattern: -1)
    else { return nil }
    (self.name, self.state) = (name, state)
  }

  deinit { iconv_close(state) }

  /// The encoding in a declaration: `<?xml version="1.0" encoding="GBK"?>`
  private static func declaredEncoding(_ start: ArraySlice<UInt8>) -> String? {
    guard start.starts(with: Array("<?xml".utf8)),
      let end = start.prefix(1_024).firstIndex(of: UInt8(ascii: ">"))
    else { return nil }
    let text = String(decoding: start[..<end], as: UTF8.self)
    return text.firstMatch(of: /\sencoding\s*=\s*["']([^"']*)["']/).map { String($0.1) }
  }

  /// Converts the next bytes.
  ///
  /// - Parameter isLast: whether the input ends with them.
  /// - Returns: the bytes in UTF-8, and the error if some are invalid.
  func decode(_ bytes: [UInt8], isLast: Bool) -> (text: [UInt8], problem: String?) {
    var input = waiting + bytes
    waiting = []
    var text: [UInt8] = []
    let count = input.count
    var problem: String?
    // A UTF-8 character has at most four bytes, and a character of another encoding
    // becomes at most two characters.
    var output = [UInt8](repeating: 0, count: max(64, count * 4))
    var taken = 0
    input.withUnsafeMutableBytes { input in
      output.withUnsafeMutableBytes { output in
        var source = input.baseAddress?.assumingMemoryBound(to: CChar.self)
        var target = output.baseAddress?.assumingMemoryBound(to: CChar.self)
        var (left, room) = (count, output.count)
        let result = iconv(state, &source, &left, &target, &room)
        let code = errno
        taken = count - left
        text = Array(output[..<(output.count - room)])
        if result == Int(bitPattern: UInt.max), code != EINVAL || isLast {
          problem = "is not \(name): no character begins at byte \(takenBytes + taken + 1)"
        }
      }
    }
    takenBytes += taken
    waiting = Array(input[taken...])
    return (text, problem)
  }
}
