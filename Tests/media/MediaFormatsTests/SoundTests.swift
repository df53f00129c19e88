import Testing

@testable import MediaFormats

struct SoundTests {
  private static func structure(_ bytes: [UInt8]) throws -> MediaStructure {
    try MediaStructure(reading: BytesInMemory(bytes))
  }

  /// 8000 bytes a second.
  static func wav(seconds: Int, saidBytes: Int? = nil) -> [UInt8] {
    let format = MediaBytes.hex("0100 0100 401f0000 401f0000 0100 0800")
    let data = [UInt8](repeating: 0x80, count: 8000 * seconds)
    var bytes = MediaBytes.text("RIFF\0\0\0\0WAVEfmt \u{10}\0\0\0") + format
    bytes += MediaBytes.text("data") + MediaBytes.number(saidBytes ?? data.count).reversed()
    return bytes + data
  }

  @Test func `a WAVE file is needed as fast as it plays`() throws {
    let found = try Self.structure(Self.wav(seconds: 3))
    #expect(found.kind == .sound && found.audioCodec == "pcm" && found.displaySize == nil)
    #expect(found.durationMilliseconds == 3000)
    #expect(found.start.headBytes == 908)
    #expect(found.start.curve.map(\.bytes) == [8108, 16_108, 24_044])
    let piped = try Self.structure(Self.wav(seconds: 3, saidBytes: -1))
    #expect(piped.durationMilliseconds == 3000 && piped.flaws.isEmpty)
    let short = try Self.structure(Self.wav(seconds: 3, saidBytes: 40_000))
    #expect(short.durationMilliseconds == 5000 && short.flaws == [.cutShort(neededBytes: 40_044)])
  }

  @Test func `MP3 and AAC are gone through frame by frame`() throws {
    // 1152 samples at 44.1 kHz are 26.12 ms, and 1024 are 23.22.
    let mp3 = MediaBytes.frames("ff fb 90 00", bytes: 417, count: 100)
    let found = try Self.structure(mp3)
    #expect(found.type.value == "audio/mpeg" && found.durationMilliseconds == 2613)
    #expect(found.start.headBytes == 417)
    // The 39 frames that begin in the first second.
    #expect(found.start.curve[0].bytes == 39 * 417)
    let tag = MediaBytes.text("ID3") + [4, 0, 0, 0, 0, 1, 0] + [UInt8](repeating: 0, count: 128)
    #expect(try Self.structure(tag + mp3).start.headBytes == 138 + 417)
    let table =
      MediaBytes.frames("ff fb 90 00", bytes: 36, count: 1) + MediaBytes.text("Xing")
      + [UInt8](repeating: 0, count: 377)
    #expect(try Self.structure(table + mp3).durationMilliseconds == 2613)
    #expect(try Self.structure(table + mp3).start.headBytes == 2 * 417)

    let aac = try Self.structure(MediaBytes.frames("ff f1 50 80 03 00 00", bytes: 24, count: 50))
    #expect(aac.type.value == "audio/aac" && aac.durationMilliseconds == 1161)
  }

  /// A frame's header with its number, the check sum, and data that look like headers with other numbers.
  private static func flacFrame(_ number: UInt8) -> [UInt8] {
    let head: [UInt8] = [0xff, 0xf8, 0xc9, 0x08, number]
    let sum = head.reduce(UInt8(0)) { sum, byte in
      (0..<8).reduce(sum ^ byte) { sum, _ in sum << 1 ^ (sum & 0x80 != 0 ? 7 : 0) }
    }
    return head + [sum] + [0xff, 0xf8, 0xc9, 0x08, number &+ 9, 0xff, 0xff]
      + [UInt8](repeating: 3, count: 87)
  }

  /// Ten frames of 4096 samples at 44.1 kHz.
  static let flac: [UInt8] = {
    var bytes = MediaBytes.text("fLaC") + MediaBytes.hex("80000022 00000000000000000000")
    bytes += MediaBytes.number(44_100 << 12 | 1 << 9 | 15 << 4) + MediaBytes.number(40_960)
    bytes += [UInt8](repeating: 0, count: 16)
    return bytes + (0..<10).flatMap { flacFrame(UInt8($0)) }
  }()

  @Test func `the frames of FLAC are found by their check sums and numbers`() throws {
    let found = try Self.structure(Self.flac)
    #expect(found.audioCodec == "flac" && found.durationMilliseconds == 929)
    #expect(found.start.headBytes == 42 + 100)
    let short = try Self.structure(Array(Self.flac.prefix(42 + 550)))
    #expect(short.flaws.count == 1)
    #expect(short.durationMilliseconds == 929)
  }

  /// Pages of half a second of Opus, behind its two headers.
  static let ogg: [UInt8] = {
    func page(_ position: Int, _ flags: UInt8, _ content: [UInt8]) -> [UInt8] {
      var bytes = MediaBytes.text("OggS\0") + [flags] + MediaBytes.number(position).reversed()
      bytes += MediaBytes.hex("00000000 01000000 0000000000000000 01") + [UInt8(content.count)]
      return bytes + content
    }
    let head = MediaBytes.text("OpusHead") + MediaBytes.hex("01023801 00000000000000")
    let data = [UInt8](repeating: 1, count: 200)
    let headers = page(0, 2, head) + page(0, 0, MediaBytes.text("OpusTags"))
    return headers + (1...6).flatMap { page(312 + 24_000 * $0, 0, data) }
  }()

  @Test func `pages of Ogg are needed when the sound that they end begins`() throws {
    let found = try Self.structure(Self.ogg)
    #expect(found.type.value == "audio/ogg" && found.audioCodec == "opus")
    #expect(found.durationMilliseconds == 3000)
    let headers = 28 + 19 + 28 + 8
    #expect(found.start.headBytes == Int64(headers + 228))
    #expect(
      found.start.curve.map(\.bytes) == [2, 4, 6].map { Int64(headers + 228 * $0) })
  }

  @Test func `a type that is known, and whose structure is not read, is named`() {
    let error = MovieTests.error(MediaBytes.packets(5))
    #expect(error?.reason == .unsupported("the file has type video/mp2t"))
    #expect(error?.description == "the file has type video/mp2t, which is not supported")
  }
}
