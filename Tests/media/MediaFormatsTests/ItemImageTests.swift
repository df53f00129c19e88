import Testing

@testable import MediaFormats

/// Images of the HEIF family, made of boxes by hand.
struct ItemImageTests {
  private static func full(_ name: String, _ content: [UInt8], version: Int = 0) -> [UInt8] {
    MediaBytes.box(name, MediaBytes.number(version << 24) + content)
  }

  private static func short(_ value: Int) -> [UInt8] { Array(MediaBytes.number(value).suffix(2)) }

  /// A file with items 1, 2, … of these types; `properties` are the first item's, then those of the second.
  static func file(
    items: [String], properties: [[[UInt8]]], references: [(String, Int, [Int])] = [],
    extent: (offset: Int, length: Int) = (0, 8), brand: String = "avif"
  ) -> [UInt8] {
    let entries = items.enumerated().flatMap { index, type in
      full("infe", short(index + 1) + short(0) + MediaBytes.text(type) + [0], version: 2)
    }
    let all = properties.flatMap { $0 }
    var next = 1
    let associations = properties.enumerated().flatMap { index, own in
      defer { next += own.count }
      return short(index + 1) + [UInt8(own.count)] + own.indices.map { UInt8(0x80 | (next + $0)) }
    }
    let content =
      MediaBytes.number(0)
      + full(
        "hdlr", MediaBytes.number(0) + MediaBytes.text("pict") + [UInt8](repeating: 0, count: 13))
      + full("pitm", short(1)) + full("iinf", short(items.count) + entries)
      + MediaBytes.box(
        "iprp",
        MediaBytes.box("ipco", all.flatMap { $0 })
          + full("ipma", MediaBytes.number(properties.count) + associations))
      + full(
        "iref",
        references.flatMap { kind, from, to in
          MediaBytes.box(kind, short(from) + short(to.count) + to.flatMap(short))
        })
      + full(
        "iloc",
        [0x44, 0] + short(1) + short(1) + short(0) + short(1) + MediaBytes.number(extent.offset)
          + MediaBytes.number(extent.length))
    return MediaBytes.box(
      "ftyp", MediaBytes.text(brand) + MediaBytes.number(0) + MediaBytes.text("mif1"))
      + MediaBytes.box("meta", content) + MediaBytes.box("mdat", [UInt8](repeating: 1, count: 100))
  }

  static func size(_ width: Int, _ height: Int) -> [UInt8] {
    full("ispe", MediaBytes.number(width) + MediaBytes.number(height))
  }
  static func turn(_ count: UInt8) -> [UInt8] { MediaBytes.box("irot", [count]) }
  private static func mirror(_ axis: UInt8) -> [UInt8] { MediaBytes.box("imir", [axis]) }
  static let alpha = full(
    "auxC", MediaBytes.text("urn:mpeg:mpegB:cicp:systems:auxiliary:alpha\0"))

  private static func structure(_ bytes: [UInt8]) throws -> MediaStructure {
    try MediaStructure(reading: BytesInMemory(bytes))
  }

  @Test func `turns and mirrors apply one after another`() throws {
    let cases: [([[UInt8]], Int)] = [
      ([], 1), ([Self.turn(1)], 8), ([Self.turn(2)], 3), ([Self.turn(3)], 6),
      ([Self.mirror(0)], 4), ([Self.mirror(1)], 2),
      // The eight of EXIF, as the standard's table has them.
      ([Self.turn(1), Self.mirror(0)], 5), ([Self.turn(1), Self.mirror(1)], 7),
      ([Self.turn(3), Self.mirror(0)], 7), ([Self.turn(2), Self.mirror(0)], 2),
      ([Self.mirror(1), Self.mirror(1)], 1),
    ]
    for (properties, orientation) in cases {
      let found = try Self.structure(
        Self.file(items: ["av01"], properties: [[Self.size(300, 200)] + properties]))
      #expect(found.orientation.exifValue == orientation, "\(properties)")
      let shown =
        orientation >= 5 ? PixelSize(width: 200, height: 300) : PixelSize(width: 300, height: 200)
      #expect(found.displaySize == shown)
      #expect(found.codedSize == PixelSize(width: 300, height: 200))
    }
  }

  @Test func `a grid has its own size and the coding of its tiles`() throws {
    let found = try Self.structure(
      Self.file(
        items: ["grid", "hvc1", "hvc1"],
        properties: [[Self.size(4032, 3024), Self.turn(3)], [Self.size(512, 512)]],
        references: [("dimg", 1, [2, 3])], brand: "heic"))
    #expect(found.displaySize == PixelSize(width: 3024, height: 4032))
    #expect(found.videoCodec == "hevc")
    #expect(found.type.value == "image/heic")
    #expect(!found.hasAlpha)
  }

  @Test func `alpha is an item of its own that belongs to the first`() throws {
    let properties = [[Self.size(30, 20)], [Self.size(30, 20), Self.alpha]]
    let with = Self.file(
      items: ["av01", "av01"], properties: properties, references: [("auxl", 2, [1])])
    #expect(try Self.structure(with).hasAlpha)
    let without = Self.file(items: ["av01", "av01"], properties: properties)
    #expect(try !Self.structure(without).hasAlpha)
  }

  @Test func `what is cropped is shown smaller`() throws {
    let crop = MediaBytes.box(
      "clap", [200, 1, 100, 1, 0, 1, 0, 1].flatMap { MediaBytes.number($0) })
    let found = try Self.structure(
      Self.file(items: ["av01"], properties: [[Self.size(300, 200), crop, Self.turn(1)]]))
    #expect(found.displaySize == PixelSize(width: 100, height: 200))
  }

  @Test func `data beyond the file's end are missing`() throws {
    let found = try Self.structure(
      Self.file(
        items: ["av01"], properties: [[Self.size(30, 20)]], extent: (offset: 500, length: 9999)))
    #expect(found.flaws == [.cutShort(neededBytes: 10_499)])
  }

  @Test func `an image without a size is an error`() {
    let file = Self.file(items: ["av01"], properties: [[Self.turn(1)]])
    #expect(
      MovieTests.error(file)?.reason == .malformed("its primary item has no size"))
  }

  @Test func `a sequence of images is an animation`() throws {
    var movie = MovieBuilder([.pictures([500, 100, 100], keyEvery: 3)])
    movie.tracks[0].handler = "pict"
    movie.tracks[0].codec = "av01"
    movie.brand = "avis"
    let found = try Self.structure(movie.file)
    #expect(found.kind == .animation && found.type.value == "image/avif")
    #expect(found.frameCount == 3 && found.videoCodec == "av1" && found.durationMilliseconds == 120)
    #expect(found.start.headBytes == Int64(movie.dataOffset + 500))
  }
}
