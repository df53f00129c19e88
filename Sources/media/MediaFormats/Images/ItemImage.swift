/// Images of the HEIF family: AVIF, HEIC and HEIF (ISO/IEC 23008-12; ISO/IEC 14496-12 section 8.11). An image
/// is an item of the `meta` box, with properties; a grid is an item whose tiles are other items.
struct ItemImage {
  private let reader: ByteReader
  private var primary: UInt32?
  /// The item types by item number.
  private var types: [UInt32: FourCC] = [:]
  private var properties: [Property] = []
  /// By item, the indices of its properties from 0, in the order in which they apply.
  private var associations: [UInt32: [Int]] = [:]
  private var references: [Reference] = []
  /// The end of the items' data.
  private var dataEnd: Int64 = 0

  private enum Property {
    case size(PixelSize?)
    case crop(width: Int, height: Int)
    case clockwise(Int)
    case mirror(isLeftRight: Bool)
    case pixelAspect(Int64, Int64)
    case alpha
    case other
  }

  private struct Reference {
    let kind: FourCC
    let from: UInt32
    let to: [UInt32]
  }

  /// Reads an image whose type box has been inspected; a sequence is read as a movie.
  static func structure(_ reader: ByteReader, _ type: MediaType) throws -> MediaStructure {
    let brand = try reader.bytes(at: 8, count: 4, in: "ftyp")
    let isSequence = ["avis", "msf1", "hevc", "hevx", "hevm", "hevs"].contains {
      brand.elementsEqual($0.utf8)
    }
    if isSequence { return try MovieFile.structure(reader, type) }
    var offset: Int64 = 0
    var missingEnd: Int64?
    var meta: Box?
    while offset <= reader.size - 8 {
      try reader.countPart(at: offset, in: "file")
      let box = try Box(reader, at: offset)
      if box.name == "meta", meta == nil { meta = box }
      if box.end > reader.size { missingEnd = box.end }
      offset = box.end
    }
    guard let meta else {
      if let missingEnd {
        throw FormatError(.cutShort(neededBytes: missingEnd), at: reader.size, in: "meta")
      }
      throw FormatError(.malformed("it has no meta box"), at: 0, in: "file")
    }
    let image = try ItemImage(reader, meta)
    return try image.structure(type, missingEnd: missingEnd)
  }

  private init(_ reader: ByteReader, _ meta: Box) throws {
    self.reader = reader
    try reader.limits.check(meta.contentBytes, .tableBytes, at: meta.offset, in: "meta")
    var fields = try reader.fields(
      at: meta.contentOffset, count: Int(meta.contentBytes), in: "meta")
    _ = try fields.fullBox()
    let boxes = BoxContent(fields)
    if var item = try boxes.first("pitm") {
      let version = try item.fullBox().version
      primary = UInt32(try item.number(version == 0 ? 2 : 4))
    }
    try readTypes(try boxes.required("iinf"))
    let container = BoxContent(try boxes.required("iprp"))
    try readProperties(try container.required("ipco"))
    try container.forEach { name, content in
      if name == "ipma" { try readAssociations(content) }
    }
    if let references = try boxes.first("iref") { try readReferences(references) }
    if let locations = try boxes.first("iloc") { try readLocations(locations) }
  }

  private func checkCount(_ count: Int, _ fields: FieldReader) throws {
    try reader.limits.check(Int64(count), .items, at: fields.offset, in: fields.place)
  }

  /// Reads `iinf` (ISO/IEC 14496-12 section 8.11.6).
  private mutating func readTypes(_ fields: FieldReader) throws {
    var fields = fields
    let version = try fields.fullBox().version
    try checkCount(Int(try fields.number(version == 0 ? 2 : 4)), fields)
    try BoxContent(fields).forEach { name, content in
      guard name == "infe" else { return }
      var content = content
      let version = try content.fullBox().version
      guard version >= 2 else { return }
      let item = UInt32(try content.number(version == 2 ? 2 : 4))
      try content.skip(2)
      types[item] = try content.code()
      try checkCount(types.count, content)
    }
  }

  /// Reads `ipco` (ISO/IEC 23008-12 section 9.3) and the properties of section 6.5.
  private mutating func readProperties(_ fields: FieldReader) throws {
    try BoxContent(fields).forEach { name, content in
      var content = content
      try checkCount(properties.count + 1, content)
      switch name {
      case "ispe":
        _ = try content.fullBox()
        let (width, height) = (try content.unsigned32(), try content.unsigned32())
        properties.append(
          .size(
            PixelSize(Int(min(width, .max >> 1)), Int(min(height, .max >> 1)))))
      case "clap":
        let width = Int(try content.unsigned32()) / max(1, Int(try content.unsigned32()))
        let height = Int(try content.unsigned32()) / max(1, Int(try content.unsigned32()))
        properties.append(.crop(width: width, height: height))
      // The angle is counterclockwise.
      case "irot": properties.append(.clockwise(-Int(try content.byte() & 3)))
      case "imir": properties.append(.mirror(isLeftRight: try content.byte() & 1 == 1))
      case "pasp":
        properties.append(
          .pixelAspect(Int64(try content.unsigned32()), Int64(try content.unsigned32())))
      case "auxC":
        _ = try content.fullBox()
        let text = String(decoding: content.rest().prefix { $0 != 0 }, as: UTF8.self)
        let isAlpha =
          text == "urn:mpeg:mpegB:cicp:systems:auxiliary:alpha"
          || text == "urn:mpeg:hevc:2015:auxid:1" || text == "urn:mpeg:avc:2015:auxid:1"
        properties.append(isAlpha ? .alpha : .other)
      default: properties.append(.other)
      }
    }
  }

