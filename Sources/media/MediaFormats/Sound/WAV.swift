/// WAVE files (Microsoft's Multimedia Programming Interface 1.0, chapter 3).
enum WAV {
  /// A step of sound is a tenth of a second, or one hundred-thousandth of a very long file.
  private static let stepMicroseconds: Int64 = 100_000
  private static let stepLimit: Int64 = 100_000

  static func structure(_ reader: ByteReader, _ type: MediaType) throws -> MediaStructure {
    var offset: Int64 = 12
    var bytesPerSecond: Int64 = 0
    var codec = "pcm"
    while offset <= reader.size - 8 {
      try reader.countPart(at: offset, in: "chunk")
      var head = try reader.fields(at: offset, count: 8, in: "chunk")
      let name = try head.code()
      let length = Int64(try head.littleEndian(4))
      let content = offset + 8
      if name == "fmt " {
        var fields = try reader.fields(at: content, count: 16, in: "fmt ")
        codec = try fields.littleEndian(2) == 0x55 ? "mp3" : "pcm"
        try fields.skip(6)
        bytesPerSecond = Int64(try fields.littleEndian(4))
      }
      if name == "data" {
        guard bytesPerSecond > 0 else {
          throw FormatError(.malformed("its byte rate is 0"), at: offset, in: "fmt ")
        }
        return structure(reader, type, codec, content, length, bytesPerSecond)
      }
      // Chunks are padded to an even length.
      offset = content + length + length % 2
    }
    throw FormatError(.cutShort(neededBytes: offset + 8), at: reader.size, in: "data")
  }

  private static func structure(
    _ reader: ByteReader, _ type: MediaType, _ codec: String, _ start: Int64, _ length: Int64,
    _ bytesPerSecond: Int64
  ) -> MediaStructure {
    // A program that writes to a pipe does not know the length, and writes the largest number.
    let isUnknown = length >= Int64(UInt32.max) - 1
    let end = isUnknown ? reader.size : start + length
    let there = min(end, reader.size) - start
    // No overflow: the bytes are at most 2^32 or the file's size, and the factor is 10^6.
    let microseconds = { (bytes: Int64) in
      bytes / bytesPerSecond * 1_000_000 + bytes % bytesPerSecond * 1_000_000 / bytesPerSecond
    }
    var meter = StartMeter()
    let whole = microseconds(there)
    let step = max(stepMicroseconds, whole / stepLimit)
    var time: Int64 = 0
    repeat {
      let until = min(time + step, whole)
      // The 64 bytes added below cover the rounding and one sample of all channels.
      let bytes =
        until / 1_000_000 * bytesPerSecond + until % 1_000_000 * bytesPerSecond / 1_000_000
      meter.add(
        time: time, until: until, end: until == whole ? start + there : start + bytes + 64)
      time = until
    } while time < whole
    return MediaStructure(
      sound: type, bytes: reader.size, codec: codec,
      start: meter.start(tables: 0..<start, fileBytes: reader.size),
      durationMilliseconds: (microseconds(end - start) + 999) / 1000,
      flaws: end > reader.size ? [.cutShort(neededBytes: end)] : [])
  }
}
