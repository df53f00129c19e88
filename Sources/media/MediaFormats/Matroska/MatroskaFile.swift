/// WebM and Matroska (RFC 9559). The formats have no tables of samples, so all blocks are visited;
/// only their headers are read.
struct MatroskaFile {
  /// The identifiers of elements.
  private enum Name {
    static let segment: UInt32 = 0x1853_8067
    static let information: UInt32 = 0x1549_a966
    static let tracks: UInt32 = 0x1654_ae6b
    static let cluster: UInt32 = 0x1f43_b675
    static let timestamp: UInt32 = 0xe7
    static let simpleBlock: UInt32 = 0xa3
    static let blockGroup: UInt32 = 0xa0
    static let block: UInt32 = 0xa1
    static let blockDuration: UInt32 = 0x9b
    static let referenceBlock: UInt32 = 0xfb
  }

  private let reader: ByteReader
  private let type: MediaType
  private var nanosecondsPerTick: Int64 = 1_000_000
  private var declaredTicks: Double = 0
  private var picture: MatroskaTrack?
  private var sound: MatroskaTrack?
  private var clusterTicks: Int64 = 0
  private var firstCluster: Int64?
  private var meter = StartMeter()
  private var frameCount = 0
  private var blockCount: Int64 = 0
  /// The first key frame and its time.
  private var key: (frame: KeyFrame, microseconds: Int64)?
  private var isPastFirstGroup = false
  /// Whether frames that follow the first key frame but are shown before it can be
  /// decoded; nil until there is one.
  private var decodesLeading: Bool?
  /// The time of the first block of sound.
  private var soundStart: Int64?
  private var hasPrimedVorbis = false
  /// The end of the data that are missing from the file.
  private var missingEnd: Int64?
  private var segmentEnd: Int64?

  static func structure(_ reader: ByteReader, _ type: MediaType) throws -> MediaStructure {
    var file = MatroskaFile(reader: reader, type: type)
    try file.walk()
    return try file.structure()
  }

  private init(reader: ByteReader, type: MediaType) {
    self.reader = reader
    self.type = type
  }

  /// Walks from element to element, into the segment and its clusters. These may have an unknown size, so
  /// they end where the next one begins.
  private mutating func walk() throws {
    var offset: Int64 = 0
    while offset < reader.size {
      if let firstCluster, offset - firstCluster > reader.limits.walkedBytes {
        meter.addRest(lastingMilliseconds: declaredMilliseconds, end: reader.size)
        return
      }
      try reader.countPart(at: offset, in: "element")
      let element = try element(at: offset)
      guard let element else {
        missingEnd = max(missingEnd ?? 0, reader.size + 1)
        return
      }
      switch element.identifier {
      case Name.segment:
        segmentEnd = element.end
        offset = element.contentOffset
        continue
      case Name.cluster:
        if firstCluster == nil { firstCluster = element.offset }
        offset = element.contentOffset
        continue
      default: break
      }
      guard let end = element.end else {
        throw FormatError(
          .malformed("an element other than a segment or cluster has no size"), at: offset,
          in: "element")
      }
      if end > reader.size {
        missingEnd = end
        return
      }
      try read(element, end)
      offset = end
    }
  }

  /// Returns nil if the file ends within the element's header.
  private func element(at offset: Int64) throws -> EBMLElement? {
    if reader.size - offset >= Int64(EBMLElement.headerBytes) {
      return try EBMLElement(reader, at: offset)
    }
    return try? EBMLElement(reader, at: offset)
  }

  private func content(
    _ element: EBMLElement, _ end: Int64, in place: String
  ) throws -> FieldReader {
    let count = end - element.contentOffset
    try reader.limits.check(count, .tableBytes, at: element.offset, in: place)
    return try reader.fields(at: element.contentOffset, count: Int(count), in: place)
  }

