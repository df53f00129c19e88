/// A record in a file's index: bytes that were kept, or removed.
struct PieceRecord: Hashable {
  /// The range of bytes in the file.
  let range: Range<Int>
  /// The checksum of the bytes; `nil` for a removal.
  let checksum: UInt64?

  /// The size of an encoded record: first, end, the bytes' checksum, and the checksum of these three.
  static let encodedBytes = 32
  private static let removalFlag: UInt64 = 1 << 63

  /// Encodes the record for the index with this salt.
  func encoded(salt: UInt64) -> [UInt8] {
    let words = [
      UInt64(range.lowerBound) | (checksum == nil ? Self.removalFlag : 0),
      UInt64(range.upperBound), checksum ?? 0,
    ]
    return (words + [Self.checksum(words, salt)]).flatMap { word in
      (0..<8).map { UInt8(truncatingIfNeeded: word >> UInt64(8 * $0)) }
    }
  }

  /// Decodes a record; `nil` if it is incomplete.
  init?(_ bytes: ArraySlice<UInt8>, salt: UInt64) {
    guard bytes.count == Self.encodedBytes else { return nil }
    let words = (0..<4).map { word in
      (0..<8).reduce(UInt64(0)) {
        $0 | UInt64(bytes[bytes.startIndex + 8 * word + $1]) << UInt64(8 * $1)
      }
    }
    let (first, end) = (words[0] & ~Self.removalFlag, words[1])
    guard Self.checksum(Array(words[..<3]), salt) == words[3], first < end,
      end <= UInt64(RangeAnswer.fileByteLimit)
    else { return nil }
    range = Int(first)..<Int(end)
    checksum = words[0] & Self.removalFlag == 0 ? words[2] : nil
  }

  /// Creates the record of a removal.
  init(removalOf range: Range<Int>) {
    self.range = range
    checksum = nil
  }

  /// Creates the record of kept bytes.
  init(_ bytes: ArraySlice<UInt8>, at offset: Int, salt: UInt64) {
    range = offset..<offset + bytes.count
    checksum = Self.checksum(bytes, at: offset, salt: salt)
  }

  /// Whether these are the bytes for which the record was written.
  func holds(_ bytes: [UInt8], salt: UInt64) -> Bool {
    checksum == Self.checksum(bytes[...], at: range.lowerBound, salt: salt)
  }

  private static func checksum(_ words: [UInt64], _ salt: UInt64) -> UInt64 {
    var sum = Checksum(salt: salt)
    for word in words { sum.append(word) }
    return sum.value
  }

  private static func checksum(_ bytes: ArraySlice<UInt8>, at offset: Int, salt: UInt64) -> UInt64 {
    var sum = Checksum(salt: salt)
    sum.append(UInt64(offset))
    sum.append(bytes)
    return sum.value
  }
}

/// A 64-bit hash that distinguishes a torn write from a complete one. It does not withstand an attacker. It
/// takes eight bytes at a time: each step maps different states, or different bytes, to different ones
/// (Vigna's mixing, "An experimental exploration of Marsaglia's xorshift generators, scrambled", 2016).
struct Checksum {
  private(set) var value: UInt64

  init(salt: UInt64) { value = Self.mix(salt ^ 0x9e37_79b9_7f4a_7c15) }

  mutating func append(_ bytes: ArraySlice<UInt8>) {
    bytes.withUnsafeBytes { raw in
      var offset = 0
      while offset + 8 <= raw.count {
        append(raw.loadUnaligned(fromByteOffset: offset, as: UInt64.self).littleEndian)
        offset += 8
      }
      var last = UInt64(raw.count - offset) << 56
      for index in offset..<raw.count { last |= UInt64(raw[index]) << UInt64(8 * (index - offset)) }
      append(last)
    }
  }

  mutating func append(_ word: UInt64) { value = Self.mix(value ^ word) }

  private static func mix(_ value: UInt64) -> UInt64 {
    var mixed = (value ^ (value >> 32)) &* 0xd6e8_feb8_6659_fd93
    mixed = (mixed ^ (mixed >> 32)) &* 0xd6e8_feb8_6659_fd93
    return mixed ^ (mixed >> 32)
  }
}
