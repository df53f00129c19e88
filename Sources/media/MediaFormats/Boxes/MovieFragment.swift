/// A `moof` box (ISO/IEC 14496-12 section 8.8): the tables of a movie fragment.
struct MovieFragment {
  /// The state of a track between its fragments.
  struct Continuation {
    /// The decode time of the next sample.
    var decodeTime: Int64 = 0
  }

  private let boxes: BoxContent
  private let offset: Int64
  private let limits: MediaLimits
  private let defaults: [UInt32: Movie.FragmentDefaults]

  /// Creates the fragment of a box that begins at `offset`.
  init(
    _ fields: FieldReader, at offset: Int64, defaults: [UInt32: Movie.FragmentDefaults],
    limits: MediaLimits
  ) {
    boxes = BoxContent(fields)
    self.offset = offset
    self.limits = limits
    self.defaults = defaults
  }

  /// Adds the samples of the played tracks to `meter`. `sampleCount` counts the samples of all fragments.
  func add(
    to meter: inout MovieMeter, _ continuations: inout [UInt32: Continuation],
    sampleCount: inout Int64
  ) throws {
    // The default start of a track's data: for the first track the fragment, for others the end of the
    // previous track's data (section 8.8.7.1).
    var dataEnd = offset
    try boxes.forEach { name, content in
      guard name == "traf" else { return }
      let track = BoxContent(content)
      let header = try Header(
        try track.required("tfhd"), fragment: offset, previousEnd: dataEnd, defaults)
      var decodeTime = continuations[header.track]?.decodeTime ?? 0
      if let time = try track.first("tfdt") { decodeTime = try Self.decodeTime(time) }
      var position = header.base
      let index = meter.index(ofTrack: header.track)
      try track.forEach { name, content in
        guard name == "trun" else { return }
        let run = try Run(content, header)
        sampleCount += Int64(run.count)
        try limits.check(sampleCount, .samples, at: content.offset, in: content.place)
        try run.forEach(from: &position, &decodeTime) { sample in
          if let index { try meter.add(sample, ofTrackAt: index) }
        }
      }
      dataEnd = position
      continuations[header.track] = Continuation(decodeTime: decodeTime)
    }
  }

  private static func decodeTime(_ fields: FieldReader) throws -> Int64 {
    var fields = fields
    let version = try fields.fullBox().version
    let time = try fields.number(version == 1 ? 8 : 4)
    guard time < 1 << 59 else { throw fields.malformed("the decode time is too large") }
    return Int64(time)
  }

  /// `tfhd` (section 8.8.7).
  private struct Header {
    let track: UInt32
    let base: Int64
    var defaults: Movie.FragmentDefaults

    init(
      _ fields: FieldReader, fragment: Int64, previousEnd: Int64,
      _ defaults: [UInt32: Movie.FragmentDefaults]
    ) throws {
      var fields = fields
      let flags = try fields.fullBox().flags
      track = try fields.unsigned32()
      self.defaults = defaults[track] ?? Movie.FragmentDefaults()
      let explicit = flags & 1 != 0 ? try fields.unsigned63() : nil
      if flags & 2 != 0 { try fields.skip(4) }
      if flags & 8 != 0 { self.defaults.ticks = try fields.unsigned32() }
      if flags & 0x10 != 0 { self.defaults.bytes = try fields.unsigned32() }
      if flags & 0x20 != 0 { self.defaults.flags = try fields.unsigned32() }
      let isFromFragment = flags & 0x2_0000 != 0
      base = explicit ?? (isFromFragment ? fragment : previousEnd)
      guard base < 1 << 60 else { throw fields.malformed("the data's offset is too large") }
    }
  }

  /// `trun` (section 8.8.8).
  private struct Run {
    let count: Int
    private let flags: UInt32
    private let dataOffset: Int64?
    private let firstFlags: UInt32?
    private let header: Header
    private var rows: FieldReader

    init(_ fields: FieldReader, _ header: Header) throws {
      rows = fields
      self.header = header
      flags = try rows.fullBox().flags
      count = Int(try rows.unsigned32())
      dataOffset = flags & 1 != 0 ? header.base + Int64(try rows.signed32()) : nil
      firstFlags = flags & 4 != 0 ? try rows.unsigned32() : nil
      if let dataOffset, dataOffset < 0 {
        throw fields.malformed("its data begins before the file")
      }
    }

    func forEach(
      from position: inout Int64, _ decodeTime: inout Int64, _ take: (Sample) throws -> Void
    ) throws {
      var rows = rows
      if let dataOffset { position = dataOffset }
      for index in 0..<count {
        let ticks = flags & 0x100 != 0 ? try rows.unsigned32() : header.defaults.ticks
        let bytes = flags & 0x200 != 0 ? try rows.unsigned32() : header.defaults.bytes
        var sampleFlags = flags & 0x400 != 0 ? try rows.unsigned32() : header.defaults.flags
        if index == 0, let firstFlags { sampleFlags = firstFlags }
        let composition = flags & 0x800 != 0 ? Int64(try rows.signed32()) : 0
        try take(
          Sample(
            decodeTime: decodeTime, compositionTime: decodeTime + composition,
            ticks: Int64(ticks), offset: position, bytes: Int64(bytes),
            // sample_is_non_sync_sample (section 8.8.3.1)
            isSync: sampleFlags & 0x1_0000 == 0))
        // No overflow: at most 4 million times 2^32 is added to 2^60.
        decodeTime += Int64(ticks)
        position += Int64(bytes)
      }
    }
  }
}

/// A `sidx` box (ISO/IEC 14496-12 section 8.16.3): the times and ends of the pieces of a movie.
struct SegmentIndex {
  /// A series of fragments. Times are in microseconds of the presentation.
  struct Piece {
    let start: Int64
    let until: Int64
    /// The end in the file.
    let end: Int64
  }

  private(set) var pieces: [Piece] = []

  /// Reads a box that ends at `offset`. A piece that is itself an index is treated like any other.
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
