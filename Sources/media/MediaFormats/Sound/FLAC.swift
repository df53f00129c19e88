/// FLAC (RFC 9639): metadata, and frames found by their headers.
struct FLAC {
  private let reader: ByteReader
  private var samplesPerSecond: Int64 = 0
  private var samplesInAll: Int64 = 0
  private var meter = StartMeter()

  static func structure(_ reader: ByteReader, _ type: MediaType) throws -> MediaStructure {
    var sound = FLAC(reader: reader)
    let start = try sound.readMetadata(from: try ID3.end(reader))
    let samples = try sound.walk(from: start)
    guard !sound.meter.isEmpty else {
      throw FormatError(.malformed("it has no frame of sound"), at: start, in: "frame")
    }
    let declared = sound.samplesInAll
    let milliseconds =
      declared > 0
      ? (declared * 1000 + sound.samplesPerSecond - 1) / sound.samplesPerSecond
      : sound.meter.durationMilliseconds
    return MediaStructure(
      sound: type, bytes: reader.size, codec: "flac",
      start: sound.meter.start(tables: 0..<start, fileBytes: reader.size),
      durationMilliseconds: milliseconds,
      flaws: declared > samples ? [.cutShort(neededBytes: reader.size + 1)] : [])
  }

  private init(reader: ByteReader) { self.reader = reader }

  /// Reads the metadata (section 8); returns the start of the frames.
  private mutating func readMetadata(from start: Int64) throws -> Int64 {
    var offset = start + 4
    var isLast = false
    while !isLast {
      try reader.countPart(at: offset, in: "metadata")
      var fields = try reader.fields(at: offset, count: 4, in: "metadata")
      let kind = try fields.byte()
      isLast = kind & 0x80 != 0
      let length = Int64(try fields.number(3))
      if kind & 0x7f == 0 {
        var stream = try reader.fields(at: offset + 4, count: 18, in: "STREAMINFO")
        try stream.skip(10)
        let word = try stream.number(8)
        samplesPerSecond = Int64(word >> 44)
        samplesInAll = Int64(word & 0xf_ffff_ffff)
      }
      offset += 4 + length
    }
    guard samplesPerSecond > 0 else {
      throw FormatError(.malformed("its sample rate is 0"), at: start, in: "STREAMINFO")
    }
    return offset
  }

  /// Visits the frames. A frame does not state its length: the next one begins at a header with a correct
  /// check sum and the next number. Returns the number of samples.
  private mutating func walk(from start: Int64) throws -> Int64 {
    var offset = start
    var samples: Int64 = 0
    var frames: Int64 = 0
    var last: FLACFrame?
    while offset < reader.size {
      let bytes = try reader.available(at: offset, upTo: reader.windowBytes, in: "frame")
      guard let mark = bytes.firstIndex(of: 0xff) else {
        offset += Int64(bytes.count)
        continue
      }
      offset += Int64(mark - bytes.startIndex)
      let head = try reader.available(at: offset, upTo: FLACFrame.headerBytes, in: "frame")
      guard let frame = FLACFrame(head), frame.number == (frame.countsSamples ? samples : frames)
      else {
        offset += 1
        continue
      }
      if let last { add(last, at: samples - last.samples, until: samples, end: offset) }
      frames += 1
      try reader.limits.check(frames, .samples, at: offset, in: "frame")
      samples += frame.samples
      last = frame
      offset += 1
    }
    if let last { add(last, at: samples - last.samples, until: samples, end: reader.size) }
    return samples
  }

  private mutating func add(_ frame: FLACFrame, at start: Int64, until end: Int64, end byte: Int64)
  {
    // No overflow: at most 4 million frames of 65536 samples.
    meter.add(
      time: start * 1_000_000 / samplesPerSecond, until: end * 1_000_000 / samplesPerSecond,
      end: byte)
  }
}

/// A frame's header (RFC 9639 section 9.1).
struct FLACFrame {
  /// The maximum length of a header.
  static let headerBytes = 16

  let samples: Int64
  /// The frame's number, or that of its first sample.
  let number: Int64
  let countsSamples: Bool

  /// Returns nil if the bytes do not begin with a header.
  init?(_ bytes: ArraySlice<UInt8>) {
    var fields = FieldReader(bytes, at: 0, in: "frame")
    guard let word = try? fields.unsigned32(), word >> 17 == 0x7ffc, word & 1 == 0,
      let number = Self.codedNumber(&fields)
    else { return nil }
    countsSamples = word >> 16 & 1 == 1
    self.number = number
    let blockCode = Int64(word >> 12 & 15)
    let rateCode = word >> 8 & 15
    guard rateCode != 15, word >> 4 & 15 < 11 else { return nil }
    switch blockCode {
    case 1: samples = 192
    case 2...5: samples = 144 << blockCode
    case 6, 7:
      guard let value = try? fields.number(blockCode == 6 ? 1 : 2) else { return nil }
      samples = Int64(value) + 1
    case 8...15: samples = 1 << blockCode
    default: return nil
    }
    let rateBytes = rateCode == 12 ? 1 : rateCode == 13 || rateCode == 14 ? 2 : 0
    guard (try? fields.skip(rateBytes)) != nil else { return nil }
    let length = Int(fields.position)
    guard let sum = try? fields.byte(), sum == Self.checkSum(bytes.prefix(length)) else {
      return nil
    }
  }

  /// Reads a number of up to 36 bits, coded like a UTF-8 character.
  private static func codedNumber(_ fields: inout FieldReader) -> Int64? {
    guard let first = try? fields.byte() else { return nil }
    let ones = (~first).leadingZeroBitCount
    if ones == 0 { return Int64(first) }
    guard (2...7).contains(ones) else { return nil }
    var value = Int64(first) & ((1 << Int64(7 - ones)) - 1)
    for _ in 1..<ones {
      guard let next = try? fields.byte(), next >> 6 == 2 else { return nil }
      value = value << 6 | Int64(next & 0x3f)
    }
    return value
  }

  /// Returns a CRC-8 with the polynomial x^8 + x^2 + x + 1.
  private static func checkSum(_ bytes: ArraySlice<UInt8>) -> UInt8 {
    bytes.reduce(0) { sum, byte in
      (0..<8).reduce(sum ^ byte) { sum, _ in sum << 1 ^ (sum & 0x80 != 0 ? 7 : 0) }
    }
  }
}
