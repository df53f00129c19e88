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
