/// SHA-256 (FIPS 180-4): 32 bytes that no two files share, by accident or by design.
public struct SHA256: Sendable {
  /// How many bytes a digest has.
  public static let digestBytes = 32
  private static let blockBytes = 64

  /// Section 5.3.3.
  private var state: [UInt32] = [
    0x6a09_e667, 0xbb67_ae85, 0x3c6e_f372, 0xa54f_f53a, 0x510e_527f, 0x9b05_688c, 0x1f83_d9ab,
    0x5be0_cd19,
  ]
  /// What does not fill a block yet.
  private var rest: [UInt8] = []
  private var count: UInt64 = 0

  /// Of nothing so far.
  public init() {}

  /// The digest of these bytes.
  public static func digest(of bytes: [UInt8]) -> [UInt8] {
    var hash = SHA256()
    hash.add(bytes)
    return hash.digest()
  }

  /// Goes on with the next bytes.
  public mutating func add(_ bytes: [UInt8]) {
    count &+= UInt64(bytes.count)
    var start = 0
    if !rest.isEmpty {
      start = min(Self.blockBytes - rest.count, bytes.count)
      rest += bytes[..<start]
      guard rest.count == Self.blockBytes else { return }
      rest.withUnsafeBufferPointer { Self.compress($0, 1, into: &state) }
      rest.removeAll(keepingCapacity: true)
    }
    let blocks = (bytes.count - start) / Self.blockBytes
    bytes.withUnsafeBufferPointer {
      Self.compress(UnsafeBufferPointer(rebasing: $0[start...]), blocks, into: &state)
    }
    rest += bytes[(start + blocks * Self.blockBytes)...]
  }

  /// The digest of all that was added. Padding is section 5.1.1's.
  public func digest() -> [UInt8] {
    var last = self
    let bits = count &* 8
    let zeros = (Self.blockBytes + 55 - rest.count) % Self.blockBytes
    last.add([0x80] + [UInt8](repeating: 0, count: zeros))
    last.add((0..<8).map { UInt8(truncatingIfNeeded: bits >> UInt64(56 - 8 * $0)) })
    return last.state.flatMap { word in
      (0..<4).map { UInt8(truncatingIfNeeded: word >> UInt32(24 - 8 * $0)) }
    }
  }

  /// Section 6.2.2, for each of the blocks. On pointers, with loops that count themselves and shifts that
  /// check nothing: without optimization the rest is a hundred times as slow, and tests hash files.
  private static func compress(
    _ bytes: UnsafeBufferPointer<UInt8>, _ blocks: Int, into state: inout [UInt32]
  ) {
    precondition(bytes.count >= blocks * blockBytes)
    guard blocks > 0, let source = UnsafeRawPointer(bytes.baseAddress) else { return }
    withUnsafeTemporaryAllocation(of: UInt32.self, capacity: 64) { schedule in
      constants.withUnsafeBufferPointer { constants in
        state.withUnsafeMutableBufferPointer { state in
          guard let schedule = schedule.baseAddress, let constants = constants.baseAddress,
            let state = state.baseAddress
          else { return }
          var block = 0
          while block < blocks {
            // Within the bytes, as just looked.
            expand(source + block * blockBytes, into: schedule)
            mix(schedule, constants, state)
            block += 1
          }
        }
      }
    }
  }

  /// A block of 64 bytes to 64 words.
  private static func expand(
    _ block: UnsafeRawPointer, into schedule: UnsafeMutablePointer<UInt32>
  ) {
    var index = 0
    while index < 16 {
      schedule[index] = UInt32(
        bigEndian: block.loadUnaligned(fromByteOffset: index * 4, as: UInt32.self))
      index += 1
    }
    while index < 64 {
      let early = schedule[index - 15]
      let late = schedule[index - 2]
      let first = (early &>> 7 | early &<< 25) ^ (early &>> 18 | early &<< 14) ^ (early &>> 3)
      let second = (late &>> 17 | late &<< 15) ^ (late &>> 19 | late &<< 13) ^ (late &>> 10)
      schedule[index] = schedule[index - 16] &+ first &+ schedule[index - 7] &+ second
      index += 1
    }
  }

  /// 64 words of a block and 64 constants into the eight words of the state.
  private static func mix(
    _ schedule: UnsafeMutablePointer<UInt32>, _ constants: UnsafePointer<UInt32>,
    _ state: UnsafeMutablePointer<UInt32>
  ) {
    var (a, b, c, d) = (state[0], state[1], state[2], state[3])
    var (e, f, g, h) = (state[4], state[5], state[6], state[7])
    var index = 0
    while index < 64 {
      let high = (e &>> 6 | e &<< 26) ^ (e &>> 11 | e &<< 21) ^ (e &>> 25 | e &<< 7)
      let choice = (e & f) ^ (~e & g)
      let first = h &+ high &+ choice &+ constants[index] &+ schedule[index]
      let low = (a &>> 2 | a &<< 30) ^ (a &>> 13 | a &<< 19) ^ (a &>> 22 | a &<< 10)
      let majority = (a & b) ^ (a & c) ^ (b & c)
      h = g
      g = f
      f = e
      e = d &+ first
      d = c
      c = b
      b = a
      a = first &+ low &+ majority
      index += 1
    }
    state[0] &+= a
    state[1] &+= b
    state[2] &+= c
    state[3] &+= d
    state[4] &+= e
    state[5] &+= f
    state[6] &+= g
    state[7] &+= h
  }

  /// Section 4.2.2.
  private static let constants: [UInt32] = [
    0x428a_2f98, 0x7137_4491, 0xb5c0_fbcf, 0xe9b5_dba5, 0x3956_c25b, 0x59f1_11f1, 0x923f_82a4,
    0xab1c_5ed5, 0xd807_aa98, 0x1283_5b01, 0x2431_85be, 0x550c_7dc3, 0x72be_5d74, 0x80de_b1fe,
    0x9bdc_06a7, 0xc19b_f174, 0xe49b_69c1, 0xefbe_4786, 0x0fc1_9dc6, 0x240c_a1cc, 0x2de9_2c6f,
    0x4a74_84aa, 0x5cb0_a9dc, 0x76f9_88da, 0x983e_5152, 0xa831_c66d, 0xb003_27c8, 0xbf59_7fc7,
    0xc6e0_0bf3, 0xd5a7_9147, 0x06ca_6351, 0x1429_2967, 0x27b7_0a85, 0x2e1b_2138, 0x4d2c_6dfc,
    0x5338_0d13, 0x650a_7354, 0x766a_0abb, 0x81c2_c92e, 0x9272_2c85, 0xa2bf_e8a1, 0xa81a_664b,
    0xc24b_8b70, 0xc76c_51a3, 0xd192_e819, 0xd699_0624, 0xf40e_3585, 0x106a_a070, 0x19a4_c116,
    0x1e37_6c08, 0x2748_774c, 0x34b0_bcb5, 0x391c_0cb3, 0x4ed8_aa4a, 0x5b9c_ca4f, 0x682e_6ff3,
    0x748f_82ee, 0x78a5_636f, 0x84c8_7814, 0x8cc7_0208, 0x90be_fffa, 0xa450_6ceb, 0xbef9_a3f7,
    0xc671_78f2,
  ]
}
