/// MP3, and AAC with ADTS headers: consecutive frames, each with its length in the header.
struct MPEGSound {
  private let reader: ByteReader
  private var offset: Int64 = 0
  private var meter = StartMeter()
  private var count: Int64 = 0
  private var microseconds: Int64 = 0

  static func mp3(_ reader: ByteReader, _ type: MediaType) throws -> MediaStructure {
    try structure(reader, type, codec: "mp3", MPEGFrame.layer3)
  }

  static func aac(_ reader: ByteReader, _ type: MediaType) throws -> MediaStructure {
    try structure(reader, type, codec: "aac", MPEGFrame.adts)
  }

  private static func structure(
    _ reader: ByteReader, _ type: MediaType, codec: String,
    _ frame: (ArraySlice<UInt8>) -> MPEGFrame?
  ) throws -> MediaStructure {
    var sound = MPEGSound(reader: reader)
    let start = try ID3.end(reader)
    sound.offset = start
    let missingEnd = try sound.walk(frame)
    guard !sound.meter.isEmpty else {
      if let missingEnd {
        throw FormatError(.cutShort(neededBytes: missingEnd), at: start, in: "frame")
      }
      throw FormatError(.malformed("it has no frame of sound"), at: start, in: "frame")
    }
    return MediaStructure(
      sound: type, bytes: reader.size, codec: codec,
      start: sound.meter.start(tables: 0..<start, fileBytes: reader.size),
      durationMilliseconds: sound.meter.durationMilliseconds,
      flaws: missingEnd.map { [.cutShort(neededBytes: $0)] } ?? [])
  }

  private init(reader: ByteReader) { self.reader = reader }

  /// Visits the frames up to the first other data, which are tags of another kind. Returns the end of a
  /// truncated last frame, or nil.
  private mutating func walk(_ frame: (ArraySlice<UInt8>) -> MPEGFrame?) throws -> Int64? {
    while offset < reader.size {
      let head = try reader.available(at: offset, upTo: MPEGFrame.headerBytes, in: "frame")
      guard let found = frame(head) else { return nil }
      let end = offset + Int64(found.bytes)
      if end > reader.size { return end }
      count += 1
      try reader.limits.check(count, .samples, at: offset, in: "frame")
      // The first frame of an MP3 may contain a table about the others and no sound.
      let mayBeTable = count == 1
      if try !mayBeTable || !holdsTable(end) {
        let length = Int64(found.samples) * 1_000_000 / Int64(found.samplesPerSecond)
        meter.add(time: microseconds, until: microseconds + length, end: end)
        microseconds += length
      }
      offset = end
    }
    return nil
  }

  /// Whether the frame that ends at `end` contains a table of Xing, LAME or Fraunhofer. The mark follows the
  /// side information, whose length depends on the header.
  private func holdsTable(_ end: Int64) throws -> Bool {
    let bytes = try reader.bytes(at: offset, count: Int(min(end - offset, 48)), in: "frame")
    return [13, 21, 36].contains { place in
      let mark = bytes.dropFirst(place).prefix(4)
      return ["Xing", "Info", "VBRI"].contains { mark.elementsEqual($0.utf8) }
    }
  }
}

/// The tags before the sound (id3.org, ID3v2.4.0 section 3.1).
enum ID3 {
  /// Returns the start of the sound, after all tags.
  static func end(_ reader: ByteReader) throws -> Int64 {
    var offset: Int64 = 0
    while true {
      let head = Array(try reader.available(at: offset, upTo: 10, in: "ID3"))
      guard head.count == 10, head.starts(with: Array("ID3".utf8)) else { return offset }
      try reader.countPart(at: offset, in: "ID3")
      // Seven bits per byte; a flag announces a footer that repeats the header.
      let size = head[6...].reduce(0) { $0 << 7 | Int64($1 & 0x7f) }
      offset += 10 + size + (head[5] & 0x10 != 0 ? 10 : 0)
    }
  }
}
