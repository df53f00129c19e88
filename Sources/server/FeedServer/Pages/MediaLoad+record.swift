import Feed

/// A file in the record of an item: what is known about it 1, its bytes 8, its milliseconds 8; and if it is
/// known how its bytes play, its head 8, the numbers of leads and needed ranges 1 each, and those, 16 bytes each.
/// Its curve is in the item's JSON alone: no hint depends on it. If there are variants, behind that its
/// width 8 and their number 1, and of each the same: its width 8 and the file.
extension MediaLoad {
  fileprivate static let isVideoFlag: UInt8 = 1
  fileprivate static let hasBytesFlag: UInt8 = 2
  fileprivate static let hasDurationFlag: UInt8 = 4
  fileprivate static let hasTimingFlag: UInt8 = 8
  fileprivate static let isStartableFlag: UInt8 = 16
  fileprivate static let hasVariantsFlag: UInt8 = 32
  fileprivate static let isAudioFlag: UInt8 = 64

  /// What of a file is always there.
  static let leastRecordBytes = 17

  /// How many bytes `append(to:)` adds.
  var recordBytes: Int {
    let own =
      Self.leastRecordBytes
      + (withTiming { 10 + 16 * ($0.lead.count + $0.neededRanges.count) } ?? 0)
    guard hasVariants else { return own }
    return variants.reduce(own + 9) { $0 + 8 + $1.recordBytes }
  }

  func append(to record: inout OutputSpan<UInt8>) {
    var flags: UInt8 =
      switch kind {
      case .image: 0
      case .video: Self.isVideoFlag
      case .audio: Self.isAudioFlag
      }
    if bytes != nil { flags |= Self.hasBytesFlag }
    if durationMilliseconds != nil { flags |= Self.hasDurationFlag }
    flags |=
      withTiming { Self.hasTimingFlag | ($0.isStartable ? Self.isStartableFlag : 0) } ?? 0
    if hasVariants { flags |= Self.hasVariantsFlag }
    record.append(flags)
    record.append(number: Int64(bytes ?? 0))
    record.append(number: Int64(durationMilliseconds ?? 0))
    if flags & Self.hasTimingFlag != 0 { withTiming { append($0, to: &record) } }
    guard hasVariants else { return }
    record.append(number: Int64(width ?? 0))
    // Within `MediaVariant.limit`.
    record.append(UInt8(variants.count))
    for variant in variants {
      record.append(number: Int64(variant.width ?? 0))
      variant.append(to: &record)
    }
  }

  private func append(_ timing: MediaTiming, to record: inout OutputSpan<UInt8>) {
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
  /// Reads the file that begins at `position` of a record, which this process wrote, and moves behind it:
  /// that it ends too early is a mistake of this program.
  ///
  /// - Parameter width: what stands before it, of a variant.
  init(record: RawSpan, at position: inout Int, width: Int = 0) {
    let flags = record.unsafeLoad(fromByteOffset: position, as: UInt8.self)
    let kind: MediaKind =
      flags & Self.isVideoFlag != 0 ? .video : flags & Self.isAudioFlag != 0 ? .audio : .image
    let bytes = flags & Self.hasBytesFlag == 0 ? nil : Self.number(record, position + 1)
    let duration = flags & Self.hasDurationFlag == 0 ? nil : Self.number(record, position + 9)
    position += Self.leastRecordBytes
    let timing =
      flags & Self.hasTimingFlag == 0
      ? nil
      : Self.timing(record, at: &position, isStartable: flags & Self.isStartableFlag != 0)
    var (width, variants) = (width, [MediaLoad]())
    if flags & Self.hasVariantsFlag != 0 {
      width = Self.number(record, position)
      let count = record.unsafeLoad(fromByteOffset: position + 8, as: UInt8.self)
      position += 9
      variants.reserveCapacity(Int(count))
      for _ in 0..<count {
        let width = Self.number(record, position)
        position += 8
        variants.append(MediaLoad(record: record, at: &position, width: width))
      }
    }
    self.init(
      kind: kind, bytes: bytes, durationMilliseconds: duration, timing: timing,
      width: width == 0 ? nil : width, variants: variants)
  }

  private static func timing(
    _ record: RawSpan, at position: inout Int, isStartable: Bool
  ) -> MediaTiming {
    var timing = MediaTiming(
      isStartable: isStartable, headBytes: number(record, position))
    let leads = record.unsafeLoad(fromByteOffset: position + 8, as: UInt8.self)
    let ranges = record.unsafeLoad(fromByteOffset: position + 9, as: UInt8.self)
    position += 10
    timing.lead = (0..<leads).map { _ in
      defer { position += 16 }
      return .init(
        kilobitsPerSecond: number(record, position), bytes: number(record, position + 8))
    }
    timing.neededRanges = (0..<ranges).map { _ in
      defer { position += 16 }
      return number(record, position)..<number(record, position + 8)
    }
    return timing
  }

  private static func number(_ record: RawSpan, _ offset: Int) -> Int {
    Int(record.unsafeLoadUnaligned(fromByteOffset: offset, as: Int64.self))
  }
}
