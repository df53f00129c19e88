/// Ogg (RFC 3533): pages of streams; each page states the position of its stream at its end.
struct Ogg {
  /// A stream of a known codec.
  private struct Stream {
    let serial: UInt32
    let codec: String
    /// For sound: the counts per second, and the number of counts that the decoder needs but does not play.
    var countsPerSecond: Int64 = 0
    var delay: Int64 = 0
    /// For pictures: the size, and the way in which pages count frames.
    var size: PixelSize?
    var frames: Frames?
  }

  /// Theora's frame counts (Theora I, sections 6.2 and A.2.3): the upper bits count the frames up to the last
  /// key frame, the lower bits those since.
  private struct Frames {
    let numerator: Int64
    let denominator: Int64
    let shift: Int64
    /// Files older than version 3.2.1 count the frames before a frame, without the frame itself.
    let uncounted: Int64

    func count(at position: Int64) -> Int64 {
      (position >> shift) &+ (position & (1 << shift - 1)) &+ uncounted
    }

    /// The time after this many frames, rounded down; nil if it is too large.
    func microseconds(_ count: Int64) -> Int64? {
      let (seconds, isTooLarge) = count.multipliedReportingOverflow(by: denominator)
      guard !isTooLarge, seconds / numerator < 1 << 40 else { return nil }
      let (whole, rest) = seconds.quotientAndRemainder(dividingBy: numerator)
      return whole * 1_000_000 + rest * 1_000_000 / numerator
    }
  }

  private let reader: ByteReader
  private var sound: Stream?
  private var picture: Stream?
  private var meter = StartMeter()
  /// The start of the sound of the next page: the end of the previous one.
  private var microseconds: Int64 = 0
  private var dataStart: Int64?
  private var count: Int64 = 0
  private var frameCount: Int64 = 0

  static func structure(_ reader: ByteReader, _ type: MediaType) throws -> MediaStructure {
    var file = Ogg(reader: reader)
    let missingEnd = try file.walk()
    let flaws: [MediaStructure.Flaw] = missingEnd.map { [.cutShort(neededBytes: $0)] } ?? []
    if let picture = file.picture {
      try picture.size?.check(reader.limits, at: 0, in: "page")
      return MediaStructure(
        type: type, kind: .video, bytes: reader.size, codedSize: picture.size,
        displaySize: picture.size, orientation: .upright, hasAlpha: false,
        frameCount: file.frameCount > 0 ? Int(file.frameCount) : nil,
        durationMilliseconds: file.meter.durationMilliseconds, videoCodec: picture.codec,
        audioCodec: file.sound?.codec, layout: .stream,
        // Without a page of pictures, the only statement is that the whole file is enough.
        start: file.frameCount > 0
          ? file.meter.start(tables: 0..<(file.dataStart ?? 0), fileBytes: reader.size)
          : .whole(reader.size),
        flaws: flaws)
    }
    guard let sound = file.sound, !file.meter.isEmpty else {
      if let missingEnd {
        throw FormatError(.cutShort(neededBytes: missingEnd), at: reader.size, in: "page")
      }
      throw FormatError(
        .unsupported("it has no stream of a known codec, or no page of it"), at: 0,
        in: "page")
    }
    return MediaStructure(
      sound: type, bytes: reader.size, codec: sound.codec,
      start: file.meter.start(
        tables: 0..<(file.dataStart ?? 0), fileBytes: reader.size),
      durationMilliseconds: file.meter.durationMilliseconds, flaws: flaws)
  }

  private init(reader: ByteReader) { self.reader = reader }

  /// Visits the pages (section 6). Returns the end of a truncated last page, or nil.
  private mutating func walk() throws -> Int64? {
    var offset: Int64 = 0
    while offset < reader.size {
      try reader.countPart(at: offset, in: "page")
      guard offset <= reader.size - 27 else { return offset + 27 }
      var fields = try reader.fields(at: offset, count: 27, in: "page")
      guard try fields.code() == "OggS" else { return nil }
      try fields.skip(1)
      let flags = try fields.byte()
      let position = Int64(bitPattern: try fields.littleEndian(8))
      let serial = UInt32(truncatingIfNeeded: try fields.littleEndian(4))
      try fields.skip(8)
      let segments = try reader.available(
        at: offset + 27, upTo: Int(try fields.byte()), in: "page")
      let content = offset + 27 + Int64(segments.count)
      let end = content + segments.reduce(0) { $0 + Int64($1) }
      if end > reader.size { return end }
      if flags & 2 != 0 { try readFirst(content, end, serial) }
      try add(serial, position, offset, end)
      offset = end
    }
    return nil
  }