  private mutating func read(_ element: EBMLElement, _ end: Int64) throws {
    switch element.identifier {
    case Name.information: try readInformation(try content(element, end, in: "Info"))
    case Name.tracks: try readTracks(try content(element, end, in: "Tracks"))
    case Name.timestamp:
      clusterTicks = try content(element, end, in: "Cluster/Timestamp").ebmlUnsigned()
    case Name.simpleBlock: try readBlock(element.contentOffset, end)
    case Name.blockGroup: try readGroup(element, end)
    default: break
    }
  }

  private mutating func readInformation(_ fields: FieldReader) throws {
    try EBMLElement.forEach(fields) { identifier, content in
      switch identifier {
      case 0x2a_d7b1:
        nanosecondsPerTick = try content.ebmlUnsigned()
        guard (1...1_000_000_000).contains(nanosecondsPerTick) else {
          throw content.malformed("its timescale is \(nanosecondsPerTick) nanoseconds")
        }
      case 0x4489: declaredTicks = try content.ebmlFloat()
      default: break
      }
    }
  }

  private mutating func readTracks(_ fields: FieldReader) throws {
    var tracks: [MatroskaTrack] = []
    try EBMLElement.forEach(fields) { identifier, content in
      guard identifier == 0xae else { return }
      try reader.limits.check(
        Int64(tracks.count + 1), .tracks, at: content.offset, in: content.place)
      tracks.append(try MatroskaTrack(content))
    }
    let preferred = { (tracks: [MatroskaTrack]) in
      tracks.first { $0.isEnabled && $0.isDefault } ?? tracks.first(where: \.isEnabled)
        ?? tracks.first
    }
    if picture == nil { picture = preferred(tracks.filter(\.isPicture)) }
    if sound == nil { sound = preferred(tracks.filter(\.isSound)) }
  }

  /// Reads a block group: a block with its duration and references (section 5.1.3.5).
  private mutating func readGroup(_ group: EBMLElement, _ end: Int64) throws {
    var block: EBMLElement?
    var ticks: Int64?
    var isKey = true
    var offset = group.contentOffset
    while offset < end {
      try reader.countPart(at: offset, in: "BlockGroup")
      let element = try EBMLElement(reader, at: offset)
      guard let elementEnd = element.end, elementEnd <= end else {
        throw FormatError(
          .malformed("an element ends after the end of its group"), at: offset,
          in: "BlockGroup")
      }
      switch element.identifier {
      case Name.block: block = element
      case Name.blockDuration:
        ticks = try content(element, elementEnd, in: "BlockDuration").ebmlUnsigned()
      case Name.referenceBlock: isKey = false
      default: break
      }
      offset = elementEnd
    }
    // Discard padding may follow the block, so the block needs all of the group.
    if let block { try readBlock(block.contentOffset, end, ticks: ticks, isKey: isKey) }
  }

  /// Reads a block's header (sections 10.1 and 10.2). Laced frames count as one that is needed
  /// at the time of the first.
  private mutating func readBlock(
    _ offset: Int64, _ end: Int64, ticks: Int64? = nil, isKey: Bool? = nil
  ) throws {
    let head = try reader.bytes(at: offset, count: Int(min(12, end - offset)), in: "block")
    var fields = FieldReader(head, at: offset, in: "block")
    let (marked, width) = try EBMLElement.number(&fields)
    let number = Int64(marked & (1 << (7 * UInt64(width)) - 1))
    let relative = Int64(Int16(truncatingIfNeeded: try fields.unsigned16()))
    let flags = try fields.byte()
    let isPicture = number == picture?.number
    guard let track = isPicture ? picture : number == sound?.number ? sound : nil else { return }

    frameCount += isPicture ? 1 : 0
    blockCount += 1
    try reader.limits.check(blockCount, .samples, at: offset, in: "block")
    guard let time = microseconds(ByteReader.end(clusterTicks, relative)) else {
      throw FormatError(.malformed("a block's time is too large"), at: offset, in: "block")
    }
    // A Vorbis decoder outputs nothing for its first block, which overlaps the second (Vorbis I, section 4.3.8).
    if !isPicture, track.codec == "vorbis", !hasPrimedVorbis {
      hasPrimedVorbis = true
      return meter.extend(toByte: end)
    }
    // The samples within the delay are not played; the rest of the first block is, at the block's start.
    if !isPicture, soundStart == nil { soundStart = time }
    let start = max(time - track.delayNanoseconds / 1000, isPicture ? time : soundStart ?? time)
    if isPicture {
      if isKey ?? (flags & 0x80 != 0) {
        isPastFirstGroup = key != nil
        let frame = KeyFrame(
          codec: track.codec, lengthBytes: track.lengthBytes, range: fields.position..<end)
        key = key ?? (frame, start)
      }
      if try isPassedOver(start) { return meter.extend(toByte: end) }
      if key != nil { meter.addPicture(at: start) }
    }
    let lasting = ticks.flatMap(microseconds) ?? (track.frameNanoseconds / 1000)
    meter.add(time: start, until: start + lasting, end: end)
  }

