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
    output.append(number: item.idCount, byteCount: 2)
    for load in media[item.media] {
      output.append(
        (load.kind == .video ? Self.isVideoFlag : 0) | (load.bytes == nil ? 0 : Self.hasBytesFlag)
          | (load.durationMilliseconds == nil ? 0 : Self.hasDurationFlag))
      if let bytes = load.bytes { output.append(number: bytes, byteCount: 8) }
      if let duration = load.durationMilliseconds { output.append(number: duration, byteCount: 8) }
    }
    output.append(contentsOf: bytes[item.json])
  }

  /// Adds the item whose record lies in this range of `bytes`.
  mutating func appendItem(ofRecord record: Range<Int>) {
    var position = record.lowerBound
    let first = bytes[position]
    let mediaCount = Int(bytes[position + 1])
    position += 2
    let idCount = bytes.number(at: &position, byteCount: 2)
    let start = media.count
    for _ in 0..<mediaCount {
      let flags = bytes[position]
      position += 1
      var load = MediaLoad(kind: flags & Self.isVideoFlag == 0 ? .image : .video)
      if flags & Self.hasBytesFlag != 0 { load.bytes = bytes.number(at: &position, byteCount: 8) }
      if flags & Self.hasDurationFlag != 0 {
        load.durationMilliseconds = bytes.number(at: &position, byteCount: 8)
      }
      media.append(load)
    }
    items.append(
      Item(
        type: Self.types[Int(first & ~Self.hasPageFlag)],
        hasPage: first & Self.hasPageFlag != 0, media: start..<media.count,
        json: position..<record.upperBound, idCount: idCount))
  }
}

extension [UInt8] {
  fileprivate mutating func append(number: Int, byteCount: Int) {
    for byte in 0..<byteCount { append(UInt8(truncatingIfNeeded: number >> (8 * byte))) }
  }

  fileprivate func number(at position: inout Int, byteCount: Int) -> Int {
    var number = 0
    for byte in 0..<byteCount { number |= Int(self[position + byte]) << (8 * byte) }
    position += byteCount
    return number
  }
}
