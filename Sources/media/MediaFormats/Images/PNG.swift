/// PNG and APNG (Portable Network Graphics, third edition).
struct PNG {
  let reader: ByteReader
  private var header: Header?
  private var hasTransparency = false
  private var orientation = PictureOrientation.upright
  private(set) var dataRanges: [Range<Int64>] = []
  private var animation: Animation?
  private var missingEnd: Int64?
  /// The offset after the last chunk.
  private var end: Int64?

  /// The content of `IHDR` (section 11.2.1).
  struct Header {
    let size: PixelSize
    let bitDepth: Int
    let colourType: Int
    let isInterlaced: Bool
  }

  /// The frames of an animation so far.
  private struct Animation {
    let declaredCount: Int
    var meter = StartMeter()
    var count = 0
    var milliseconds: Int64 = 0
    /// The time span of the frame whose data are being read.
    var shown: Range<Int64>?
    var dataEnd: Int64 = 0

    /// Adds the announced frame, which has the data since the last frame.
    mutating func finishFrame() {
      guard let shown, dataEnd > 0 else { return }
      meter.add(
        time: shown.lowerBound * 1000, until: shown.upperBound * 1000, end: dataEnd)
      self.shown = nil
    }
  }

  static func structure(_ reader: ByteReader, _ type: MediaType) throws -> MediaStructure {
    var image = PNG(reader: reader)
    try image.walk()
    return try image.structure(type)
  }

  private init(reader: ByteReader) { self.reader = reader }

  private mutating func walk() throws {
    var offset: Int64 = 8
    while end == nil, offset < reader.size {
      try reader.countPart(at: offset, in: "chunk")
      var head = try reader.fields(at: offset, count: 8, in: "chunk")
      let length = try head.unsigned32()
      let name = try head.code()
      guard length <= Int32.max else {
        throw FormatError(
          .malformed("the chunk states a length of \(length) bytes, more than PNG allows"),
          at: offset, in: name.description)
      }
      let content = offset + 8..<offset + 8 + Int64(length)
      // A check sum of four bytes follows the content.
      let chunkEnd = content.upperBound + 4
      guard header != nil || name == "IHDR" else {
        throw FormatError(
          .malformed("the first chunk is not IHDR"), at: offset, in: name.description)
      }
      if chunkEnd > reader.size {
        missingEnd = chunkEnd
        return
      }
      try read(name, content, chunkEnd)
      offset = chunkEnd
    }
  }

  private mutating func read(
    _ name: FourCC, _ content: Range<Int64>, _ chunkEnd: Int64
  ) throws {
    switch name {
    case "IHDR": if header == nil { header = try header(content) }
    case "tRNS": hasTransparency = true
    case "eXIf":
      let count = min(Int64(EXIF.headBytes), Int64(content.count))
      orientation = EXIF.orientation(
        try reader.bytes(at: content.lowerBound, count: Int(count), in: "eXIf"))
    case "acTL":
      var fields = try reader.fields(at: content.lowerBound, count: 8, in: "acTL")
      let count = try fields.unsigned32()
      try reader.limits.check(Int64(count), .samples, at: content.lowerBound, in: "acTL")
      if dataRanges.isEmpty, count > 0 { animation = Animation(declaredCount: Int(count)) }
    case "fcTL": try readFrame(content)
    case "IDAT":
      dataRanges.append(content)
      animation?.dataEnd = chunkEnd
    case "fdAT": animation?.dataEnd = chunkEnd
    case "IEND": end = chunkEnd
    default: break
    }
  }

  private func header(_ content: Range<Int64>) throws -> Header {
    var fields = try reader.fields(at: content.lowerBound, count: 13, in: "IHDR")
    let (width, height) = (Int(try fields.unsigned32()), Int(try fields.unsigned32()))
    guard width <= Int32.max, height <= Int32.max, let size = PixelSize(width, height) else {
      throw fields.malformed("its size is \(width) by \(height)")
    }
    try size.check(reader.limits, at: fields.offset, in: fields.place)
    let (bitDepth, colourType) = (Int(try fields.byte()), Int(try fields.byte()))
    guard [1, 2, 4, 8, 16].contains(bitDepth), [0, 2, 3, 4, 6].contains(colourType) else {
      throw fields.malformed("its bit depth is \(bitDepth) and its colour type \(colourType)")
    }
    try fields.skip(2)
    return Header(
      size: size, bitDepth: bitDepth, colourType: colourType, isInterlaced: try fields.byte() == 1)
  }

