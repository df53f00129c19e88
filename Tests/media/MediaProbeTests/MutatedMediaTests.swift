import Foundation
import MediaProbe
import TestSupport
import Testing

/// Files that are damaged anyhow get an answer or an error, soon.
@Suite struct MutatedMediaTests {
  /// This many copies of each file: `LOOKAHEAD_MUTATIONS`, which `.ci/nightly` raises.
  private static let copies =
    ProcessInfo.processInfo.environment["LOOKAHEAD_MUTATIONS"].flatMap { Int($0) } ?? 3

  private static func mutated(_ bytes: [UInt8], _ random: inout TestRandom) -> [UInt8] {
    var bytes = bytes
    for _ in 0..<random.number(1...6) where bytes.count > 8 {
      // Tables are in the first and the last kilobytes.
      let reach = min(bytes.count, random.once(in: 2) ? 1_000 : bytes.count)
      let index = random.number(0...reach - 1)
      let place = random.once(in: 4) ? bytes.count - 1 - index : index
      switch random.number(0...4) {
      case 0: bytes[place] ^= UInt8(1 << random.number(0...7))
      case 1: bytes[place] = UInt8(random.number(0...255))
      case 2:
        for next in place..<min(place + 4, bytes.count) {
          bytes[next] = random.once(in: 2) ? 0xff : 0
        }
      case 3: bytes.removeLast(random.number(0...bytes.count - 1))
      default:
        let end = min(bytes.count, place + random.number(1...64))
        bytes.insert(contentsOf: bytes[place..<end], at: random.number(0...bytes.count - 1))
      }
    }
    return bytes
  }

  @Test(arguments: TestRandom.seeds)
  func `a damaged file has an answer or an error, within its limits`(seed: UInt64) throws {
    var random = TestRandom(seed)
    var settings = ProbeSettings()
    settings.timeMilliseconds = 20_000
    let probe = MediaProbe(settings: settings)
    let folder = TemporaryFolder()
    let path = folder.file("mutated")
    for original in MadeMedia.all {
      let bytes = try MadeMedia.bytes(original)
      for _ in 0..<Self.copies {
        try Data(Self.mutated(bytes, &random)).write(to: URL(fileURLWithPath: path))
        do throws(ProbeError) {
          let truth = try probe.probe(file: path).truth
          #expect(truth.start?.problem(fileBytes: truth.bytes) == nil, TestRandom.replay)
        } catch {
          if case .decodingTimedOut = error { Issue.record("\(original): \(error)") }
          #expect(!error.description.isEmpty, TestRandom.replay)
        }
      }
    }
  }
}
