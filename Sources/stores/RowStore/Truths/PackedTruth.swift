import Feed

/// The facts about media files as rows store them: they take an eighth of JSON's reading time and a fifth of
/// its bytes. Ascending times, bytes and bandwidths are written as differences, so that none can descend.
package enum PackedTruth {
  /// The first byte. A change of the format requires another number and a migration.
  static let form: UInt8 = 1

  /// Returns the bytes of a truth, without its variants. A truth with a `problem` cannot be read back.
  package static func bytes(of truth: MediaTruth) -> [UInt8] {
    var writer = PackedWriter()
    writer.append(truth)
    return writer.sealed(form: form)
  }

  /// Returns the bytes of variants, which have no `problem`.
  package static func bytes(of variants: [MediaVariant]) -> [UInt8] {
    var writer = PackedWriter()
    writer.append(variants.count)
    for variant in variants {
      writer.append(variant.url)
      writer.append(variant.truth)
    }
    return writer.sealed(form: form)
  }

  /// Returns the truth in the bytes, of a file with these variants.
  package static func truth(
    in bytes: UnsafeBufferPointer<UInt8>, variants: [MediaVariant] = []
  ) throws(PackedError) -> MediaTruth {
    var reader = try PackedReader(sealed: bytes, form: form)
    let truth = try reader.truth(variants)
    try reader.end()
    return truth
  }

  /// Returns the variants in the bytes.
  package static func variants(in bytes: UnsafeBufferPointer<UInt8>) throws(PackedError)
    -> [MediaVariant]
  {
    var reader = try PackedReader(sealed: bytes, form: form)
    let count = try reader.number("variants", in: 0...MediaVariant.limit)
    var variants: [MediaVariant] = []
    variants.reserveCapacity(count)
    for _ in 0..<count {
      let url = try reader.text("url", bytes: 1...RecordLimits.urlBytes)
      variants.append(MediaVariant(url: url, truth: try reader.truth()))
    }
    try reader.end()
    return variants
  }
}

/// The parts of a truth that are present, and its values that are only true or false.
private struct Parts: OptionSet {
  let rawValue: Int
  static let codec = Parts(rawValue: 1)
  static let soundCodec = Parts(rawValue: 1 << 1)
  static let tellsOfSound = Parts(rawValue: 1 << 2)
  static let hasSound = Parts(rawValue: 1 << 3)
  static let width = Parts(rawValue: 1 << 4)
  static let height = Parts(rawValue: 1 << 5)
  static let frames = Parts(rawValue: 1 << 6)
  static let duration = Parts(rawValue: 1 << 7)
  /// Some decoder was missing: ffmpeg, if no other bit names another.
  static let undecoded = Parts(rawValue: 1 << 8)
  static let placeholder = Parts(rawValue: 1 << 9)
  static let start = Parts(rawValue: 1 << 10)
  static let startable = Parts(rawValue: 1 << 11)
  static let version = Parts(rawValue: 1 << 12)
  static let withoutHEIFConvert = Parts(rawValue: 1 << 13)
  static let encrypted = Parts(rawValue: 1 << 14)
  static let all = 0...(1 << 15 - 1)

  init(rawValue: Int) { self.rawValue = rawValue }

  init(of truth: MediaTruth) {
    self.init(rawValue: 0)
    if truth.codec != nil { insert(.codec) }
    if truth.soundCodec != nil { insert(.soundCodec) }
    if truth.hasSound != nil { insert(.tellsOfSound) }
    if truth.hasSound == true { insert(.hasSound) }
    if truth.width != nil { insert(.width) }
    if truth.height != nil { insert(.height) }
    if truth.frameCount != nil { insert(.frames) }
    if truth.durationMilliseconds != nil { insert(.duration) }
    if truth.missingDecoder != nil { insert(.undecoded) }
    if truth.missingDecoder == .heifConvert { insert(.withoutHEIFConvert) }
    if truth.placeholder?.isWhole == true { insert(.placeholder) }
    if truth.start != nil { insert(.start) }
    if truth.start?.isStartable == true { insert(.startable) }
    if truth.version != nil { insert(.version) }
    if truth.isEncrypted { insert(.encrypted) }
  }
}

/// The kinds by the numbers that stand for them in rows: a number never changes its kind.
private let kinds: [MediaTruth.Kind] = [.image, .animation, .video, .sound]

// MARK: Writing

extension PackedWriter {
  fileprivate mutating func append(_ truth: MediaTruth) {
    append(kinds.firstIndex(of: truth.kind) ?? kinds.count)
    append(Parts(of: truth).rawValue)
    append(truth.bytes)
    append(truth.mimeType)
    if let codec = truth.codec { append(codec) }
    if let soundCodec = truth.soundCodec { append(soundCodec) }
    let numbers = [truth.width, truth.height, truth.frameCount, truth.durationMilliseconds]
    for case let number? in numbers { append(number) }
    if let thumbHash = truth.placeholder?.thumbHash, let color = truth.placeholder?.color {
      append(thumbHash.count)
      append(raw: thumbHash)
      append(raw: [color.red, color.green, color.blue])
    }
    if let start = truth.start { append(start, fileBytes: truth.bytes) }
    switch truth.version {
    case nil: break
    case .content(let sha256):
      append(0)
      append(raw: sha256)
    case .entityTag(let tag):
      append(1)
      append(tag)
    case .modified(let time):
      append(2)
      append(time)
    case .unavailable: append(3)
    }
  }

