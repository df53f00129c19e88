import Feed

// How an item lies in a file: what its hint rests on in little-endian numbers, then its JSON.
//
//   type and whether it has a page   1 byte
//   how many files it has            1
//   how long its id is as JSON       2
//   each file: kind and what is known of it 1, its bytes 8 and its milliseconds 8 where they are known
//
// Only the process that wrote a record reads it: nothing of it is checked, or has a version.

extension EncodedItems {
  private static let types = PostType.allCases
  private static let hasPageFlag: UInt8 = 0x80
  private static let isVideoFlag: UInt8 = 1
  private static let hasBytesFlag: UInt8 = 2
  private static let hasDurationFlag: UInt8 = 4

  /// Appends the record of the item at this index.
  func appendRecord(at index: Int, to output: inout [UInt8]) {
    let item = items[index]
    let type = UInt8(Self.types.firstIndex(of: item.type) ?? 0)
    output.append(item.hasPage ? type | Self.hasPageFlag : type)
    output.append(UInt8(item.media.count))
    output.append(littleEndian: UInt16(item.idCount))
    for load in media[item.media] {
      output.append(
        (load.kind == .video ? Self.isVideoFlag : 0) | (load.bytes == nil ? 0 : Self.hasBytesFlag)
          | (load.durationMilliseconds == nil ? 0 : Self.hasDurationFlag))
      if let bytes = load.bytes { output.append(littleEndian: Int64(bytes)) }
      if let duration = load.durationMilliseconds { output.append(littleEndian: Int64(duration)) }
    }
    output.append(contentsOf: bytes[item.json])
  }

  /// Adds the item whose record lies in this range of `bytes`.
  mutating func appendItem(ofRecord record: Range<Int>) {
    let start = media.count
    let (first, position, idCount) = bytes.withUnsafeBytes { bytes in
      var reader = RecordReader(UnsafeRawBufferPointer(rebasing: bytes[record]))
      let first = reader.number(UInt8.self)
      let mediaCount = reader.number(UInt8.self)
      let idCount = reader.number(UInt16.self)
      for _ in 0..<mediaCount {
        let flags = reader.number(UInt8.self)
        var load = MediaLoad(kind: flags & Self.isVideoFlag == 0 ? .image : .video)
        if flags & Self.hasBytesFlag != 0 { load.bytes = Int(reader.number(Int64.self)) }
        if flags & Self.hasDurationFlag != 0 {
          load.durationMilliseconds = Int(reader.number(Int64.self))
        }
        media.append(load)
      }
      return (first, reader.position, idCount)
    }
    items.append(
      Item(
        type: Self.types[Int(first & ~Self.hasPageFlag)],
        hasPage: first & Self.hasPageFlag != 0, media: start..<media.count,
        json: (record.lowerBound + position)..<record.upperBound, idCount: Int(idCount)))
  }
}
