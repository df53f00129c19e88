/// Reads pieces of a source through one window, so that adjacent small pieces take one read.
final class ByteReader {
  /// The minimum number of bytes requested at a time.
  var windowBytes = 32 << 10

  let source: any ByteSource
  let limits: MediaLimits
  /// The size of the file, as the source states it.
  let size: Int64
  private var window: [UInt8] = []
  private var windowStart: Int64 = 0
  private var partCount: Int64 = 0

  init(_ source: any ByteSource, _ limits: MediaLimits) {
    self.source = source
    self.limits = limits
    size = max(0, source.size)
  }

  /// Returns the `count` bytes from `offset` on; throws if the file ends before. `place`
  /// is their name in errors.
  func bytes(at offset: Int64, count: Int, in place: String) throws -> ArraySlice<UInt8> {
    guard offset >= 0, count >= 0, Int64(count) <= size, offset <= size - Int64(count) else {
      throw FormatError(
        .cutShort(neededBytes: Self.end(offset, Int64(count))), at: offset, in: place)
    }
    if let found = held(at: offset, count: count) { return found }
    // Do not request again what the window has.
    let kept = held(from: offset)
    let start = offset + Int64(kept.count)
    let missing = count - kept.count
    let asked = Int(min(Int64(max(missing, windowBytes)), size - start))
    let read = try source.bytes(at: start, count: asked)
    guard read.count >= missing else {
      // The file is shorter than the source stated.
      throw FormatError(.cutShort(neededBytes: offset + Int64(count)), at: offset, in: place)
    }
    let whole = kept.isEmpty ? read : kept + read
    // A piece larger than the window is not kept.
    if count <= windowBytes {
      window = whole
      windowStart = offset
    }
    return whole[..<count]
  }

  /// Returns up to `count` bytes from `offset` on; fewer at the end of the file.
  func available(at offset: Int64, upTo count: Int, in place: String) throws -> ArraySlice<UInt8> {
    guard offset < size else { return [] }
    return try bytes(at: offset, count: Int(min(Int64(count), size - offset)), in: place)
  }

  /// Reads fields from `offset` on.
  func fields(at offset: Int64, count: Int, in place: String) throws -> FieldReader {
    FieldReader(try bytes(at: offset, count: count, in: place), at: offset, in: place)
  }

  /// Counts a box, chunk, element or marker against the limit; to be called for each one.
  func countPart(at offset: Int64, in place: String) throws {
    partCount += 1
    try limits.check(partCount, .parts, at: offset, in: place)
  }

  /// The end of a piece; saturates at the maximum offset.
  static func end(_ offset: Int64, _ count: Int64) -> Int64 {
    let (sum, isTooLarge) = offset.addingReportingOverflow(count)
    return isTooLarge ? .max : sum
  }

  /// The bytes of the window from `offset` on, if it has any.
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

/// A source of a file's bytes: a file, or a URL that is read by ranges. The parsers request only what they
/// need, in few pieces, and do not keep it.
package protocol ByteSource {
  /// The size of the file; for a file that grows or shrinks, the size when it was opened.
  var size: Int64 { get }

  /// Returns the `count` bytes from `offset` on; fewer only if the file is shorter than `size`. The parsers
  /// request at least one byte, and none after `size`. They pass on the errors thrown here.
  func bytes(at offset: Int64, count: Int) throws -> [UInt8]
}

/// A file that is completely in memory.
package struct BytesInMemory: ByteSource, Sendable {
  private let all: [UInt8]

  /// Creates a file with these bytes.
  package init(_ bytes: [UInt8]) { all = bytes }

  /// The number of bytes.
  package var size: Int64 { Int64(all.count) }

  /// Returns a copy of a piece.
  package func bytes(at offset: Int64, count: Int) -> [UInt8] {
    Array(all.dropFirst(Int(offset)).prefix(count))
  }
}
