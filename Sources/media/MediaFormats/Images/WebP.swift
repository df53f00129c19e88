/// WebP (RFC 9649), and its animations.
struct WebP {
  private let reader: ByteReader
  private var size: PixelSize?
  private var hasAlpha = false
  private var orientation = PictureOrientation.upright
  private var meter = StartMeter()
  private var frameCount = 0
  private var milliseconds: Int64 = 0
  private var dataStart: Int64 = 12
  private var missingEnd: Int64?

  static func structure(_ reader: ByteReader, _ type: MediaType) throws -> MediaStructure {
    var image = WebP(reader: reader)
    var fields = try reader.fields(at: 4, count: 4, in: "RIFF")
    let end = 8 + Int64(try fields.littleEndian(4))
    if end > reader.size { image.missingEnd = end }
    try image.walk(to: min(end, reader.size))
    return try image.structure(type, end: min(end, reader.size))
  }

  private init(reader: ByteReader) { self.reader = reader }

  private mutating func walk(to end: Int64) throws {
    var offset: Int64 = 12
    while offset <= end - 8 {
      try reader.countPart(at: offset, in: "chunk")
      var head = try reader.fields(at: offset, count: 8, in: "chunk")
      let name = try head.code()
      let length = Int64(try head.littleEndian(4))
      let content = offset + 8
      if content + length > reader.size {
        missingEnd = content + length
        // The file may still contain the frame's header with the image's size.
        try read(name, content, min(length, reader.size - content), isWhole: false)
        return
      }
      try read(name, content, length, isWhole: true)
      // Chunks are padded to an even length.
      offset = content + length + length % 2
    }
  }

  private mutating func read(
    _ name: FourCC, _ content: Int64, _ length: Int64, isWhole: Bool
  ) throws {
    let place = name.description
    switch name {
    case "VP8X":
      var fields = try reader.fields(at: content, count: 10, in: place)
      let flags = try fields.byte()
      hasAlpha = flags & 0x10 != 0
      try fields.skip(3)
      size = PixelSize(
        Int(try fields.littleEndian(3)) + 1, Int(try fields.littleEndian(3)) + 1)
    case "VP8 ":
      if size == nil { size = try lossySize(content, place) }
    case "VP8L":
      var fields = try reader.fields(at: content, count: 5, in: place)
      guard try fields.byte() == 0x2f else { throw fields.malformed("it has no signature") }
      let word = Int(try fields.littleEndian(4))
      if size == nil {
        size = PixelSize((word & 0x3fff) + 1, (word >> 14 & 0x3fff) + 1)
        hasAlpha = word >> 28 & 1 != 0
      }
    case "ALPH": hasAlpha = true
    case "EXIF":
      let count = Int(min(length, Int64(EXIF.headBytes)))
      orientation = EXIF.orientation(try reader.bytes(at: content, count: count, in: place))
    case "ANMF":
      var fields = try reader.fields(at: content, count: 15, in: place)
      try fields.skip(12)
      if frameCount == 0 { dataStart = content }
      try reader.limits.check(Int64(frameCount + 1), .samples, at: content, in: place)
      frameCount += 1
      let end = milliseconds + AnimationDelay.shown(Int(try fields.littleEndian(3)))
      if isWhole {
        meter.add(time: milliseconds * 1000, until: end * 1000, end: content + length)
      }
      milliseconds = end
    default: break
    }
  }

  /// Returns the size in the frame header of VP8 (RFC 6386 section 9.1); the upper two bits of
  /// each number are for scaling.
  private func lossySize(_ content: Int64, _ place: String) throws -> PixelSize? {
    var fields = try reader.fields(at: content, count: 10, in: place)
    try fields.skip(3)
    guard try fields.number(3) == 0x9d012a else {
      throw fields.malformed("it has no key frame's start code")
    }
    return PixelSize(
      Int(try fields.littleEndian(2)) & 0x3fff, Int(try fields.littleEndian(2)) & 0x3fff)
  }

  private func structure(_ type: MediaType, end: Int64) throws -> MediaStructure {
    guard let size else {
      if let missingEnd {
        throw FormatError(.cutShort(neededBytes: missingEnd), at: reader.size, in: "RIFF")
      }
      throw FormatError(.malformed("it has no picture"), at: 12, in: "RIFF")
    }
    try size.check(reader.limits, at: 12, in: "RIFF")
    let isAnimation = frameCount > 1 && !meter.isEmpty
    return MediaStructure(
      image: type, kind: isAnimation ? .animation : .image, bytes: reader.size, codedSize: size,
      orientation: orientation, hasAlpha: hasAlpha, frameCount: max(frameCount, 1),
      durationMilliseconds: isAnimation ? milliseconds : nil, codec: "webp",
      start: isAnimation
        ? meter.start(tables: 0..<dataStart, fileBytes: reader.size)
        : .image(end, scanEnds: []),
      flaws: missingEnd.map { [.cutShort(neededBytes: $0)] } ?? [])
  }
}
