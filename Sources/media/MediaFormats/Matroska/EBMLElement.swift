/// An EBML element (RFC 8794 sections 4 to 6): its identifier and the position of its content.
struct EBMLElement {
  /// The maximum length of an identifier and a size.
  static let headerBytes = 12

  static let header: UInt32 = 0x1a45_dfa3
  static let documentType: UInt32 = 0x4282

  /// The identifier, including the bits that encode its width (RFC 8794 section 5).
  let identifier: UInt32
  /// The file offset of the first byte.
  let offset: Int64
  let contentOffset: Int64
  /// The end of the content; nil if the size is unknown, as in a live stream: then the content ends where an
  /// element begins that it cannot contain (RFC 8794 section 6.2).
  let end: Int64?

  /// Reads the next header.
  init(_ fields: inout FieldReader) throws {
    offset = fields.position
    let (identifier, idWidth) = try Self.number(&fields)
    guard idWidth <= 4 else {
      throw FormatError(
        .malformed("an element's identifier has \(idWidth) bytes"), at: offset, in: fields.place)
    }
    self.identifier = UInt32(truncatingIfNeeded: identifier)
    let (size, width) = try Self.number(&fields)
    contentOffset = fields.position
    // A number of `width` bytes has seven bits in each; all ones mean unknown.
    let mask: UInt64 = 1 << (7 * UInt64(width)) - 1
    end = size & mask == mask ? nil : ByteReader.end(contentOffset, Int64(size & mask))
  }

  /// Reads the element at `offset` of a file.
  init(_ reader: ByteReader, at offset: Int64) throws {
    let bytes = try reader.available(at: offset, upTo: Self.headerBytes, in: "element")
    var fields = FieldReader(bytes, at: offset, in: "element")
    try self.init(&fields)
  }

  /// Returns a number, including the bits that encode its width, and that width: the number of zeros before
  /// the first one bit, plus one.
  static func number(_ fields: inout FieldReader) throws -> (UInt64, width: Int) {
    let offset = fields.position
    let first = try fields.byte()
    guard first != 0 else {
      throw FormatError(
        .malformed("a number has more than eight bytes"), at: offset, in: fields.place)
    }
    var value = UInt64(first)
    for _ in 0..<first.leadingZeroBitCount { value = value << 8 | UInt64(try fields.byte()) }
    return (value, first.leadingZeroBitCount + 1)
  }

  /// Calls `take` with each element of a content in memory.
  static func forEach(
    _ content: FieldReader, _ take: (UInt32, FieldReader) throws -> Void
  ) throws {
    var fields = content
    while fields.remaining > 0 {
      let element = try EBMLElement(&fields)
      guard let end = element.end, end - element.contentOffset <= Int64(fields.remaining) else {
        throw FormatError(
          .malformed("an element ends after the end of its parent"), at: element.offset,
          in: fields.place)
      }
      let bytes = Int(end - element.contentOffset)
      try take(element.identifier, try fields.part(bytes, in: fields.place))
    }
  }
}

extension FieldReader {
  /// Returns the remaining bytes as an unsigned number (RFC 8794 section 7.2) of at most 62 bits.
  func ebmlUnsigned() throws -> Int64 {
    var fields = self
    guard remaining <= 8 else { throw malformed("a number has \(remaining) bytes") }
    let value = try fields.number(remaining)
    guard value < 1 << 62 else { throw malformed("a number is too large") }
    return Int64(value)
  }

  /// Returns the remaining bytes as a floating-point number (RFC 8794 section 7.3).
  func ebmlFloat() throws -> Double {
    var fields = self
    switch remaining {
    case 0: return 0
    case 4: return Double(Float(bitPattern: try fields.unsigned32()))
    case 8: return Double(bitPattern: try fields.number(8))
    default: throw malformed("a floating-point number has \(remaining) bytes")
    }
  }

  /// Returns the remaining bytes as a string (RFC 8794 section 7.4).
  func ebmlText() -> String {
    var fields = self
    return String(decoding: fields.rest().prefix { $0 != 0 }, as: UTF8.self)
  }
}

/// The header of an EBML file, as far as the head contains it (RFC 8794 section 8.1).
struct EBMLHeader {
  /// The document type (RFC 8794 section 11.2), for example `webm`.
  let documentType: String

  /// Returns nil if the head is not that of an EBML file, or does not contain the document type.
  init?(_ head: MediaHead) {
    var fields = FieldReader(head.bytes, at: 0, in: "EBML")
    guard let header = try? EBMLElement(&fields), header.identifier == EBMLElement.header else {
      return nil
    }
    while fields.position < header.end ?? .max, let element = try? EBMLElement(&fields) {
      let bytes = Int(clamping: (element.end ?? .max) - element.contentOffset)
      guard let content = try? fields.bytes(bytes) else { return nil }
      if element.identifier == EBMLElement.documentType {
        // A string may be padded with zeros (RFC 8794 section 7.4).
        documentType = String(decoding: content.prefix { $0 != 0 }, as: UTF8.self)
        return
      }
    }
    return nil
  }
}
