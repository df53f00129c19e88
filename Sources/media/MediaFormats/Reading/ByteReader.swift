/// Reads pieces of a source through one window, so that small pieces that lie together are asked for once.
final class ByteReader {
  /// How much is asked for at a time where less is needed.
  var windowBytes = 32 << 10

  let source: any ByteSource
  let limits: MediaLimits
  /// The size that the source says the file has.
  let size: Int64
  private var window: [UInt8] = []
  private var windowStart: Int64 = 0
  private var partCount: Int64 = 0

  init(_ source: any ByteSource, _ limits: MediaLimits) {
    self.source = source
    self.limits = limits
    size = max(0, source.size)
  }

  /// The `count` bytes from `offset` on; throws where the file ends before. `place` says of what they are.
  func bytes(at offset: Int64, count: Int, in place: String) throws -> ArraySlice<UInt8> {
    guard offset >= 0, count >= 0, Int64(count) <= size, offset <= size - Int64(count) else {
      throw FormatError(
        .cutShort(neededBytes: Self.end(offset, Int64(count))), at: offset, in: place)
    }
    if let found = held(at: offset, count: count) { return found }
    // What the window has of it is not asked for again.
    let kept = held(from: offset)
    let start = offset + Int64(kept.count)
    let missing = count - kept.count
    let asked = Int(min(Int64(max(missing, windowBytes)), size - start))
    let read = try source.bytes(at: start, count: asked)
    guard read.count >= missing else {
      // It has fewer bytes than it was said to have.
      throw FormatError(.cutShort(neededBytes: offset + Int64(count)), at: offset, in: place)
    }
    let whole = kept.isEmpty ? read : kept + read
    // What is larger than a window is for the caller alone.
    if count <= windowBytes {
      window = whole
      windowStart = offset
    }
    return whole[..<count]
  }

  /// What there is from `offset` on, `count` bytes at the most: fewer at the file's end.
  func available(at offset: Int64, upTo count: Int, in place: String) throws -> ArraySlice<UInt8> {
    guard offset < size else { return [] }
    return try bytes(at: offset, count: Int(min(Int64(count), size - offset)), in: place)
  }

  /// Reads fields from `offset` on.
  func fields(at offset: Int64, count: Int, in place: String) throws -> FieldReader {
    FieldReader(try bytes(at: offset, count: count, in: place), at: offset, in: place)
  }

  /// To be called for each box, chunk, element or marker that is walked over.
  func countPart(at offset: Int64, in place: String) throws {
    partCount += 1
    try limits.check(partCount, .parts, at: offset, in: place)
  }

  /// The end of a piece; the largest offset there is where it would be even larger.
  static func end(_ offset: Int64, _ count: Int64) -> Int64 {
    let (sum, isTooLarge) = offset.addingReportingOverflow(count)
    return isTooLarge ? .max : sum
  }

  /// What the window has from `offset` on, where it has a part of it.
  private func held(from offset: Int64) -> [UInt8] {
    guard offset >= windowStart, offset - windowStart < Int64(window.count) else { return [] }
    return Array(window[Int(offset - windowStart)...])
  }

  private func held(at offset: Int64, count: Int) -> ArraySlice<UInt8>? {
    guard offset >= windowStart, offset - windowStart <= Int64(window.count) else { return nil }
    let start = Int(offset - windowStart)
    return count <= window.count - start ? window[start..<start + count] : nil
  }
}

/// Where a file's bytes come from: a file, or a URL that is read by ranges. The parsers ask for what they
/// need and no more, in few pieces, and keep none of it for longer than they look at it.
package protocol ByteSource {
  /// How many bytes the file has. Of a file that grows or shrinks: how many it had when it was opened.
  var size: Int64 { get }

  /// The `count` bytes from `offset` on, fewer only where the file ends before the size that it was said to
  /// have. It is asked for at least one byte, and for none behind `size`. What it throws leaves the parser
  /// as it is.
  func bytes(at offset: Int64, count: Int) throws -> [UInt8]
}

/// A file that is in memory as a whole.
package struct BytesInMemory: ByteSource, Sendable {
  private let all: [UInt8]

  /// A file of these bytes.
  package init(_ bytes: [UInt8]) { all = bytes }

  /// How many bytes it has.
  package var size: Int64 { Int64(all.count) }

  /// A copy of a piece of it.
  package func bytes(at offset: Int64, count: Int) -> [UInt8] {
    Array(all.dropFirst(Int(offset)).prefix(count))
  }
}
