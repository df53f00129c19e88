import Testing

@testable import MediaFormats

struct ImageTests {
  private static func structure(_ bytes: [UInt8]) throws -> MediaStructure {
    try MediaStructure(reading: BytesInMemory(bytes))
  }

  // MARK: JPEG

  private static func segment(_ code: UInt8, _ content: [UInt8]) -> [UInt8] {
    [0xff, code] + MediaBytes.number(content.count + 2).suffix(2) + content
  }

  /// A JPEG file of 300 by 200 whose scans have data with restart markers and stuffed bytes.
  static func jpeg(
    frame: UInt8, scans: Int, before: [UInt8] = []
  ) -> ([UInt8], ends: [Int64]) {
    var bytes: [UInt8] = [0xff, 0xd8] + before
    bytes += segment(frame, [8, 0, 200, 1, 44, 1, 1, 0x11, 0])
    var ends: [Int64] = []
    for _ in 0..<scans {
      bytes += segment(0xc4, [UInt8](repeating: 0, count: 17))
      bytes += segment(0xda, [1, 1, 0, 0, 63, 0])
      bytes += [0x12, 0xff, 0, 0x34, 0xff, 0xd3, 0x56] + [UInt8](repeating: 7, count: 90)
      ends.append(Int64(bytes.count))
    }
    return (bytes + [0xff, 0xd9], ends)
  }

  @Test func `of very many scans the first ones are told`() throws {
    let (bytes, ends) = Self.jpeg(frame: 0xc2, scans: 100)
    let found = try MediaStructure(reading: BytesInMemory(bytes))
    #expect(found.start.scanEnds == Array(ends.prefix(64)))
    #expect(found.start.headBytes == ends[0] && found.flaws.isEmpty)
  }

  @Test func `the first scan of a progressive JPEG shows it`() throws {
    let (bytes, ends) = Self.jpeg(frame: 0xc2, scans: 5)
    let found = try Self.structure(bytes)
    #expect(found.start.scanEnds == ends)
    #expect(found.start.headBytes == ends[0])
    #expect(found.displaySize == PixelSize(width: 300, height: 200))
    #expect(found.kind == .image && found.frameCount == 1 && !found.hasAlpha)
  }

  @Test func `of any other all is needed, but nothing behind its end`() throws {
    let (bytes, _) = Self.jpeg(frame: 0xc0, scans: 3)
    let found = try Self.structure(bytes + [UInt8](repeating: 0xff, count: 5000))
    #expect(found.start.headBytes == Int64(bytes.count))
    #expect(found.start.scanEnds.isEmpty && found.flaws.isEmpty)
    let short = try Self.structure(Array(bytes.dropLast(2)))
    #expect(short.flaws == [.cutShort(neededBytes: Int64(bytes.count - 1))])
  }

  /// EXIF data with this orientation.
  private static func exif(_ orientation: UInt8, isLittleEndian: Bool) -> [UInt8] {
    isLittleEndian
      ? MediaBytes.hex("49492a00 08000000 0200 0f01 0200 00000000 00000000 1201 0300 01000000")
        + [orientation, 0, 0, 0, 0, 0, 0, 0]
      : MediaBytes.hex("4d4d002a 00000008 0001 0112 0003 00000001 00")
        + [orientation, 0, 0, 0, 0, 0, 0]
  }

  @Test(arguments: 1...8, [true, false])
  func `the orientation of EXIF turns a JPEG`(orientation: Int, isLittleEndian: Bool) throws {
    let data = Self.exif(UInt8(orientation), isLittleEndian: isLittleEndian)
    let (bytes, _) = Self.jpeg(
      frame: 0xc0, scans: 1,
      before: Self.segment(0xe1, MediaBytes.text("Exif\0\0") + data))
    let found = try Self.structure(bytes)
    #expect(found.orientation.exifValue == orientation)
    let turned = PixelSize(width: 200, height: 300)
    #expect(found.displaySize == (orientation >= 5 ? turned : PixelSize(width: 300, height: 200)))
    #expect(found.codedSize == PixelSize(width: 300, height: 200))
  }

  // MARK: PNG

  static func chunk(_ name: String, _ content: [UInt8]) -> [UInt8] {
    MediaBytes.number(content.count) + MediaBytes.text(name) + content + [0, 0, 0, 0]
  }

