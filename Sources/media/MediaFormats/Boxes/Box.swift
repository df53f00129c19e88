/// A box of an ISO base media file (ISO/IEC 14496-12 section 4.2): its name and the position of its content.
struct Box {
  let name: FourCC
  /// The offset of its header.
  let offset: Int64
  /// The offset of its content, after the header.
  let contentOffset: Int64
  /// The end that its header states.
  let end: Int64

  var contentBytes: Int64 { end - contentOffset }
  var range: Range<Int64> { offset..<end }

  /// Reads the box at `offset` of a file.
  init(_ reader: ByteReader, at offset: Int64) throws {
    let head = try reader.available(at: offset, upTo: 16, in: "box")
    var fields = FieldReader(head, at: offset, in: "box")
    self = try Self.read(&fields, containerEnd: reader.size)
  }

  /// Reads the next header, of a box within a container that ends at `containerEnd`.
  static func read(_ fields: inout FieldReader, containerEnd: Int64) throws -> Box {
    let offset = fields.position
    let size = Int64(try fields.unsigned32())
    let name = try fields.code()
    var end = ByteReader.end(offset, size)
    // A size of 0 extends to the end of the container; 1 means that a 64-bit size follows.
    if size == 0 { end = containerEnd }
    if size == 1 { end = ByteReader.end(offset, try fields.unsigned63()) }
    let contentOffset = fields.position
    guard end >= contentOffset else {
      throw FormatError(
        .malformed("the box states a length of \(end - offset) bytes, shorter than its header"),
        at: offset, in: name.description)
    }
    return Box(name: name, offset: offset, contentOffset: contentOffset, end: end)
  }

  private init(name: FourCC, offset: Int64, contentOffset: Int64, end: Int64) {
    self.name = name
    self.offset = offset
    self.contentOffset = contentOffset
    self.end = end
  }
}

/// The boxes within a box in memory. They are read one after another, without descending into unknown ones,
/// so that nested boxes cost nothing.
struct BoxContent {
  private let all: FieldReader

  /// Creates the content; `fields` is at the first box.
  init(_ fields: FieldReader) { all = fields }

  /// Calls `take` with each box and its content. Fewer bytes than a header are ignored: QuickTime
  /// ends lists with four zeros.
  func forEach(_ take: (FourCC, FieldReader) throws -> Void) throws {
    var fields = all
    let containerEnd = fields.position + Int64(fields.remaining)
    while fields.remaining >= 8 {
      let box = try Box.read(&fields, containerEnd: containerEnd)
      let place = "\(fields.place)/\(box.name)"
      guard box.end <= containerEnd else {
        throw FormatError(
          .malformed("the box ends at byte \(box.end), after the end of its parent"),
          at: box.offset, in: place)
      }
      try take(box.name, try fields.part(Int(box.contentBytes), in: place))
    }
  }

  /// Returns the first box with this name.
  func first(_ name: FourCC) throws -> FieldReader? {
    var found: FieldReader?
    try forEach { code, fields in if code == name, found == nil { found = fields } }
    return found
  }

  /// Returns the first box with this name; throws if there is none.
  func required(_ name: FourCC) throws -> FieldReader {
    guard let found = try first(name) else { throw all.malformed("it has no \(name)") }
    return found
  }
}

extension FieldReader {
  /// Reads the version and the flags at the start of a full box (ISO/IEC 14496-12 section 4.2.2).
  mutating func fullBox() throws -> (version: Int, flags: UInt32) {
    let word = try unsigned32()
    return (Int(word >> 24), word & 0xff_ffff)
  }
}
