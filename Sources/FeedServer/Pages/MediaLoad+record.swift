import Feed

/// A file in the record of an item: what is known of it 1, its bytes 8, its milliseconds 8; and where it is
/// known how its bytes play, its head 8, how many leads and needed ranges 1 each, and those, 16 bytes each. Its
/// curve is in the item's JSON alone: no hint rests on it.
extension MediaLoad {
  fileprivate static let isVideoFlag: UInt8 = 1
  fileprivate static let hasBytesFlag: UInt8 = 2
  fileprivate static let hasDurationFlag: UInt8 = 4
  fileprivate static let hasTimingFlag: UInt8 = 8
  fileprivate static let isStartableFlag: UInt8 = 16

  /// How many bytes `append(to:)` adds.
  var recordBytes: Int {
    17 + (timing.map { 10 + 16 * ($0.lead.count + $0.neededRanges.count) } ?? 0)
  }

  func append(to record: inout [UInt8]) {
    var flags = kind == .video ? Self.isVideoFlag : 0
    if bytes != nil { flags |= Self.hasBytesFlag }
    if durationMilliseconds != nil { flags |= Self.hasDurationFlag }
    if let timing { flags |= Self.hasTimingFlag | (timing.isStartable ? Self.isStartableFlag : 0) }
    record.append(flags)
    Self.append(bytes ?? 0, to: &record)
    Self.append(durationMilliseconds ?? 0, to: &record)
    guard let timing else { return }
    Self.append(timing.headBytes, to: &record)
    // Both are within `MediaTiming.rowLimit`.
    record.append(UInt8(timing.lead.count))
    record.append(UInt8(timing.neededRanges.count))
    for lead in timing.lead {
      Self.append(lead.kilobitsPerSecond, to: &record)
      Self.append(lead.bytes, to: &record)
    }
    for range in timing.neededRanges {
      Self.append(range.lowerBound, to: &record)
      Self.append(range.upperBound, to: &record)
    }
  }

  private static func append(_ number: Int, to record: inout [UInt8]) {
    Swift.withUnsafeBytes(of: Int64(number)) { record.append(contentsOf: $0) }
  }
}

/// Reads files of a record, which this process wrote: that it ends too early is a mistake of this program.
struct MediaLoadReader {
  private let bytes: [UInt8]
  private var position: Int
  private let end: Int

  init(_ bytes: [UInt8], _ range: Range<Int>) {
    self.bytes = bytes
    position = range.lowerBound
    end = range.upperBound
  }

  /// The next file; `nil` behind the last.
  mutating func next() -> MediaLoad? {
    guard position < end else { return nil }
    let flags = byte()
    var load = MediaLoad(kind: flags & MediaLoad.isVideoFlag == 0 ? .image : .video)
    let (size, milliseconds) = (number(), number())
    if flags & MediaLoad.hasBytesFlag != 0 { load.bytes = size }
    if flags & MediaLoad.hasDurationFlag != 0 { load.durationMilliseconds = milliseconds }
    if flags & MediaLoad.hasTimingFlag != 0 {
      var timing = MediaTiming(
        isStartable: flags & MediaLoad.isStartableFlag != 0, headBytes: number())
      let (leads, ranges) = (byte(), byte())
      timing.lead = (0..<leads).map { _ in .init(kilobitsPerSecond: number(), bytes: number()) }
      timing.neededRanges = (0..<ranges).map { _ in number()..<number() }
      load.timing = timing
    }
    return load
  }

  private mutating func byte() -> UInt8 {
    defer { position += 1 }
    return bytes[position]
  }

  private mutating func number() -> Int {
    defer { position += 8 }
    return Int(bytes.span.bytes.unsafeLoadUnaligned(fromByteOffset: position, as: Int64.self))
  }
}
