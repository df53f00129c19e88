/// Makes the first bytes of files.
enum MediaBytes {
  static func text(_ text: String) -> [UInt8] { Array(text.utf8) }

  /// Bytes by their hexadecimal digits, with spaces wherever they help.
  static func hex(_ digits: String) -> [UInt8] {
    let digits = Array(digits.utf8.filter { $0 != UInt8(ascii: " ") })
    return stride(from: 0, to: digits.count, by: 2).map {
      UInt8(String(decoding: digits[$0..<$0 + 2], as: UTF8.self), radix: 16)!
    }
  }

  static func number(_ value: Int) -> [UInt8] {
    [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: value >> $0) }
  }

  /// A box of an ISO base media file.
  static func box(_ code: String, _ content: [UInt8]) -> [UInt8] {
    number(8 + content.count) + text(code) + content
  }

  /// The first box, with these brands and another one behind it.
  static func brands(_ major: String, _ compatible: String...) -> [UInt8] {
    box("ftyp", text(major) + number(512) + compatible.flatMap(text)) + box("moov", [])
  }

  /// An EBML header with elements of other kinds before the document's type.
  static func ebml(_ documentType: [UInt8], before: [UInt8] = hex("42868101 42f78101")) -> [UInt8] {
    let content = before + hex("4282") + [0x80 | UInt8(documentType.count)] + documentType
    return hex("1a45dfa3 01000000") + number(content.count) + content + hex("18538067")
  }

  /// The first page of an Ogg stream, or another one.
  static func oggPage(_ packet: [UInt8], flags: UInt8 = 2) -> [UInt8] {
    text("OggS") + [0, flags] + [UInt8](repeating: 7, count: 20) + [1, UInt8(packet.count)] + packet
  }

  /// Frames of this header, each filled up to this many bytes.
  static func frames(_ header: String, bytes: Int, count: Int = 2) -> [UInt8] {
    let header = hex(header)
    let frame = header + [UInt8](repeating: 0x55, count: bytes - header.count)
    return Array(repeatElement(frame, count: count).joined())
  }

  /// Packets of a transport stream.
  static func packets(_ count: Int) -> [UInt8] { frames("47 40 00 10", bytes: 188, count: count) }
}
