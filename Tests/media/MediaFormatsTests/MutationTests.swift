import MediaFormats
import TestSupport
import Testing

/// Files that were sound, and something happened to them.
struct MutationTests {
  private static let rounds = 1500

  @Test(arguments: TestRandom.seeds)
  func `no mutation traps or hangs, and what is said stays in order`(seed: UInt64) {
    var random = TestRandom(seed)
    let samples = StructureSamples.all + MediaSample.passive.map(\.head)
    for _ in 0..<Self.rounds {
      let file = Self.mutated(random.one(of: samples), random.one(of: samples), &random)
      #expect(StructureProperties.fault(in: [0] + file) == nil, TestRandom.replay)
    }
  }

  /// Cut off, spliced, bytes changed, numbers made extreme.
  static func mutated(
    _ file: [UInt8], _ other: [UInt8], _ random: inout TestRandom
  ) -> [UInt8] {
    var file = file
    for _ in 0..<random.number(1...4) where !file.isEmpty {
      let index = random.number(0...file.count - 1)
      switch random.number(0...6) {
      case 0: file[index] = UInt8(random.number(0...255))
      case 1: file[index] ^= 1 << UInt8(random.number(0...7))
      case 2: file.removeSubrange(index...)
      case 3:
        // Where a length may be: boxes and chunks begin with one.
        let extreme = random.one(of: [0, 1, 7, 8, 0x7fff_ffff, 0x8000_0000, 0xffff_ffff])
        for (offset, byte) in MediaBytes.number(extreme).enumerated()
        where index + offset < file.count {
          file[index + offset] = byte
        }
      case 4:
        let start = random.number(0...max(0, other.count - 1))
        file.insert(contentsOf: other[start...].prefix(random.number(0...200)), at: index)
      case 5: file.removeSubrange(index..<min(file.count, index + random.number(1...64)))
      default: file.append(contentsOf: file[index...].prefix(300))
      }
    }
    return file
  }
}
