import HTTP
import TestSupport
import Testing

struct ByteRangesTests {
  struct Case: Sendable {
    let field: String?
    let size: Int
    let selection: ByteRanges.Selection

    init(_ field: String?, _ size: Int, _ selection: ByteRanges.Selection) {
      self.field = field
      self.size = size
      self.selection = selection
    }
  }

  private static let huge = String(repeating: "9", count: 100)
  private static let most = Int.max

  static let single: [Case] = [
    Case("bytes=0-0", 1000, .parts([0..<1])),
    Case("bytes=0-499", 1000, .parts([0..<500])),
    Case("bytes=999-999", 1000, .parts([999..<1000])),
    Case("bytes=500-", 1000, .parts([500..<1000])),
    Case("bytes=0-", 1000, .parts([0..<1000])),
    Case("bytes=-1", 1000, .parts([999..<1000])),
    Case("bytes=-1000", 1000, .parts([0..<1000])),
    Case("bytes=-1001", 1000, .parts([0..<1000])),
    Case("bytes=990-1000", 1000, .parts([990..<1000])),
    Case("bytes=00000000000000000000000000-0000000000000000000000001", 1000, .parts([0..<2])),
    Case("bytes=1-\(huge)", 1000, .parts([1..<1000])),
    Case("bytes=-\(huge)", 1000, .parts([0..<1000])),
    Case("bytes=1-\(most)", most, .parts([1..<most])),
    Case("bytes=-\(most)", most, .parts([0..<most])),
    Case("BYTES=0-0", 1000, .parts([0..<1])),
    Case("Bytes=0-0", 1, .parts([0..<1])),
  ]

  @Test(arguments: single)
  func `a range selects its bytes and is cut at the end`(_ test: Case) {
    #expect(
      ByteRanges.select(test.field, size: test.size, maximumParts: 1) == test.selection)
  }

  static let unsatisfiable: [Case] = [
    Case("bytes=1000-", 1000, .unsatisfiable),
    Case("bytes=1000-1000", 1000, .unsatisfiable),
    Case("bytes=\(huge)-", 1000, .unsatisfiable),
    Case("bytes=\(huge)-\(huge)", most, .unsatisfiable),
    Case("bytes=-0", 1000, .unsatisfiable),
    Case("bytes=-000", 1000, .unsatisfiable),
    Case("bytes=1000-,-0,2000-3000", 1000, .unsatisfiable),
    Case("bytes=0-", 0, .unsatisfiable),
    Case("bytes=0-0", 0, .unsatisfiable),
    Case("bytes=-0", 0, .unsatisfiable),
  ]

  @Test(arguments: unsatisfiable)
  func `a range past the end is unsatisfiable`(_ test: Case) {
    #expect(
      ByteRanges.select(test.field, size: test.size, maximumParts: 3) == test.selection)
  }

  static let several: [Case] = [
    Case("bytes=0-0,-1", 1000, .parts([0..<1, 999..<1000])),
    Case("bytes=500-600,601-999", 1000, .parts([500..<601, 601..<1000])),
    Case("bytes=900-,0-9", 1000, .parts([900..<1000, 0..<10])),
    Case("bytes=0-0,0-0", 1000, .parts([0..<1, 0..<1])),
    Case("bytes=0-9,5-14", 1000, .parts([0..<10, 5..<15])),
    Case("bytes=0-0, bytes=1-1", 1000, .whole),
    Case("bytes=0-0, 1-1", 1000, .parts([0..<1, 1..<2])),
    Case("bytes=0-0 \t,\t 1-1", 1000, .parts([0..<1, 1..<2])),
    Case("bytes=,0-0", 1000, .parts([0..<1])),
    Case("bytes= ,0-0", 1000, .parts([0..<1])),
    Case("bytes=0-0,", 1000, .parts([0..<1])),
    Case("bytes=0-0, , ,,,,1-1,,", 1000, .parts([0..<1, 1..<2])),
    Case("bytes=5000-,0-0,-0", 1000, .parts([0..<1])),
    Case("bytes=0-499,500-999", 1000, .parts([0..<500, 500..<1000])),
  ]

  @Test(arguments: several)
  func `several ranges keep their order, and those past the end are left out`(_ test: Case) {
    #expect(
      ByteRanges.select(test.field, size: test.size, maximumParts: 3) == test.selection)
  }

  @Test(arguments: [
    nil, "", "bytes", "bytes=", "bytes=,", "bytes= , ,", "bytes=-", "bytes=0", "bytes=a-b",
    "bytes=0-a", "bytes=a-0", "bytes=-a", "bytes=0--1", "bytes=--1", "bytes=-1-", "bytes=+0-1",
    "bytes=0-+1", "bytes=0 -1", "bytes=0- 1", "bytes=0-0;", "bytes=0-0 1-1", "bytes=0x0-1",
    "bytes=1-0", "bytes=\(huge)-0", "bytes=0-0,1-0", "bytes=1-0,5000-", "bytes=5000-,x",
    "bytes =0-0", " bytes=0-0", "byte=0-0", "bytess=0-0", "bytes:0-0", "items=0-0", "0-0", "=0-0",
    "bytes=\u{0660}-\u{0661}", "bytes=0\u{2013}1", "bytes=0-1\u{0}", "\u{feff}bytes=0-0",
  ])
  func `a field that is malformed or of another unit is ignored`(_ field: String?) {
    #expect(ByteRanges.select(field, size: 1000, maximumParts: 10) == .whole)
  }

  @Test(arguments: ["bytes=-5", "bytes=0-,-5", "bytes=-5,-0"])
  func `a suffix of an empty representation is the whole of it`(_ field: String) {
    #expect(ByteRanges.select(field, size: 0, maximumParts: 2) == .whole)
  }

  @Test func `more parts than the limit are ignored, whether or not they are satisfiable`() {
    #expect(ByteRanges.select("bytes=0-0,1-1", size: 9, maximumParts: 2) != .whole)
    #expect(ByteRanges.select("bytes=0-0,1-1,2-2", size: 9, maximumParts: 2) == .whole)
    #expect(ByteRanges.select("bytes=10-,10-,10-", size: 9, maximumParts: 2) == .whole)
    #expect(ByteRanges.select("bytes=0-0", size: 9, maximumParts: 0) == .whole)
    let many = "bytes=" + String(repeating: "0-0,", count: 10_000)
    #expect(ByteRanges.select(many, size: 1_000_000, maximumParts: 10) == .whole)
  }

  @Test(arguments: ["0-8,8-8", "0-8,0-8", "-9,-1", "0-4,4-8", "0-7,7-8,7-8"])
  func `parts that add up to more than there is are ignored`(_ set: String) {
    #expect(ByteRanges.select("bytes=" + set, size: 9, maximumParts: 10) == .whole)
    #expect(ByteRanges.select("bytes=" + set, size: 20, maximumParts: 10) != .whole)
    #expect(ByteRanges.select("bytes=0-,-1", size: 20, maximumParts: 10) == .whole)
  }

  @Test func `sizes near the largest number do not overflow`() {
    let fields = ["bytes=0-,0-", "bytes=1-,1-,1-", "bytes=-\(Self.most),-\(Self.huge)"]
    for field in fields {
      #expect(ByteRanges.select(field, size: Self.most, maximumParts: 10) == .whole)
    }
  }
}

