/// The header of an EBML file, as far as the head has it (RFC 8794 section 8.1).
struct EBMLHeader {
  private static let headerIdentifier = 0x1a45_dfa3
  private static let documentTypeIdentifier = 0x4282

  /// What kind of document follows (RFC 8794 section 11.2), for example `webm`.
  let documentType: String

  /// Nil if the head is not that of an EBML file, or does not say what document it is.
  init?(_ head: MediaHead) {
    guard let header = Element(head, at: 0), header.identifier == Self.headerIdentifier else {
      return nil
    }
    var offset = header.content.lowerBound
    while offset < header.content.upperBound, let element = Element(head, at: offset) {
      if element.identifier == Self.documentTypeIdentifier {
        guard element.content.upperBound <= head.count else { return nil }
        // A text may be padded with zeros (RFC 8794 section 7.4).
        let text = head.bytes[element.content].prefix { $0 != 0 }
        documentType = String(decoding: text, as: UTF8.self)
        return
      }
      offset = element.content.upperBound
    }
    return nil
  }

  /// An element: an identifier, a size, and so many bytes of content, perhaps beyond the head.
  private struct Element {
    let identifier: Int
    let content: Range<Int>

    init?(_ head: MediaHead, at offset: Int) {
      // An identifier keeps the bits that tell its width (RFC 8794 section 5).
      guard let idWidth = Self.width(head, at: offset), idWidth <= 4,
        let identifier = head.number(at: offset, width: idWidth),
        let sizeWidth = Self.width(head, at: offset + idWidth),
        let size = head.number(at: offset + idWidth, width: sizeWidth)
      else { return nil }
      self.identifier = Int(identifier)
      let start = offset + idWidth + sizeWidth
      // A number of `width` bytes has seven bits in each (RFC 8794 section 4).
      content = start..<start + Int(size & (1 << (7 * UInt64(sizeWidth)) - 1))
    }

    /// How many bytes a number has: one more than the zeros before its first bit.
    private static func width(_ head: MediaHead, at offset: Int) -> Int? {
      guard let first = head[offset], first != 0 else { return nil }
      return first.leadingZeroBitCount + 1
    }
  }
}
