/// A track of a movie (ISO/IEC 14496-12 section 8.3). It is immutable, and a class so that code for single
/// samples can refer to it without a copy.
final class Track {
  enum Media {
    case picture
    /// Transparency or depth for another track's pictures (ISO/IEC 23008-12 section 7.5.3).
    case auxiliaryPicture
    case sound
  }

  let number: UInt32
  let media: Media
  /// Whether the movie shows the track; other tracks are alternatives.
  let isEnabled: Bool
  let timescale: Timescale
  let entry: SampleEntry
  let edits: EditList
  let tables: SampleTables
  /// The orientation of the pictures.
  let orientation: PictureOrientation

  /// Reads a `trak` box; nil if the track has neither pictures nor sound, or does not state its encoding.
  init?(_ fields: FieldReader, movie: Timescale, limits: MediaLimits) throws {
    let boxes = BoxContent(fields)
    let header = try TrackHeader(try boxes.required("tkhd"))
    let media = BoxContent(try boxes.required("mdia"))
    var handler = try media.required("hdlr")
    try handler.skip(8)
    switch try handler.code() {
    case "vide", "pict": self.media = .picture
    case "auxv": self.media = .auxiliaryPicture
    case "soun": self.media = .sound
    default: return nil
    }
    var mediaHeader = try media.required("mdhd")
    let version = try mediaHeader.fullBox().version
    try mediaHeader.skip(version == 1 ? 16 : 8)
    timescale = try Timescale(&mediaHeader)

    let information = BoxContent(try media.required("minf"))
    let samples = try information.required("stbl")
    guard
      let entry = try SampleEntry(
        try BoxContent(samples).required("stsd"), isPicture: self.media != .sound)
    else { return nil }
    self.entry = entry
    tables = try SampleTables(samples, entry: entry, limits: limits)
    if let container = try boxes.first("edts"), let list = try BoxContent(container).first("elst") {
      edits = try EditList(list, timescale: timescale, movie: movie, limits: limits)
    } else {
      edits = EditList(timescale: timescale)
    }
    number = header.number
    isEnabled = header.isEnabled
    orientation = header.orientation
  }
}

/// A `tkhd` box (section 8.3.2).
private struct TrackHeader {
  let number: UInt32
  let isEnabled: Bool
  let orientation: PictureOrientation

  init(_ fields: FieldReader) throws {
    var fields = fields
    let (version, flags) = try fields.fullBox()
    isEnabled = flags & 1 != 0
    try fields.skip(version == 1 ? 16 : 8)
    number = try fields.unsigned32()
    try fields.skip(version == 1 ? 12 : 8)
    try fields.skip(16)
    // The matrix a b u, c d v, x y w, of which a b c d rotate, mirror and scale.
    let (a, b) = (Int64(try fields.signed32()), Int64(try fields.signed32()))
    try fields.skip(4)
    let (c, d) = (Int64(try fields.signed32()), Int64(try fields.signed32()))
    // A negative determinant exchanges left and right before the turn.
    let isMirrored = Double(a) * Double(d) < Double(b) * Double(c)
    let (x, y) = isMirrored ? (-a, -b) : (a, b)
    // The direction in which the picture's upper edge runs after the turn: right, down, left, up.
    let turns = abs(x) >= abs(y) ? (x >= 0 ? 0 : 2) : (y > 0 ? 1 : 3)
    orientation = PictureOrientation(isMirrored: isMirrored, clockwiseQuarterTurns: turns)
  }
}

/// The ticks per second of a track or movie.
struct Timescale: Hashable {
  let ticksPerSecond: UInt32

  /// Reads the next four bytes, which must not be 0.
  init(_ fields: inout FieldReader) throws {
    ticksPerSecond = try fields.unsigned32()
    guard ticksPerSecond > 0 else { throw fields.malformed("its timescale is 0 ticks a second") }
  }

  init(ticksPerSecond: UInt32) {
    precondition(ticksPerSecond > 0)
    self.ticksPerSecond = ticksPerSecond
  }

  /// Converts ticks to microseconds, rounded down; nil if out of range.
  func microseconds(_ ticks: Int64) -> Int64? {
    Self.scaled(ticks, by: 1_000_000, over: Int64(ticksPerSecond))
  }

  /// Converts ticks to another timescale, rounded down.
  func ticks(_ ticks: Int64, in other: Timescale) -> Int64? {
    Self.scaled(ticks, by: Int64(other.ticksPerSecond), over: Int64(ticksPerSecond))
  }

  /// Returns `value · factor / divisor`, rounded down; nil beyond 2^60. `factor` and `divisor` are above 0.
  private static func scaled(_ value: Int64, by factor: Int64, over divisor: Int64) -> Int64? {
    let product = value.magnitude.multipliedFullWidth(by: UInt64(factor))
    guard product.high < UInt64(divisor) else { return nil }
    let (quotient, remainder) = UInt64(divisor).dividingFullWidth(product)
    guard quotient < 1 << 60 else { return nil }
    return value < 0 ? -Int64(quotient) - (remainder > 0 ? 1 : 0) : Int64(quotient)
  }
}