  private mutating func append(_ start: MediaTiming, fileBytes: Int) {
    append(start.headBytes)
    append(start.neededRanges.count)
    var end = -1
    for range in start.neededRanges {
      append(range.lowerBound &- end)
      append(range.count)
      end = range.upperBound
    }
    append(start.scanEnds.count)
    end = 0
    for next in start.scanEnds {
      append(next &- end)
      end = next
    }
    append(start.curve.count)
    var (time, bytes) = (0, start.isStartable ? start.headBytes : 0)
    for point in start.curve {
      append(point.milliseconds &- time)
      append(point.bytes &- bytes)
      (time, bytes) = (point.milliseconds, point.bytes)
    }
    append(start.lead.count)
    var bandwidth = 0
    bytes = fileBytes
    for row in start.lead {
      append(row.kilobitsPerSecond &- bandwidth)
      append(bytes &- row.bytes)
      (bandwidth, bytes) = (row.kilobitsPerSecond, row.bytes)
    }
  }
}

// MARK: Reading

extension PackedReader {
  fileprivate mutating func truth(
    _ variants: [MediaVariant] = []
  ) throws(PackedError) -> MediaTruth {
    let kind = kinds[try number("kind", in: 0...kinds.count - 1)]
    let parts = Parts(rawValue: try number("parts", in: Parts.all))
    let bytes = try number("bytes", in: 0...RecordLimits.fileBytes)
    let mimeType = try name("mimeType")
    let codec = parts.contains(.codec) ? try name("codec") : nil
    let soundCodec = parts.contains(.soundCodec) ? try name("soundCodec") : nil
    let hasSound = parts.contains(.tellsOfSound) ? parts.contains(.hasSound) : nil
    if soundCodec != nil, hasSound != true { throw .impossible("hasSound") }
    let pixels = 1...RecordLimits.pixels
    let width = parts.contains(.width) ? try number("width", in: pixels) : nil
    let height = parts.contains(.height) ? try number("height", in: pixels) : nil
    let frames = parts.contains(.frames) ? try number("frames", in: 1...RecordLimits.number) : nil
    let duration =
      parts.contains(.duration) ? try number("durationMs", in: 0...RecordLimits.number) : nil
    var truth = MediaTruth(
      kind: kind, bytes: bytes, mimeType: mimeType, codec: codec, soundCodec: soundCodec,
      hasSound: hasSound, width: width, height: height, frameCount: frames,
      durationMilliseconds: duration,
      placeholder: parts.contains(.placeholder) ? try placeholder() : nil,
      start: parts.contains(.start)
        ? try start(isStartable: parts.contains(.startable), fileBytes: bytes) : nil,
      version: parts.contains(.version) ? try version() : nil, variants: variants)
    truth.isEncrypted = parts.contains(.encrypted)
    if parts.contains(.undecoded) {
      truth.missingDecoder = parts.contains(.withoutHEIFConvert) ? .heifConvert : .ffmpeg
    }
    return truth
  }

  private mutating func name(_ field: StaticString) throws(PackedError) -> String {
    try text(field, bytes: 1...RecordLimits.mediaTypeBytes)
  }

  private mutating func placeholder() throws(PackedError) -> MediaPlaceholder {
    let hash = try copied(try number("thumbhash", in: MediaPlaceholder.thumbHashBytes))
    let color = try raw(3)
    return MediaPlaceholder(
      thumbHash: hash, color: .init(red: color[0], green: color[1], blue: color[2]))
  }

  private mutating func version() throws(PackedError) -> MediaVersion {
    let texts = 1...MediaVersion.textBytes
    switch try number("version", in: 0...3) {
    case 0: return .content(sha256: try copied(32))
    case 1: return .entityTag(try text("version", bytes: texts))
    case 2: return .modified(try text("version", bytes: texts))
    default: return .unavailable
    }
  }

  private mutating func start(
    isStartable: Bool, fileBytes: Int
  ) throws(PackedError) -> MediaTiming {
    var start = MediaTiming(
      isStartable: isStartable, headBytes: try number("headBytes", in: 0...fileBytes))
    let rows = 0...MediaTiming.rowLimit
    for _ in 0..<(try number("needed", in: rows)) {
      let end = start.neededRanges.last?.upperBound ?? -1
      guard end < fileBytes - 1 else { throw .impossible("needed") }
      let first = end + (try number("needed", in: 1...fileBytes - 1 - end))
      let count = try number("needed", in: 1...fileBytes - first)
      start.neededRanges.append(first..<first + count)
    }
    if isStartable != start.neededRanges.isEmpty { throw .impossible("needed") }
    var end = 0
    for _ in 0..<(try number("scans", in: rows)) {
      guard end < fileBytes else { throw .impossible("scans") }
      end += try number("scans", in: 1...fileBytes - end)
      start.scanEnds.append(end)
    }
    try curve(try number("curve", in: rows), &start, fileBytes)
    try lead(try number("lead", in: rows), &start, fileBytes)
    return start
  }

  private mutating func curve(
    _ count: Int, _ start: inout MediaTiming, _ fileBytes: Int
  ) throws(PackedError) {
    start.curve.reserveCapacity(count)
    var (time, bytes) = (0, start.isStartable ? start.headBytes : 0)
    for _ in 0..<count {
      time += try number("curve", in: 0...RecordLimits.number - time)
      bytes += try number("curve", in: 0...fileBytes - bytes)
      start.curve.append(.init(milliseconds: time, bytes: bytes))
    }
  }

  private mutating func lead(
    _ count: Int, _ start: inout MediaTiming, _ fileBytes: Int
  ) throws(PackedError) {
    start.lead.reserveCapacity(count)
    var (bandwidth, bytes) = (0, fileBytes)
    for _ in 0..<count {
      guard bandwidth < RecordLimits.number else { throw .impossible("lead") }
      bandwidth += try number("lead", in: 1...RecordLimits.number - bandwidth)
      bytes -= try number("lead", in: 0...bytes)
      start.lead.append(.init(kilobitsPerSecond: bandwidth, bytes: bytes))
    }
  }
}
