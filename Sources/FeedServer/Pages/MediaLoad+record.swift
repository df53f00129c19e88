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

  /// What of a file is always there.
  static let leastRecordBytes = 17

  /// How many bytes `append(to:)` adds.
  var recordBytes: Int {
    Self.leastRecordBytes + (timing.map { 10 + 16 * ($0.lead.count + $0.neededRanges.count) } ?? 0)
  }

  func append(to record: inout OutputSpan<UInt8>) {
    var flags = kind == .video ? Self.isVideoFlag : 0
    if bytes != nil { flags |= Self.hasBytesFlag }
    if durationMilliseconds != nil { flags |= Self.hasDurationFlag }
    if let timing { flags |= Self.hasTimingFlag | (timing.isStartable ? Self.isStartableFlag : 0) }
    record.append(flags)
    record.append(number: Int64(bytes ?? 0))
    record.append(number: Int64(durationMilliseconds ?? 0))
    guard let timing else { return }
    record.append(number: Int64(timing.headBytes))
    // Both are within `MediaTiming.rowLimit`.
    record.append(UInt8(timing.lead.count))
    record.append(UInt8(timing.neededRanges.count))
    for lead in timing.lead {
      record.append(number: Int64(lead.kilobitsPerSecond))
      record.append(number: Int64(lead.bytes))
    }
    for range in timing.neededRanges {
      record.append(number: Int64(range.lowerBound))
      record.append(number: Int64(range.upperBound))
    }
  }
}

// MARK: Reading

extension MediaLoad {
  /// Reads the file that begins at `position` of a record, which this process wrote, and moves behind it: that
  /// it ends too early is a mistake of this program.
  init(record: RawSpan, at position: inout Int) {
    let flags = record.unsafeLoad(fromByteOffset: position, as: UInt8.self)
    self.init(
      kind: flags & Self.isVideoFlag == 0 ? .image : .video,
      bytes: flags & Self.hasBytesFlag == 0 ? nil : Self.number(record, position + 1),
      durationMilliseconds: flags & Self.hasDurationFlag == 0
        ? nil : Self.number(record, position + 9))
    position += Self.leastRecordBytes
    guard flags & Self.hasTimingFlag != 0 else { return }
    var timing = MediaTiming(
      isStartable: flags & Self.isStartableFlag != 0, headBytes: Self.number(record, position))
    let leads = record.unsafeLoad(fromByteOffset: position + 8, as: UInt8.self)
    let ranges = record.unsafeLoad(fromByteOffset: position + 9, as: UInt8.self)
    position += 10
    timing.lead = (0..<leads).map { _ in
      defer { position += 16 }
      return .init(
        kilobitsPerSecond: Self.number(record, position), bytes: Self.number(record, position + 8))
    }
    timing.neededRanges = (0..<ranges).map { _ in
      defer { position += 16 }
      return Self.number(record, position)..<Self.number(record, position + 8)
    }
    self.timing = timing
  }

  private static func number(_ record: RawSpan, _ offset: Int) -> Int {
    Int(record.unsafeLoadUnaligned(fromByteOffset: offset, as: Int64.self))
  }
}