  static func png(
    _ chunks: [UInt8], colourType: UInt8 = 2, interlaced: UInt8 = 0
  ) -> [UInt8] {
    MediaBytes.hex("89504e470d0a1a0a")
      + chunk(
        "IHDR", MediaBytes.number(40) + MediaBytes.number(30) + [8, colourType, 0, 0, interlaced])
      + chunks + chunk("IEND", [])
  }

  @Test func `a PNG has alpha by its colour type or a transparent colour`() throws {
    let data = Self.chunk("IDAT", [1, 2, 3])
    #expect(try !Self.structure(Self.png(data)).hasAlpha)
    #expect(try Self.structure(Self.png(data, colourType: 6)).hasAlpha)
    #expect(try Self.structure(Self.png(Self.chunk("tRNS", [0, 0]) + data)).hasAlpha)
    let turned = Self.chunk("eXIf", Self.exif(6, isLittleEndian: false))
    #expect(
      try Self.structure(Self.png(data + turned)).displaySize == PixelSize(width: 30, height: 40))
  }

  /// A frame of an APNG, shown for this many milliseconds.
  static func frame(_ milliseconds: Int) -> [UInt8] {
    chunk(
      "fcTL",
      [UInt8](repeating: 0, count: 20) + MediaBytes.number(milliseconds << 16 | 1000) + [0, 0])
  }

  @Test func `an APNG is shown with its first frame, which may not be its image`() throws {
    let control = Self.chunk("acTL", MediaBytes.number(3) + MediaBytes.number(0))
    let image = Self.chunk("IDAT", [UInt8](repeating: 1, count: 500))
    let data = Self.chunk("fdAT", [UInt8](repeating: 2, count: 300))
    let first = Self.png(
      control + Self.frame(100) + image + Self.frame(0) + data + Self.frame(1400) + data)
    let found = try Self.structure(first)
    #expect(found.kind == .animation && found.frameCount == 3)
    // One that asks for no time gets a tenth of a second.
    #expect(found.durationMilliseconds == 1600)
    #expect(found.start.headBytes == 603)
    #expect(found.start.curve.map(\.milliseconds) == [1000, 1600])

    let other = try Self.structure(
      Self.png(control + image + Self.frame(100) + data + Self.frame(100) + data))
    #expect(other.frameCount == 2)
    #expect(other.start.headBytes == 915)
  }

  @Test func `a PNG's chunk that is too long, or not there as a whole`() throws {
    let header = Array(Self.png([]).prefix(33))
    let long = header + MediaBytes.number(-1) + MediaBytes.text("IDAT")
    #expect(MovieTests.error(long)?.place == "IDAT")
    let whole = Self.png(Self.chunk("IDAT", [1, 2, 3]))
    #expect(try Self.structure(Array(whole.prefix(whole.count - 12))).flaws.count == 1)
    #expect(MovieTests.error(Self.png([]))?.reason == .malformed("it has no data"))
  }

  // MARK: GIF, WebP, BMP, SVG

  /// An animation of two frames.
  static let gif: [UInt8] = {
    let frame = MediaBytes.hex("2c 00000000 0a000a00 00 02 03 010203 02 0405 00")
    let control = MediaBytes.hex("21f904 01 1900 00 00")
    let screen = MediaBytes.text("GIF89a") + MediaBytes.hex("0a000a00 80 00 00 000000 ffffff")
    return screen + frame + control + frame + [0x3b]
  }()

  @Test func `each frame of a GIF counts, and those without a delay are slow`() throws {
    let frame = MediaBytes.hex("2c 00000000 0a000a00 00 02 03 010203 02 0405 00")
    let screen = MediaBytes.text("GIF89a") + MediaBytes.hex("0a000a00 80 00 00 000000 ffffff")
    let found = try Self.structure(Self.gif)
    #expect(found.kind == .animation && found.frameCount == 2 && found.hasAlpha)
    #expect(found.durationMilliseconds == 350)
    #expect(found.start.headBytes == Int64(screen.count + frame.count))
    let still = try Self.structure(screen + frame + [0x3b, 9, 9])
    #expect(still.kind == .image && still.durationMilliseconds == nil)
    #expect(still.start.headBytes == Int64(screen.count + frame.count + 1))
    let short = try Self.structure(Array(Self.gif.dropLast(4)))
    #expect(short.frameCount == 1 && short.flaws.count == 1)
  }

  private static func riff(_ name: String, _ content: [UInt8]) -> [UInt8] {
    MediaBytes.text(name) + MediaBytes.number(content.count).reversed() + content
      + (content.count % 2 == 1 ? [0] : [])
  }

  private static func webp(_ chunks: [UInt8]) -> [UInt8] {
    riff("RIFF", MediaBytes.text("WEBP") + chunks)
  }

  @Test func `a WebP of each kind says its size`() throws {
    let lossy = Self.riff("VP8 ", MediaBytes.hex("100200 9d012a 4001 b480 00"))
    #expect(try Self.structure(Self.webp(lossy)).displaySize == PixelSize(width: 320, height: 180))
    // 14 bits each, less one, and a bit for alpha.
    let word = 1 << 28 | (180 - 1) << 14 | (320 - 1)
    let lossless = Self.riff("VP8L", [0x2f] + MediaBytes.number(word).reversed() + [0, 0, 0, 0, 0])
    let found = try Self.structure(Self.webp(lossless))
    #expect(found.displaySize == PixelSize(width: 320, height: 180) && found.hasAlpha)
    let extended = Self.riff("VP8X", MediaBytes.hex("08000000 3f0100 b30000"))
    let turned = Self.riff("EXIF", Self.exif(8, isLittleEndian: true))
    let shown = try Self.structure(Self.webp(extended + lossy + turned))
    #expect(shown.displaySize == PixelSize(width: 180, height: 320) && !shown.hasAlpha)
  }

  /// Two frames, of 40 and of 200 ms.
  static let animatedWebP: [UInt8] = {
    let extended = riff("VP8X", MediaBytes.hex("12000000 3f0100 b30000"))
    func frame(_ delay: UInt8) -> [UInt8] {
      riff("ANMF", [UInt8](repeating: 0, count: 12) + [delay, 0, 0, 0] + [7, 7, 7, 7])
    }
    return webp(extended + frame(40) + frame(200))
  }()

  @Test func `an animated WebP is shown with its first frame`() throws {
    let found = try Self.structure(Self.animatedWebP)
    #expect(found.kind == .animation && found.frameCount == 2 && found.hasAlpha)
    #expect(found.durationMilliseconds == 240)
    #expect(found.start.headBytes == 58)
  }

  @Test func `a bitmap may be upside down`() throws {
    let bytes =
      MediaBytes.text("BM") + MediaBytes.hex("ffff0000 00000000 36000000 28000000")
      + Array(MediaBytes.number(64).reversed()) + Array(MediaBytes.number(-48).reversed())
      + MediaBytes.hex("0100 1800")
    #expect(try Self.structure(bytes).displaySize == PixelSize(width: 64, height: 48))
  }

  @Test(arguments: [
    ("<svg width='30' height=\"20px\">", "30x20"), ("<svg width='1in' height='1pc'/>", "96x16"),
    ("<?xml version='1.0'?><!-- <svg> --><!DOCTYPE svg>\n<svg viewBox='0 0 400 100'>", "400x100"),
    ("<svg height='50' viewBox='0,0,400,100'>", "200x50"),
    ("<svg width='100%' height='100%' viewBox='0 0 4.4 3'>", "4x3"),
    ("<s:svg xmlns:s='http://www.w3.org/2000/svg' width='7' height='8'>", "7x8"),
    ("<svg width='100%'>", "none"), ("<svg/>", "none"), ("<svg width='-4' height='3'>", "none"),
  ])
  func `the size of an SVG is that of its first tag`(_ text: String, _ expected: String) throws {
    let found = try Self.structure(MediaBytes.text(text))
    #expect(found.type.value == "image/svg+xml" && !found.type.isPassive)
    #expect(found.displaySize.map { "\($0.width)x\($0.height)" } ?? "none" == expected)
  }

  @Test(arguments: ["<html><svg width='3' height='3'>", "<svgx/>", "<", "<!--", "<?xml ", "<svg"])
  func `other markup is no image`(_ text: String) {
    let reason = MovieTests.error(MediaBytes.text(text))?.reason
    #expect(text == "<svg" ? reason == nil : reason == .unknownFormat)
  }
}
