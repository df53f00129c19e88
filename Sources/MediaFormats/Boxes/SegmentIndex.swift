/// A `sidx` box (ISO/IEC 14496-12 section 8.16.3): when the pieces of a movie begin, and where they end.
struct SegmentIndex {
  /// A run of fragments. Times are in microseconds of the presentation.
  struct Piece {
    let start: Int64
    let until: Int64
    /// Where it ends in the file.
    let end: Int64
  }

  private(set) var pieces: [Piece] = []

  /// A box that ends at `offset`. A piece that is itself an index is a piece like any other.
  init(_ fields: FieldReader, at offset: Int64) throws {
    var fields = fields
    let version = try fields.fullBox().version
    try fields.skip(4)
    let timescale = try Timescale(&fields)
    var time = Int64(clamping: try fields.number(version == 0 ? 4 : 8))
    var end = ByteReader.end(offset, Int64(clamping: try fields.number(version == 0 ? 4 : 8)))
    try fields.skip(2)
    for _ in 0..<(try fields.unsigned16()) {
      end = ByteReader.end(end, Int64(try fields.unsigned32() & 0x7fff_ffff))
      let until = ByteReader.end(time, Int64(try fields.unsigned32()))
      try fields.skip(4)
      guard let from = timescale.microseconds(time), let to = timescale.microseconds(until) else {
        throw fields.malformed("a time is too large")
      }
      pieces.append(Piece(start: from, until: to, end: end))
      time = until
    }
  }
}
