/// Pieces of files in memory.
struct MemoryPieces: PieceStorage {
  private struct Piece {
    let offset: Int
    var bytes: [UInt8]
    var end: Int { offset + bytes.count }
  }

  /// The pieces of each file, by ascending offset, without overlap.
  private var files: [Int: [Piece]] = [:]
  private var lastNumber = 0

  /// The size up to which adjacent pieces are joined, so that a file of many small answers stays few pieces.
  private static let joinedBytes = 65_536

  mutating func create(_ file: KeptFile) -> Int {
    lastNumber += 1
    files[lastNumber] = []
    return lastNumber
  }

  mutating func write(_ bytes: ArraySlice<UInt8>, at offset: Int, of number: Int) {
    let index = index(of: offset, in: number)
    if index > 0, let last = files[number]?[index - 1], last.end == offset,
      last.bytes.count + bytes.count <= Self.joinedBytes
    {
      files[number]?[index - 1].bytes += bytes
    } else {
      files[number]?.insert(Piece(offset: offset, bytes: Array(bytes)), at: index)
    }
  }

  func read(_ range: Range<Int>, of number: Int) -> PieceReading {
    var read: [UInt8] = []
    read.reserveCapacity(range.count)
    var index = max(0, index(of: range.lowerBound + 1, in: number) - 1)
    let pieces = files[number] ?? []
    while index < pieces.count, pieces[index].offset < range.upperBound {
      let piece = pieces[index]
      let start = range.lowerBound + read.count
      guard piece.offset <= start, piece.end > start else { return .broken(range) }
      read +=
        piece.bytes[(start - piece.offset)..<(min(range.upperBound, piece.end) - piece.offset)]
      index += 1
    }
    return read.count == range.count ? .bytes(read) : .broken(range)
  }

  mutating func discard(_ range: Range<Int>, of number: Int) -> Bool {
    files[number] = (files[number] ?? []).flatMap { piece -> [Piece] in
      guard piece.offset < range.upperBound, piece.end > range.lowerBound else { return [piece] }
      let before = piece.bytes.prefix(max(0, range.lowerBound - piece.offset))
      let behind = piece.bytes.suffix(max(0, piece.end - range.upperBound))
      return [
        Piece(offset: piece.offset, bytes: Array(before)),
        Piece(offset: range.upperBound, bytes: Array(behind)),
      ]
      .filter { !$0.bytes.isEmpty }
    }
    return true
  }

  mutating func remove(_ number: Int) { files[number] = nil }

  func touch(_ number: Int) {}

  /// The index of the first piece that begins at this offset or after it.
  private func index(of offset: Int, in number: Int) -> Int {
    let pieces = files[number] ?? []
    var (low, high) = (0, pieces.count)
    while low < high {
      let middle = (low + high) / 2
      if pieces[middle].offset >= offset { high = middle } else { low = middle + 1 }
    }
    return low
  }
}

/// Storage for the bytes of kept files. The caller writes no byte that is held, and reads only held bytes.
protocol PieceStorage {
  /// Creates a file without bytes, and returns its unique number.
  mutating func create(_ file: KeptFile) throws(RangeStoreError) -> Int
  /// Writes bytes at this offset.
  mutating func write(_ bytes: ArraySlice<UInt8>, at offset: Int, of number: Int)
    throws(RangeStoreError)
  /// Reads the range, all bytes of which were written.
  mutating func read(_ range: Range<Int>, of number: Int) throws(RangeStoreError) -> PieceReading
  /// Removes the bytes of the range.
  ///
  /// - Returns: whether their space is free again.
  mutating func discard(_ range: Range<Int>, of number: Int) throws(RangeStoreError) -> Bool
  /// Removes a file. What cannot be removed is left to the next start.
  mutating func remove(_ number: Int)
  /// Marks the file as most recently used, also for the next start.
  mutating func touch(_ number: Int)
}

/// The outcome of a read.
enum PieceReading {
  /// The bytes.
  case bytes([UInt8])
  /// This range does not have the bytes that were written; the storage has discarded it.
  case broken(Range<Int>)
}
