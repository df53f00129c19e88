/// GIF (Graphics Interchange Format, version 89a): the screen, and where each frame ends.
struct GIF {
  private let reader: ByteReader
  private var offset: Int64 = 0
  private var size: PixelSize?
  private var firstFrameSize: PixelSize?
  private var hasAlpha = false
  private var frameCount = 0
  /// The time for which the next frame is shown.
  private var delayMilliseconds = AnimationDelay.shown(0)
  private var milliseconds: Int64 = 0
  private var meter = StartMeter()
  private var isWhole = false

  static func structure(_ reader: ByteReader, _ type: MediaType) throws -> MediaStructure {
    var image = GIF(reader: reader)
    do {
      try image.readScreen()
      while !image.isWhole { try image.readBlock() }
    } catch let error as FormatError {
      // A truncated file still has the frames before the cut.
      guard case .cutShort = error.reason, image.size ?? image.firstFrameSize != nil else {
        throw error
      }
    }
    return try image.structure(type)
  }

  private init(reader: ByteReader) { self.reader = reader }

  private mutating func readScreen() throws {
    var fields = try reader.fields(at: 0, count: 13, in: "screen")
    try fields.skip(6)
    size = PixelSize(Int(try fields.littleEndian(2)), Int(try fields.littleEndian(2)))
    let flags = try fields.byte()
    offset = 13 + Self.colourTableBytes(flags)
  }

  private static func colourTableBytes(_ flags: UInt8) -> Int64 {
    flags & 0x80 != 0 ? 3 << (Int64(flags & 7) + 1) : 0
  }

  private mutating func readBlock() throws {
    try reader.countPart(at: offset, in: "block")
    switch try reader.bytes(at: offset, count: 1, in: "block").first {
    case 0x2c: try readFrame()
    case 0x21: try readExtension()
    case 0x3b:
      isWhole = true
      offset += 1
    case let other:
      throw FormatError(
        .malformed("a block begins with \(other ?? 0)"), at: offset, in: "block")
    }
  }

  private mutating func readExtension() throws {
    let label = try reader.bytes(at: offset + 1, count: 1, in: "extension").first
    // The graphic control extension (section 23) applies to the next frame.
    if label == 0xf9 {
      var fields = try reader.fields(at: offset + 2, count: 5, in: "graphic control")
      try fields.skip(1)
      hasAlpha = try fields.byte() & 1 != 0 || hasAlpha
      delayMilliseconds = AnimationDelay.shown(Int(try fields.littleEndian(2)) * 10)
    }
    offset += 2
    try skipSubBlocks()
  }

  private mutating func readFrame() throws {
    var fields = try reader.fields(at: offset, count: 10, in: "image")
    try fields.skip(5)
    if firstFrameSize == nil {
      firstFrameSize = PixelSize(
        Int(try fields.littleEndian(2)), Int(try fields.littleEndian(2)))
    } else {
      try fields.skip(4)
    }
    // The colour table is followed by a byte with the minimum code size.
    offset += 11 + Self.colourTableBytes(try fields.byte())
    try skipSubBlocks()
    try reader.limits.check(Int64(frameCount + 1), .samples, at: offset, in: "image")
    frameCount += 1
    let end = milliseconds + delayMilliseconds
    meter.add(time: milliseconds * 1000, until: end * 1000, end: offset)
    milliseconds = end
    delayMilliseconds = AnimationDelay.shown(0)
  }

  /// Skips blocks of data, each with its length in front, up to the one of length 0.
  private mutating func skipSubBlocks() throws {
    while true {
      let length = try reader.bytes(at: offset, count: 1, in: "data").first ?? 0
      offset += 1 + Int64(length)
      if length == 0 { return }
    }
  }

  private func structure(_ type: MediaType) throws -> MediaStructure {
    guard let size = size ?? firstFrameSize else {
      throw FormatError(.malformed("its size is 0"), at: 6, in: "screen")
    }
    try size.check(reader.limits, at: 6, in: "screen")
    let isAnimation = frameCount > 1
    return MediaStructure(
      image: type, kind: isAnimation ? .animation : .image, bytes: reader.size, codedSize: size,
      hasAlpha: hasAlpha, frameCount: frameCount,
      durationMilliseconds: isAnimation ? milliseconds : nil, codec: "gif",
      start: isAnimation
        ? meter.start(tables: 0..<13, fileBytes: reader.size)
        : .image(isWhole ? offset : reader.size, scanEnds: []),
      flaws: isWhole ? [] : [.cutShort(neededBytes: reader.size + 1)])
  }
}

/// The time for which a frame of an animation is shown.
enum AnimationDelay {
  /// Returns the time for which browsers show a frame: 100 ms for a delay of 10 ms or less, because old
  /// animations rely on the slow programs of their time.
  static func shown(_ milliseconds: Int) -> Int64 { milliseconds <= 10 ? 100 : Int64(milliseconds) }
}
