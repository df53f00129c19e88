/// Pieces of files in memory.
struct MemoryPieces: PieceStorage {
  private struct Piece {
    let offset: Int
    var bytes: [UInt8]
    var end: Int { offset + bytes.count }
  }

  /// By rising offset, without overlap.
  private var files: [Int: [Piece]] = [:]
  private var lastNumber = 0

  /// Pieces that touch are joined up to this many bytes: a file of many small answers stays few pieces.
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

  /// The first piece that begins at this offset or behind it.
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

/// Where the bytes of kept files lie. Whoever calls it writes no byte that is held and reads only what is held.
protocol PieceStorage {
  /// Room for a file of which nothing is kept yet; its number is its own.
  mutating func create(_ file: KeptFile) throws(RangeStoreError) -> Int
  /// Keeps bytes from this offset on.
  mutating func write(_ bytes: ArraySlice<UInt8>, at offset: Int, of number: Int)
    throws(RangeStoreError)
  /// The bytes of the range, all of which were written.
  mutating func read(_ range: Range<Int>, of number: Int) throws(RangeStoreError) -> PieceReading
  /// Lets go of bytes of the range.
  ///
  /// - Returns: whether what they took is free again.
  mutating func discard(_ range: Range<Int>, of number: Int) throws(RangeStoreError) -> Bool
  /// Lets go of a file. What cannot be removed is left to the next start.
  mutating func remove(_ number: Int)
  /// The file is used: it comes last when room is made, at the next start too.
  mutating func touch(_ number: Int)
}

/// What came of reading.
enum PieceReading {
  /// The bytes.
  case bytes([UInt8])
  /// These are not what was written: they are let go of already.
  case broken(Range<Int>)
}
