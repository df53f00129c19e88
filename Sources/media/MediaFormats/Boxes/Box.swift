/// A box of an ISO base media file (ISO/IEC 14496-12 section 4.2): its name, and where its content lies.
struct Box {
  let name: FourCC
  /// The first byte of its header.
  let offset: Int64
  /// Where its content begins, behind its header.
  let contentOffset: Int64
  /// Where it says that it ends.
  let end: Int64

  var contentBytes: Int64 { end - contentOffset }
  var range: Range<Int64> { offset..<end }

  /// The box at `offset` of a file.
  init(_ reader: ByteReader, at offset: Int64) throws {
    let head = try reader.available(at: offset, upTo: 16, in: "box")
    var fields = FieldReader(head, at: offset, in: "box")
    self = try Self.read(&fields, containerEnd: reader.size)
  }

  /// The box whose header comes next, within a box that ends at `containerEnd`.
  static func read(_ fields: inout FieldReader, containerEnd: Int64) throws -> Box {
    let offset = fields.position
    let size = Int64(try fields.unsigned32())
    let name = try fields.code()
    var end = ByteReader.end(offset, size)
    // 0 is until the end of what it lies in, 1 says that a longer size follows.
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

/// The boxes within a box that is in memory. They are read one after another, without descending into
/// what he does not know, so that boxes within boxes cost nothing.
struct BoxContent {
  private let all: FieldReader

  /// `fields` is at the first box.
  init(_ fields: FieldReader) { all = fields }

  /// Calls `take` with each box and its content. Fewer bytes than a header has are no box: QuickTime ends
  /// lists with four zeros.
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

  /// The first box of this name.
  func first(_ name: FourCC) throws -> FieldReader? {
    var found: FieldReader?
    try forEach { code, fields in if code == name, found == nil { found = fields } }
    return found
  }

  /// The first box of this name, which has to be there.
  func required(_ name: FourCC) throws -> FieldReader {
    guard let found = try first(name) else { throw all.malformed("it has no \(name)") }
    return found
  }
}

extension FieldReader {
  /// The version and the flags with which a full box begins (ISO/IEC 14496-12 section 4.2.2).
  mutating func fullBox() throws -> (version: Int, flags: UInt32) {
    let word = try unsigned32()
    return (Int(word >> 24), word & 0xff_ffff)
  }
}