  /// Reads `ipma` (ISO/IEC 23008-12 section 9.3).
  private mutating func readAssociations(_ fields: FieldReader) throws {
    var fields = fields
    let (version, flags) = try fields.fullBox()
    let count = Int(try fields.unsigned32())
    try checkCount(count, fields)
    for _ in 0..<count {
      let item = UInt32(try fields.number(version == 0 ? 2 : 4))
      var indices: [Int] = []
      for _ in 0..<(try fields.byte()) {
        // The highest bit marks an essential property; index 0 means none.
        let index = try flags & 1 == 1 ? fields.unsigned16() & 0x7fff : Int(fields.byte() & 0x7f)
        if index > 0 { indices.append(index - 1) }
      }
      associations[item, default: []] += indices
    }
  }

  /// Reads `iref` (ISO/IEC 14496-12 section 8.11.12).
  private mutating func readReferences(_ fields: FieldReader) throws {
    var fields = fields
    let width = try fields.fullBox().version == 0 ? 2 : 4
    try BoxContent(fields).forEach { name, content in
      var content = content
      try checkCount(references.count + 1, content)
      let from = UInt32(try content.number(width))
      let count = try content.unsigned16()
      let to = try (0..<count).map { _ in UInt32(try content.number(width)) }
      references.append(Reference(kind: name, from: from, to: to))
    }
  }

  /// Reads `iloc` (ISO/IEC 14496-12 section 8.11.3), only for the end of the data in the file itself.
  private mutating func readLocations(_ fields: FieldReader) throws {
    var fields = fields
    let version = try fields.fullBox().version
    let widths = Int(try fields.number(2))
    let (offsetWidth, lengthWidth) = (widths >> 12, widths >> 8 & 15)
    let (baseWidth, indexWidth) = (widths >> 4 & 15, version == 0 ? 0 : widths & 15)
    guard [offsetWidth, lengthWidth, baseWidth, indexWidth].allSatisfy([0, 4, 8].contains) else {
      throw fields.malformed("its numbers do not have 0, 4 or 8 bytes")
    }
    let count = Int(try fields.number(version < 2 ? 2 : 4))
    try checkCount(count, fields)
    var extentTotal = 0
    for _ in 0..<count {
      try fields.skip(version < 2 ? 2 : 4)
      let isInFile = try version == 0 || fields.unsigned16() & 15 == 0
      try fields.skip(2)
      let base = Int64(clamping: try fields.number(baseWidth))
      let extentCount = try fields.unsigned16()
      extentTotal += extentCount
      try checkCount(extentTotal, fields)
      for _ in 0..<extentCount {
        try fields.skip(indexWidth)
        let start = ByteReader.end(base, Int64(clamping: try fields.number(offsetWidth)))
        let end = ByteReader.end(start, Int64(clamping: try fields.number(lengthWidth)))
        if isInFile { dataEnd = max(dataEnd, end) }
      }
    }
  }

  private func structure(_ type: MediaType, missingEnd: Int64?) throws -> MediaStructure {
    guard let primary = primary ?? types.keys.min() else {
      throw FormatError(.malformed("it has no item"), at: 0, in: "meta")
    }
    var size: PixelSize?
    var shown: PixelSize?
    var isMirrored = false
    var turns = 0
    for index in associations[primary] ?? [] where index < properties.count {
      switch properties[index] {
      case .size(let own): (size, shown) = (own, own)
      case .crop(let width, let height): shown = PixelSize(width, height) ?? shown
      case .pixelAspect(let horizontal, let vertical):
        shown = shown?.stretched(horizontal, vertical)
      case .clockwise(let more):
        turns += more
        if more % 2 != 0 { shown = shown?.turned }
      case .mirror(let isLeftRight):
        // Mirroring after a turn equals mirroring before the opposite turn. Exchanging top and bottom equals
        // exchanging left and right and a half turn.
        isMirrored.toggle()
        turns = (isLeftRight ? 0 : 2) - turns
      case .alpha, .other: break
      }
    }
    guard let size, let shown else {
      throw FormatError(.malformed("its primary item has no size"), at: 0, in: "meta/iprp")
    }
    try size.check(reader.limits, at: 0, in: "meta/iprp")
    let hasAlpha = references.contains { reference in
      reference.kind == "auxl" && reference.to.contains(primary)
        && (associations[reference.from] ?? []).contains { index in
          if index < properties.count, case .alpha = properties[index] { return true }
          return false
        }
    }
    let missing = [missingEnd, dataEnd > reader.size ? dataEnd : nil].compactMap { $0 }.max()
    return MediaStructure(
      image: type, bytes: reader.size, codedSize: size, displaySize: shown,
      orientation: PictureOrientation(isMirrored: isMirrored, clockwiseQuarterTurns: turns),
      hasAlpha: hasAlpha, codec: codec(primary), start: .image(reader.size, scanEnds: []),
      flaws: missing.map { [.cutShort(neededBytes: $0)] } ?? [])
  }

  /// Returns an item's codec; for a grid or another derived image, that of its first source.
  private func codec(_ item: UInt32) -> String {
    let derived = references.first { $0.kind == "dimg" && $0.from == item }?.to.first
    let type = derived.flatMap { types[$0] } ?? types[item]
    switch type {
    case "av01": return "av1"
    case "hvc1", "hev1": return "hevc"
    case "avc1": return "h264"
    case "vvc1": return "vvc"
    case "jpeg": return "mjpeg"
    case let other: return other?.description ?? ""
    }
  }
}