extension ByteRangesTests {
  /// What a single range selects, by looking at each position there is.
  private static func model(first: Int?, last: Int?, size: Int) -> ByteRanges.Selection {
    let positions =
      if let first {
        Array((0..<size).filter { $0 >= first && $0 <= last ?? .max })
      } else {
        Array((0..<size).suffix(last ?? 0))
      }
    guard let start = positions.first, let end = positions.last else {
      // A suffix of something is satisfiable even where there is nothing.
      return first == nil && last != 0 ? .whole : .unsatisfiable
    }
    return .parts([start..<(end + 1)])
  }

  @Test(arguments: TestRandom.seeds)
  func `a single range selects what a look at each position selects`(seed: UInt64) {
    var random = TestRandom(seed)
    for _ in 0..<5000 {
      let size = random.number(0...20)
      let first = random.chance(70) ? random.number(0...25) : nil
      let last = first == nil || random.chance(70) ? random.number((first ?? 0)...30) : nil
      let field = "bytes=\(first.map(String.init) ?? "")-\(last.map(String.init) ?? "")"
      #expect(
        ByteRanges.select(field, size: size, maximumParts: 1)
          == Self.model(first: first, last: last, size: size),
        "\(field) of \(size); \(TestRandom.replay)")
    }
  }

  @Test(arguments: TestRandom.seeds)
  func `whatever a field says, the parts lie within the representation and its size`(seed: UInt64) {
    var random = TestRandom(seed)
    var selectionsOfSeveral = 0
    for _ in 0..<20_000 {
      let size = random.once(in: 4) ? Int.max : random.number(0...200)
      let maximumParts = random.number(0...6)
      let field = Self.field(&random)
      guard
        case .parts(let parts) = ByteRanges.select(field, size: size, maximumParts: maximumParts)
      else { continue }
      if parts.count > 1 { selectionsOfSeveral += 1 }
      let sum = parts.reduce((count: 0, hasOverflowed: false)) { sum, part in
        let (count, hasOverflowed) = sum.count.addingReportingOverflow(part.count)
        return (count, sum.hasOverflowed || hasOverflowed)
      }
      #expect(
        !parts.isEmpty && parts.count <= maximumParts && !sum.hasOverflowed && sum.count <= size
          && parts.allSatisfy { !$0.isEmpty && $0.lowerBound >= 0 && $0.upperBound <= size },
        "\(field) of \(size): \(parts); \(TestRandom.replay)")
    }
    #expect(selectionsOfSeveral > 500, TestRandom.replay)
  }

  /// A field that is often well-formed.
  private static func field(_ random: inout TestRandom) -> String {
    let pieces = [
      "0-0", "-1", "5-", "10-19", "-", ",", ", ", " ", "-0", "\(Int.max)-", "-\(Int.max)", huge,
    ]
    var members: [String] = []
    for _ in 0..<random.number(1...6) {
      let first = random.number(0...220)
      members.append(
        random.once(in: 3) ? random.one(of: pieces) : "\(first)-\(first + random.number(0...60))")
    }
    let junk = random.once(in: 20) ? random.text(0...4) : ""
    return "bytes=" + members.joined(separator: random.one(of: [",", ", ", ",,"])) + junk
  }
}
