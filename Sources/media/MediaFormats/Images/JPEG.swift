/// JPEG (ITU-T T.81 annex B): the frame header, the orientation, and the end of each scan.
struct JPEG {
  private let reader: ByteReader
  private var offset: Int64 = 2
  private var size: (width: Int, height: Int)?
  private var isProgressive = false
  private var orientation = PictureOrientation.upright
  private var scanEnds: [Int64] = []
  /// The offset after the end marker, if there is one.
  private var end: Int64?

  static func structure(_ reader: ByteReader, _ type: MediaType) throws -> MediaStructure {
    var image = JPEG(reader: reader)
    try image.walk()
    return try image.structure(type)
  }

  private init(reader: ByteReader) { self.reader = reader }

  /// Walks from marker to marker up to the end marker or the end of the file.
  private mutating func walk() throws {
    while end == nil, let marker = try nextMarker() {
      try reader.countPart(at: offset, in: "marker")
      switch marker {
      // Restart markers and others without a segment.
      case 0x01, 0xd0...0xd8: break
      case 0xd9: end = offset
      default:
        guard let segment = try segment(marker) else { return }
        try read(marker, segment)
      }
    }
  }

  /// Returns the code of the marker at the offset and advances past it; nil at the end of the file.
  private mutating func nextMarker() throws -> UInt8? {
    var bytes = try reader.available(at: offset, upTo: 2, in: "marker")
    if bytes.first != 0xff {
      // Decoders skip extra bytes between segments.
      try skipToMarker()
      bytes = try reader.available(at: offset, upTo: 2, in: "marker")
      if bytes.isEmpty { return nil }
    }
    // Any number of fill bytes may precede a marker.
    while bytes.count == 2, bytes.last == 0xff {
      offset += 1
      bytes = try reader.available(at: offset, upTo: 2, in: "marker")
    }
    guard bytes.count == 2 else { return nil }
    offset += 2
    return bytes.last
  }

  /// Returns the segment after the marker and advances past it; nil if the file ends within it.
  private mutating func segment(_ marker: UInt8) throws -> FieldReader? {
    let place = "segment FF\(String(marker, radix: 16, uppercase: true))"
    guard offset <= reader.size - 2 else { return nil }
    var head = try reader.fields(at: offset, count: 2, in: place)
    let length = try head.unsigned16()
    guard length >= 2 else { throw head.malformed("it states a length of \(length) bytes") }
    guard offset <= reader.size - Int64(length) else { return nil }
    let content = try reader.fields(at: offset + 2, count: length - 2, in: place)
    offset += Int64(length)
    return content
  }

  private mutating func read(_ marker: UInt8, _ segment: FieldReader) throws {
    var segment = segment
    switch marker {
    // All frame headers; C4, C8 and CC are other markers.
    case 0xc0...0xc3, 0xc5...0xc7, 0xc9...0xcb, 0xcd...0xcf:
      guard size == nil else { return }
      try segment.skip(1)
      let height = try segment.unsigned16()
      size = (try segment.unsigned16(), height)
      isProgressive = [0xc2, 0xc6, 0xca, 0xce].contains(marker)
    // The height, if it was unknown when the header was written.
    case 0xdc: size?.height = try segment.unsigned16()
    case 0xe1:
      let data = segment.rest()
      if data.starts(with: Array("Exif".utf8)) { orientation = EXIF.orientation(data) }
    case 0xda:
      try skipToMarker()
      if scanEnds.count < MediaStart.scanLimit { scanEnds.append(offset) }
    default: break
    }
  }

  /// Advances to the marker that ends a scan's data, in which FF precedes 0 or is a restart marker.
  private mutating func skipToMarker() throws {
    while true {
      let bytes = try reader.available(at: offset, upTo: reader.windowBytes, in: "scan")
      guard let mark = bytes.firstIndex(of: 0xff), mark + 1 < bytes.endIndex else {
        // At the end of the file the scan is over; otherwise an FF at the end needs the byte after it.
        let isAtEnd = offset + Int64(bytes.count) >= reader.size
        offset += Int64(isAtEnd || bytes.last != 0xff ? bytes.count : bytes.count - 1)
        if isAtEnd { return }
        continue
      }
      let next = bytes[mark + 1]
      offset += Int64(mark - bytes.startIndex)
      guard next == 0 || next == 0xff || (0xd0...0xd7).contains(next) else { return }
      offset += next == 0xff ? 1 : 2
    }
  }

  private func structure(_ type: MediaType) throws -> MediaStructure {
    guard let size else {
      throw FormatError(.cutShort(neededBytes: reader.size + 1), at: offset, in: "frame header")
    }
    guard let size = PixelSize(size.width, size.height) else {
      throw FormatError(
        .malformed("its size is \(size.width) by \(size.height)"), at: 0, in: "frame header")
    }
    try size.check(reader.limits, at: 0, in: "frame header")
    if end == nil, scanEnds.isEmpty {
      throw FormatError(.cutShort(neededBytes: reader.size + 1), at: offset, in: "scan")
    }
    return MediaStructure(
      image: type, bytes: reader.size, codedSize: size, orientation: orientation, codec: "mjpeg",
      start: .image(end ?? reader.size, scanEnds: isProgressive ? scanEnds : []),
      flaws: end == nil ? [.cutShort(neededBytes: reader.size + 1)] : [])
  }
}
