/// Reads the little-endian numbers of a record in a scratch file, each where the one before ended.
///
/// Only the process that wrote a record reads it: it has no version, and that it ends too early is a
/// mistake of this program.
struct RecordReader {
  let bytes: UnsafeRawBufferPointer
  private(set) var position = 0

  init(_ bytes: UnsafeRawBufferPointer) {
    self.bytes = bytes
  }

  mutating func number<Number: FixedWidthInteger & BitwiseCopyable>(_: Number.Type) -> Number {
    let range = take(MemoryLayout<Number>.size)
    return Number(
      littleEndian: bytes.loadUnaligned(fromByteOffset: range.lowerBound, as: Number.self))
  }

  /// Where the next so many bytes lie; the reader goes on behind them.
  mutating func take(_ count: Int) -> Range<Int> {
    precondition(count <= bytes.count - position, "a record ends in its middle")
    defer { position += count }
    return position..<position + count
  }
}

extension [UInt8] {
  /// Appends a number as `RecordReader` reads it.
  mutating func append(littleEndian number: some FixedWidthInteger) {
    Swift.withUnsafeBytes(of: number.littleEndian) { append(contentsOf: $0) }
  }
}