  /// Whether a decoder that begins with the first key frame skips a frame that is shown before that key frame.
  private mutating func isPassedOver(_ start: Int64) throws -> Bool {
    guard let key, !isPastFirstGroup, start < key.microseconds else { return false }
    let decodes = try decodesLeading ?? key.frame.decodesLeadingFrames(reader)
    decodesLeading = decodes
    return !decodes
  }

  /// Converts ticks to microseconds, rounded down; nil beyond 2^59.
  private func microseconds(_ ticks: Int64) -> Int64? {
    let (nanoseconds, isTooLarge) = ticks.multipliedReportingOverflow(by: nanosecondsPerTick)
    guard !isTooLarge else { return nil }
    return nanoseconds / 1000 - (nanoseconds % 1000 < 0 ? 1 : 0)
  }

  private func structure() throws -> MediaStructure {
    guard picture != nil || sound != nil, let firstCluster else {
      if let missingEnd {
        throw FormatError(.cutShort(neededBytes: missingEnd), at: reader.size, in: "Segment")
      }
      throw FormatError(
        .malformed("it has no track of pictures or sound, or no cluster"), at: 0, in: "Segment")
    }
    guard !meter.isEmpty else {
      if let missingEnd {
        throw FormatError(.cutShort(neededBytes: missingEnd), at: reader.size, in: "Cluster")
      }
      throw FormatError(.malformed("it has no block"), at: firstCluster, in: "Cluster")
    }
    let size = picture?.displaySize
    try size?.check(reader.limits, at: 0, in: "Tracks")
    try picture?.codedSize?.check(reader.limits, at: 0, in: "Tracks")
    let missing = [missingEnd, segmentEnd.flatMap { $0 > reader.size ? $0 : nil }]
      .compactMap { $0 }.max()
    let duration = duration(isWhole: missing == nil)
    return MediaStructure(
      type: type, kind: picture == nil ? .sound : .video, bytes: reader.size,
      codedSize: picture?.codedSize, displaySize: size,
      orientation: picture?.orientation ?? .upright, hasAlpha: picture?.hasAlpha ?? false,
      frameCount: picture == nil ? nil : frameCount, durationMilliseconds: duration,
      videoCodec: picture?.codec, audioCodec: sound?.codec, layout: .stream,
      start: meter.start(
        tables: 0..<firstCluster, fileBytes: reader.size,
        durationMilliseconds: missing == nil ? duration : nil),
      flaws: missing.map { [.cutShort(neededBytes: $0)] } ?? [],
      isEncrypted: picture?.isEncrypted == true || sound?.isEncrypted == true)
  }

  /// The declared duration.
  private var declaredMilliseconds: Int64? {
    let milliseconds = declaredTicks * Double(nanosecondsPerTick) / 1_000_000
    return milliseconds > 0 ? Int64(exactly: milliseconds.rounded(.up)) : nil
  }

  /// Returns the declared duration if it is close to that of the blocks, or if blocks are missing.
  private func duration(isWhole: Bool) -> Int64? {
    guard let declared = declaredMilliseconds, isWhole, let counted = meter.durationMilliseconds
    else { return declaredMilliseconds ?? meter.durationMilliseconds }
    return abs(declared - counted) <= max(counted / 10, 1000) ? declared : counted
  }
}
