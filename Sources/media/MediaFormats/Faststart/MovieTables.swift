/// The content of a `moov` box, to be rewritten with other chunk offsets (ISO/IEC 14496-12 section 8.7.5).
struct MovieTables {
  /// The boxes that contain the offsets.
  private static let containers: Set<FourCC> = ["trak", "mdia", "minf", "stbl"]

  private let content: FieldReader
  /// Whether offsets are written with 64 bits, which the new ones may need.
  private var isLong = false

  /// Creates the tables from the content of the box.
  init(_ content: FieldReader) { self.content = content }

  /// Returns the offsets of all chunks of all tracks.
  func chunkOffsets() throws -> [Int64] {
    var offsets: [Int64] = []
    try collect(content, &offsets)
    return offsets
  }

  private func collect(_ fields: FieldReader, _ offsets: inout [Int64]) throws {
    try BoxContent(fields).forEach { name, content in
      switch name {
      case "stco", "co64": offsets += try Self.offsets(name, content)
      case "stsd": try checkEntries(content)
      case "saio":
        throw FaststartError.otherOffsets(box: content.place, offset: content.offset)
      case let name where Self.containers.contains(name): try collect(content, &offsets)
      default: break
      }
    }
  }

  private static func offsets(_ name: FourCC, _ content: FieldReader) throws -> [Int64] {
    var fields = content
    _ = try fields.fullBox()
    let count = Int(try fields.unsigned32())
    let width = name == "stco" ? 4 : 8
    guard count <= fields.remaining / width else {
      throw fields.malformed(
        "it states \(count) rows, more than its bytes can hold")
    }
    return try (0..<count).map { _ in Int64(clamping: try fields.number(width)) }
  }

  private func checkEntries(_ content: FieldReader) throws {
    var fields = content
    try fields.skip(8)
    try BoxContent(fields).forEach { name, _ in
      if ["encv", "enca", "enct", "encs"].contains(name) { throw FaststartError.encrypted }
    }
  }

  /// Returns the box for a file in which it follows `headBytes` bytes and precedes `ranges` of the old file.
  /// Offsets get 64 bits if one needs them.
  mutating func moved(behind headBytes: Int, _ ranges: [Range<Int64>]) throws -> [UInt8] {
    // The size of the box depends only on the width of the offsets.
    let map = OffsetMap(
      ranges, newStart: Int64(headBytes) + Int64(try written { $0 }.count))
    let last = try chunkOffsets().map(map.moved).max() ?? 0
    if isLong || last <= UInt32.max { return try written(map.moved) }
    isLong = true
    return try moved(behind: headBytes, ranges)
  }

  private func written(_ moved: (Int64) throws -> Int64) throws -> [UInt8] {
    Self.box("moov", try written(content, moved))
  }

  private func written(
    _ fields: FieldReader, _ moved: (Int64) throws -> Int64
  ) throws -> [UInt8] {
    var bytes: [UInt8] = []
    try BoxContent(fields).forEach { name, content in
      switch name {
      case "stco", "co64":
        let offsets = try Self.offsets(name, content).map(moved)
        let width = name == "co64" || isLong ? 8 : 4
        var head = content
        var table = Array(try head.bytes(8))
        for offset in offsets { table += Self.number(offset, width) }
        bytes += Self.box(width == 8 ? "co64" : "stco", table)
      case let name where Self.containers.contains(name):
        bytes += Self.box(name, try written(content, moved))
      default:
        var content = content
        bytes += Self.box(name, content.rest())
      }
    }
    return bytes
  }

  /// Returns a box, whose size `MediaLimits.tableBytes` limits to far below 2^32.
  private static func box(_ name: FourCC, _ content: some Collection<UInt8>) -> [UInt8] {
    number(Int64(content.count + 8), 4) + number(Int64(name.value), 4) + content
  }

  private static func number(_ value: Int64, _ width: Int) -> [UInt8] {
    (0..<width).map { UInt8(truncatingIfNeeded: value >> (8 * Int64(width - 1 - $0))) }
  }
}

/// Maps offsets in ranges of the old file to offsets in the new file, where the ranges are contiguous.
private struct OffsetMap {
  private let pieces: [(range: Range<Int64>, newStart: Int64)]

  /// Creates a map; the ranges ascend.
  init(_ ranges: [Range<Int64>], newStart: Int64) {
    var start = newStart
    var pieces: [(Range<Int64>, Int64)] = []
    for range in ranges {
      pieces.append((range, start))
      start += Int64(range.count)
    }
    self.pieces = pieces
  }

  /// Returns the new offset; throws if no range has the old one. An empty chunk may lie at the end of a range.
  func moved(_ offset: Int64) throws -> Int64 {
    var (low, high) = (0, pieces.count)
    while low < high {
      let middle = (low + high) / 2
      if pieces[middle].range.upperBound < offset { low = middle + 1 } else { high = middle }
    }
    guard low < pieces.count, pieces[low].range.lowerBound <= offset else {
      throw FaststartError.chunkOutside(chunkOffset: offset)
    }
    return pieces[low].newStart + (offset - pieces[low].range.lowerBound)
  }
}
