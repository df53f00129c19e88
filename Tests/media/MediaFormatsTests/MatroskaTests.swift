import Testing

@testable import MediaFormats

/// Makes Matroska files.
private enum Matroska {
  /// An element; without a size where it is not known.
  static func element(_ identifier: String, _ content: [UInt8], knowsSize: Bool = true) -> [UInt8] {
    // A size of four bytes; all bits of one say that it is not known.
    let size = MediaBytes.number(0x1000_0000 | content.count)
    return MediaBytes.hex(identifier) + (knowsSize ? size : [0xff]) + content
  }

  static func unsigned(_ identifier: String, _ value: Int) -> [UInt8] {
    element(identifier, MediaBytes.number(value))
  }

  static func header(_ kind: String) -> [UInt8] {
    element("1a45dfa3", element("4282", MediaBytes.text(kind)))
  }

  static func track(_ number: Int, _ kind: Int, _ codec: String, _ more: [UInt8] = []) -> [UInt8] {
    element(
      "ae",
      unsigned("d7", number) + unsigned("83", kind) + element("86", MediaBytes.text(codec)) + more)
  }

  static func block(_ track: Int, _ ticks: Int, isKey: Bool = true, bytes: Int) -> [UInt8] {
    [0x80 | UInt8(track)] + MediaBytes.number(ticks).suffix(2) + [isKey ? 0x80 : 0]
      + [UInt8](repeating: 0xcc, count: bytes)
  }
}

struct MatroskaTests {
  static let video = Matroska.element(
    "e0", Matroska.unsigned("b0", 640) + Matroska.unsigned("ba", 360))

  /// Two seconds, in clusters of one: a picture each 100 ms and the sound of them behind.
  static func file(knowsSizes: Bool, usesGroups: Bool, video: [UInt8] = video) -> [UInt8] {
    let tracks = Matroska.element(
      "1654ae6b",
      Matroska.track(1, 1, "V_VP9", video) + Matroska.track(2, 2, "A_OPUS"))
    var segment =
      Matroska.element("1549a966", Matroska.element("4489", [0x44, 0xfa, 0, 0])) + tracks
    for second in 0..<2 {
      var cluster = Matroska.unsigned("e7", second * 1000)
      for frame in 0..<10 {
        let isKey = frame == 0
        let picture = Matroska.block(1, frame * 100, isKey: isKey, bytes: isKey ? 5000 : 200)
        let group =
          Matroska.element("a1", picture) + Matroska.unsigned("9b", 100)
          + (isKey ? [] : Matroska.unsigned("fb", 100))
        cluster += usesGroups ? Matroska.element("a0", group) : Matroska.element("a3", picture)
        cluster += Matroska.element("a3", Matroska.block(2, frame * 100, bytes: 90))
      }
      segment += Matroska.element("1f43b675", cluster, knowsSize: knowsSizes)
    }
    return Matroska.header("webm") + Matroska.element("18538067", segment, knowsSize: knowsSizes)
  }

  @Test(arguments: [true, false], [true, false])
  func `blocks are found in groups and alone, with sizes and without`(
    knowsSizes: Bool, usesGroups: Bool
  ) throws {
    let file = Self.file(knowsSizes: knowsSizes, usesGroups: usesGroups)
    let found = try MediaStructure(reading: BytesInMemory(file))
    #expect(found.type.value == "video/webm")
    #expect(found.videoCodec == "vp9" && found.audioCodec == "opus")
    #expect(found.frameCount == 20)
    #expect(found.durationMilliseconds == 2000)
    #expect(found.displaySize == PixelSize(width: 640, height: 360))
    // The head is up to the end of the first block of sound, of 90 bytes and its header.
    let sound = [UInt8](repeating: 0xcc, count: 90)
    let head = Int(found.start.headBytes)
    #expect(Array(file[head - 90..<head]) == sound)
    #expect(Array(file[head - 94..<head - 90]) == [0x82, 0, 0, 0x80])
    #expect(found.start.curve.map(\.milliseconds) == [1000, 2000])
    // The last block of the first second: 900 ms.
    let second = Int(found.start.curve[0].bytes)
    #expect(Array(file[second - 94..<second - 90]) == [0x82, 0x03, 0x84, 0x80])
    #expect(found.start.curve[1].bytes == Int64(file.count))
  }

  @Test func `the size is what the file says that it is to be shown as`() throws {
    func size(_ more: [UInt8]) throws -> PixelSize? {
      let content =
        Matroska.unsigned("b0", 720) + Matroska.unsigned("ba", 576) + more
      let file = Self.file(
        knowsSizes: true, usesGroups: false, video: Matroska.element("e0", content))
      return try MediaStructure(reading: BytesInMemory(file)).displaySize
    }
    #expect(try size([]) == PixelSize(width: 720, height: 576))
    let shown = Matroska.unsigned("54b0", 1024) + Matroska.unsigned("54ba", 576)
    #expect(try size(shown) == PixelSize(width: 1024, height: 576))
    let proportions =
      Matroska.unsigned("54b0", 16) + Matroska.unsigned("54ba", 9) + Matroska.unsigned("54b2", 3)
    #expect(try size(proportions) == PixelSize(width: 1024, height: 576))
    #expect(
      try size(Matroska.unsigned("54bb", 8) + Matroska.unsigned("54cc", 20))
        == PixelSize(width: 700, height: 568))
    // Minus 90 degrees.
    let roll = Matroska.element("7670", Matroska.element("7675", [0xc2, 0xb4, 0, 0]))
    #expect(try size(roll) == PixelSize(width: 576, height: 720))
  }

  @Test func `of a long stream only so much is looked at as is allowed`() throws {
    let file = Self.file(knowsSizes: false, usesGroups: false)
    var limits = MediaLimits()
    limits.walkedBytes = 8000
    let found = try MediaStructure(reading: BytesInMemory(file), limits: limits)
    let exact = try MediaStructure(reading: BytesInMemory(file))
    #expect(found.durationMilliseconds == 2000)
    #expect(found.start.headBytes == exact.start.headBytes)
    #expect(found.start.curve[0] == exact.start.curve[0])
    #expect(found.start.curve[1].bytes == Int64(file.count))
  }

  @Test func `a file that is cut short plays up to there`() throws {
    let file = Self.file(knowsSizes: true, usesGroups: true)
    let found = try MediaStructure(reading: BytesInMemory(Array(file.prefix(file.count - 3000))))
    #expect(found.flaws == [.cutShort(neededBytes: Int64(file.count))])
    #expect(found.durationMilliseconds == 2000)
    #expect(throws: FormatError.self) {
      try MediaStructure(reading: BytesInMemory(Array(file.prefix(60))))
    }
  }
}