  /// Reads `fcTL` (section 11.3.6.3): the time span of the frame whose data follow.
  private mutating func readFrame(_ content: Range<Int64>) throws {
    guard animation != nil else { return }
    animation?.finishFrame()
    var fields = try reader.fields(at: content.lowerBound, count: 24, in: "fcTL")
    try fields.skip(20)
    let (numerator, denominator) = (try fields.unsigned16(), try fields.unsigned16())
    let milliseconds = AnimationDelay.shown(
      numerator * 1000 / (denominator == 0 ? 100 : denominator))
    let start = animation?.milliseconds ?? 0
    animation?.milliseconds = start + milliseconds
    animation?.shown = start..<start + milliseconds
    animation?.count += 1
    // Image data before the first frame are for decoders without support for animation.
    animation?.dataEnd = 0
  }

  private mutating func structure(_ type: MediaType) throws -> MediaStructure {
    guard let header else {
      throw FormatError(.cutShort(neededBytes: 33), at: 8, in: "IHDR")
    }
    guard let first = dataRanges.first else {
      if let missingEnd {
        throw FormatError(.cutShort(neededBytes: missingEnd), at: reader.size, in: "IDAT")
      }
      throw FormatError(.malformed("it has no data"), at: 8, in: "IDAT")
    }
    let shownBytes = end ?? reader.size
    let flaws: [MediaStructure.Flaw] =
      end == nil ? [.cutShort(neededBytes: missingEnd ?? reader.size + 12)] : []
    let hasAlpha = [4, 6].contains(header.colourType) || hasTransparency
    animation?.finishFrame()
    if let animation, animation.count > 1, !animation.meter.isEmpty {
      return MediaStructure(
        image: type, kind: .animation, bytes: reader.size, codedSize: header.size,
        orientation: orientation, hasAlpha: hasAlpha,
        frameCount: end == nil ? animation.declaredCount : animation.count,
        durationMilliseconds: animation.milliseconds, codec: "apng",
        start: animation.meter.start(tables: 0..<first.lowerBound, fileBytes: reader.size),
        flaws: flaws)
    }
    let scanEnds = header.isInterlaced ? try interlacedScanEnds(header) : []
    return MediaStructure(
      image: type, bytes: reader.size, codedSize: header.size, orientation: orientation,
      hasAlpha: hasAlpha, codec: "png", start: .image(shownBytes, scanEnds: scanEnds), flaws: flaws)
  }
}

extension PNG {
  /// Adam7 (section 8.1): the origin of each pass, and the distance between its pixels.
  private static let passes: [(x: Int, y: Int, stepX: Int, stepY: Int)] = [
    (0, 0, 8, 8), (4, 0, 8, 8), (0, 4, 4, 8), (2, 0, 4, 4), (0, 2, 2, 4), (1, 0, 2, 2),
    (0, 1, 1, 2),
  ]

  /// Returns the end of each pass that has pixels. All `IDAT` chunks together are one deflate stream, so it
  /// has to be followed; the output is not kept.
  func interlacedScanEnds(_ header: Header) throws -> [Int64] {
    let channels = [0: 1, 2: 3, 3: 1, 4: 2, 6: 4][header.colourType] ?? 1
    var scanEnds: [Int64] = []
    var stream = DeflateMeter(reader: reader, ranges: dataRanges)
    var rawBytes: Int64 = 0
    for pass in Self.passes {
      let width = (header.size.width - pass.x + pass.stepX - 1) / pass.stepX
      let height = (header.size.height - pass.y + pass.stepY - 1) / pass.stepY
      guard width > 0, height > 0 else { continue }
      // Each row begins with a byte for its filter.
      let rowBytes = (Int64(width) * Int64(channels * header.bitDepth) + 7) / 8 + 1
      rawBytes += rowBytes * Int64(height)
      guard let end = try stream.inputEnd(ofOutput: rawBytes) else { return scanEnds }
      scanEnds.append(end)
    }
    return scanEnds
  }
}
