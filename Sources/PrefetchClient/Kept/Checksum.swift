/// A hash of 64 bits that tells a torn write from a whole one; not one that withstands whoever wants to
/// deceive it. Eight bytes at a time: each step maps different states, or different bytes, to different ones
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
