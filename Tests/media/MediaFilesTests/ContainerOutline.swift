/// What the tests look for in a file whose content they know; nothing for files of others.
struct ContainerOutline {
  let bytes: [UInt8]

  init(_ bytes: [UInt8]) { self.bytes = bytes }

  /// The types of the boxes of the top level, in their order (ISO/IEC 14496-12 section 4.2).
  var boxes: [String] {
    var types: [String] = []
    var offset = 0
    while offset + 8 <= bytes.count {
      types.append(String(decoding: bytes[offset + 4..<offset + 8], as: UTF8.self))
      let size = number(at: offset, width: 4)
      guard size >= 8 else { break }
      offset += size
    }
    return types
  }

  /// Whether the first track's matrix is that of a quarter turn clockwise (section 8.3.2).
  var turnsTheFirstTrack: Bool {
    guard let header = offset(of: "tkhd"), bytes[header + 4] == 0 else { return false }
    let row = stride(from: header + 44, to: header + 56, by: 4).map { number(at: $0, width: 4) }
    return row == [0, 0x1_0000, 0]
  }

  /// Whether its frame is progressive (ITU-T T.81 section B.2.2).
  var isProgressiveJPEG: Bool { jpegFrame.map { bytes[$0 + 1] == 0xc2 } ?? false }

  /// The offset of the marker of a JPEG's frame, which follows segments with a length each.
  var jpegFrame: Int? {
    var offset = 2
    while offset + 4 <= bytes.count, bytes[offset] == 0xff {
      if (0xc0...0xc2).contains(bytes[offset + 1]) { return offset }
      offset += 2 + number(at: offset + 2, width: 2)
    }
    return nil
  }

  /// Whether these characters stand anywhere.
  func holds(_ text: String) -> Bool { offset(of: text) != nil }

  /// Where these characters stand first.
  func offset(of text: String) -> Int? {
    let text = Array(text.utf8)
    return bytes.indices.dropLast(text.count - 1).first {
      bytes[$0] == text[0] && bytes[$0..<$0 + text.count].elementsEqual(text)
    }
  }

  /// The unsigned number there, the most significant byte first.
  func number(at offset: Int, width: Int) -> Int {
    bytes[offset..<offset + width].reduce(0) { $0 << 8 | Int($1) }
  }

  /// The unsigned number there, the least significant byte first.
  func littleNumber(at offset: Int, width: Int) -> Int {
    bytes[offset..<offset + width].reversed().reduce(0) { $0 << 8 | Int($1) }
  }
}