  /// Reads the first packet of a stream, which identifies the codec.
  private mutating func readFirst(_ content: Int64, _ end: Int64, _ serial: UInt32) throws {
    let packet = Array(
      try reader.bytes(at: content, count: Int(min(end - content, 64)), in: "packet"))
    var fields = FieldReader(packet[...], at: content, in: "packet")
    if packet.starts(with: Array("OpusHead".utf8)) {
      try fields.skip(10)
      let delay = Int64(try fields.littleEndian(2))
      // Positions are at 48 kHz, whatever the input's rate (RFC 7845 section 4).
      add(sound: Stream(serial: serial, codec: "opus", countsPerSecond: 48_000, delay: delay))
    } else if packet.starts(with: Array("\u{1}vorbis".utf8)) {
      try fields.skip(12)
      add(
        sound: Stream(
          serial: serial, codec: "vorbis", countsPerSecond: Int64(try fields.littleEndian(4))))
    } else if packet.starts(with: Array("\u{7f}FLAC".utf8)) {
      try fields.skip(27)
      add(
        sound: Stream(
          serial: serial, codec: "flac", countsPerSecond: Int64(try fields.number(3) >> 4)))
    } else if packet.starts(with: Array("Speex   ".utf8)) {
      try fields.skip(36)
      add(
        sound: Stream(
          serial: serial, codec: "speex", countsPerSecond: Int64(try fields.littleEndian(4))))
    } else if packet.starts(with: [0x80] + Array("theora".utf8)) {
      try fields.skip(7)
      let version = Int64(try fields.number(3))
      try fields.skip(4)
      let (width, height) = (Int(try fields.number(3)), Int(try fields.number(3)))
      try fields.skip(2)
      let (numerator, denominator) = (Int64(try fields.number(4)), Int64(try fields.number(4)))
      try fields.skip(10)
      let shift = Int64(try fields.number(2)) >> 5 & 31
      if picture == nil {
        picture = Stream(
          serial: serial, codec: "theora", size: PixelSize(width, height),
          frames: numerator > 0 && denominator > 0
            ? Frames(
              numerator: numerator, denominator: denominator, shift: shift,
              uncounted: version < 0x03_0201 ? 1 : 0) : nil)
      }
    }
  }

  private mutating func add(sound stream: Stream) {
    if sound == nil, stream.countsPerSecond > 0 { sound = stream }
  }

  /// Adds a page. All of it is needed, because its check sum covers all of it.
  private mutating func add(
    _ serial: UInt32, _ position: Int64, _ offset: Int64, _ end: Int64
  ) throws {
    if let frames = picture?.frames, serial == picture?.serial, position > 0 {
      return try add(frames, upTo: position, offset, end)
    }
    guard let sound, serial == sound.serial, position > 0 else {
      meter.extend(toByte: end)
      return
    }
    count += 1
    try reader.limits.check(count, .samples, at: offset, in: "page")
    let played = max(0, position - sound.delay)
    let (seconds, rest) = played.quotientAndRemainder(dividingBy: sound.countsPerSecond)
    guard seconds < 1 << 40 else {
      throw FormatError(.malformed("a page's position is too large"), at: offset, in: "page")
    }
    let until = seconds * 1_000_000 + rest * 1_000_000 / sound.countsPerSecond
    if dataStart == nil { dataStart = offset }
    meter.add(time: microseconds, until: max(until, microseconds), end: end)
    microseconds = max(until, microseconds)
  }

  /// Adds the frames that end on a page: the first of them is shown after those of earlier pages.
  private mutating func add(
    _ frames: Frames, upTo position: Int64, _ offset: Int64, _ end: Int64
  ) throws {
    count += 1
    try reader.limits.check(count, .samples, at: offset, in: "page")
    let through = max(frames.count(at: position), frameCount)
    guard let start = frames.microseconds(frameCount), let until = frames.microseconds(through)
    else {
      throw FormatError(.malformed("a page's position is too large"), at: offset, in: "page")
    }
    if dataStart == nil { dataStart = offset }
    if frameCount == 0 { meter.addPicture(at: start) }
    meter.add(time: start, until: until, end: end)
    frameCount = through
  }
}
