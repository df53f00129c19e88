import Catalog
import Feed
import ModelStore
import Seeding
import Synchronization
import TestSupport
import Testing

struct CompressedInputTests {
  enum Coding: CaseIterable {
    case gzip, zstandard

    func encode(_ text: String) throws -> [UInt8] {
      switch self {
      case .gzip: try gzipped(text)
      case .zstandard: try zstandarded(text)
      }
    }
  }

  private static func line(_ index: Int) -> String {
    "{\"id\":\"p\(index)\",\"feeds\":[{\"name\":\"f\"}],\"type\":\"text\",\"text\":\"words \(index * 7919 % 1000)\"}\n"
  }

  private static let text = (0..<2_000).map(line).joined()

  /// An input of these bytes in pieces of this length.
  static func input(_ bytes: [UInt8], pieces: Int = 70_000) -> SeedInput {
    let position = Mutex(0)
    return SeedInput(name: "in") {
      position.withLock { position in
        guard position < bytes.count else { return nil }
        defer { position = min(position + pieces, bytes.count) }
        return Array(bytes[position..<min(position + pieces, bytes.count)])
      }
    }
  }

  private func seed(_ inputs: [SeedInput], _ seeder: Seeder = Seeder()) throws -> (
    SeedReport, ModelStore
  ) {
    let store = ModelStore()
    let report = try seeder.run(
      inputs, into: store, onProblem: { Issue.record("\($0)") }, onProgress: { _ in })
    return (report, store)
  }

  @Test(arguments: Coding.allCases, [1, 7, 70_000])
  func `what is compressed is told by its content, several members and frames too`(
    _ coding: Coding, _ pieces: Int
  ) throws {
    // Within a record.
    let half = Self.text.index(Self.text.startIndex, offsetBy: 50_001)
    let bytes =
      try coding.encode(String(Self.text[..<half])) + coding.encode(String(Self.text[half...]))
    let (report, _) = try seed([Self.input(bytes, pieces: pieces)])
    #expect(report.summary.added == 2_000)
    let (small, _) = try seed([Self.input(try coding.encode(Self.line(1)))])
    #expect(small.summary.added == 1)
  }

  /// Sizes of what is compressed: around what a decoder hands out at once, and what an input is read by.
  private static let sizes = [65_536, 131_072].flatMap { [$0 - 1, $0, $0 + 1] }

  @Test(arguments: Coding.allCases)
  func `an input of any size is whole, however many frames it has and whatever lies between them`(
    _ coding: Coding
  ) throws {
    let record = String(Self.line(1).dropLast())
    let nothing = try coding.encode("")
    // A frame that decoders pass over (RFC 8878 section 3.1.2); gzip has none.
    let skipped: [UInt8] =
      coding == .zstandard ? [0x5a, 0x2a, 0x4d, 0x18, 3, 0, 0, 0, 1, 2, 3] : []
    for size in TestRandom.some(2, of: Self.sizes) {
      let text = record + String(repeating: "\n", count: size - record.utf8.count)
      let whole = try coding.encode(text)
      let second = try coding.encode("\n" + Self.line(2))
      let inputs = [
        whole, whole + nothing, whole + skipped, whole + second, nothing + whole + second + nothing,
        skipped + whole + skipped + second + skipped,
      ]
      for (index, bytes) in inputs.enumerated() {
        // One or the other in each run, both at night.
        for pieces in TestRandom.some(1, of: [65_536, whole.count]) {
          let (report, _) = try seed([Self.input(bytes, pieces: pieces)])
          #expect(
            report.summary.added == (index < 3 ? 1 : 2), "\(size), \(index), \(pieces)")
        }
      }
    }
  }

  @Test(arguments: Coding.allCases)
  func `what is cut short or damaged is named, and where`(_ coding: Coding) throws {
    let bytes = try coding.encode(Self.text)
    for count in [4, 12, bytes.count / 2, bytes.count - 1] {
      let error = #expect(throws: SeedInputError.self) {
        _ = try seed([Self.input(Array(bytes[..<count]))])
      }
      #expect(error?.reason.contains("is incomplete") == true, "\(count): \(error as Any)")
      #expect(error?.reason.contains("\(count)") == true, "\(count): \(error as Any)")
    }
    var damaged = bytes
    damaged[bytes.count - 3] ^= 0x40
    let error = #expect(throws: SeedInputError.self) { _ = try seed([Self.input(damaged)]) }
    #expect(error?.reason.contains("is damaged") == true, "\(error as Any)")
  }

  @Test(arguments: Coding.allCases)
  func `what stands for more than the limit is refused`(_ coding: Coding) throws {
    // 400 kB of line ends in a few hundred bytes.
    let bytes = try coding.encode(String(repeating: "\n", count: 400_000))
    #expect(bytes.count < 1_000)
    var seeder = Seeder()
    seeder.decompressedLimitBytes = 399_999
    let error = #expect(throws: SeedInputError.self) { _ = try seed([Self.input(bytes)], seeder) }
    #expect(
      error?.reason == "it decompresses to more than 399999 bytes (--decompressed-bytes)")
    seeder.decompressedLimitBytes = 400_000
    #expect(throws: Never.self) { _ = try seed([Self.input(bytes)], seeder) }
  }

  @Test(arguments: Coding.allCases, TestRandom.seeds)
  func `damaged streams are refused or read, and never a trap`(_ coding: Coding, _ seed: UInt64)
    throws
  {
    let bytes = try coding.encode((0..<40).map(Self.line).joined())
    var random = TestRandom(seed)
    for _ in 0..<300 {
      var damaged = bytes
      for _ in 0..<random.number(1...3) {
        damaged[random.number(0...damaged.count - 1)] = UInt8(random.number(0...255))
      }
      let store = ModelStore()
      _ = try? Seeder().run(
        [Self.input(damaged, pieces: random.number(1...500))], into: store, onProblem: { _ in },
        onProgress: { _ in })
    }
  }

  @Test
  func
    `compressed within compressed, and a format by mistake, are named before anything is loaded`()
    throws
  {
    let store = ModelStore()
    let good = Self.input(Array(Self.line(1).utf8))
    let twice = try gzipped(try gzipped(Self.line(2)))
    for bad in [
      Array("id,title\n1,a\n".utf8), Array("<html>".utf8), Array("PK\u{3}\u{4}x".utf8), twice,
    ] {
      #expect(throws: SeedInputError.self) {
        _ = try Seeder().run(
          [good, Self.input(bad)], into: store, onProblem: { _ in }, onProgress: { _ in })
      }
    }
    #expect(try store.item(withID: "p1") == nil)
  }
}
