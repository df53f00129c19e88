import Testing

@testable import MediaFormats

struct StartMeterTests {
  /// One frame a second, of this many bytes each, behind tables of 100.
  private static func start(_ bytes: [Int64]) -> MediaStart {
    var meter = StartMeter()
    var end: Int64 = 100
    for (index, count) in bytes.enumerated() {
      let time = Int64(index) * 1_000_000
      end += count
      meter.add(time: time, until: time + 1_000_000, end: end)
      meter.addPicture(at: time)
    }
    return meter.start(tables: 0..<100, fileBytes: end)
  }

  @Test func `the curve has the times that the file reaches, and its end`() {
    let start = Self.start([1000, 2000, 3000, 4000])
    #expect(start.headBytes == 1100)
    #expect(
      start.curve == [
        .init(milliseconds: 1000, bytes: 1100), .init(milliseconds: 2000, bytes: 3100),
        .init(milliseconds: 3000, bytes: 6100), .init(milliseconds: 4000, bytes: 10_100),
      ])
  }

  @Test func `a lead is the most by which what is needed is ever ahead of what has come`() {
    // 12 500 bytes a second are 100 kilobits.
    let start = Self.start([10_000, 12_500, 40_000, 12_500, 12_500])
    let rows = Dictionary(
      uniqueKeysWithValues: start.lead.map { ($0.kilobitsPerSecond, $0.bytes) })
    #expect(rows[100] == 37_600)
    // At 160 kbit/s, 20 000 bytes a second, the third frame is the hardest, too.
    // 10 000 and 100, 12 500 and 40 000 by then, less what came in two seconds.
    #expect(rows[160] == 22_600)
    #expect(rows[250] == 10_100)
    #expect(start.lead.last == .init(kilobitsPerSecond: 250, bytes: 10_100))
  }

  @Test func `there are only rows that say something`() {
    // All of it is needed at once: whoever has it needs no row.
    #expect(Self.start([10_000]).lead.isEmpty)
    // The slowest rows ask for more than nine tenths of a long file.
    let start = Self.start([Int64](repeating: 125_000, count: 100))
    #expect(start.lead.first?.kilobitsPerSecond == 160)
    #expect(start.lead.last?.kilobitsPerSecond == 1000)
    #expect(start.lead.last?.bytes == start.headBytes)
    #expect(Self.start([]).lead.isEmpty && Self.start([]).curve.isEmpty)
  }

  @Test func `times that are too large to count with are no times`() {
    var meter = StartMeter()
    meter.add(time: -1 << 60, until: 0, end: 10)
    meter.add(time: 1 << 62, until: 1 << 62, end: 20)
    let start = meter.start(tables: 0..<5, fileBytes: 20)
    #expect(start.headBytes == 10)
    #expect(start.curve.last?.bytes == 20)
  }

  @Test func `before tables behind the data, the heads of the boxes between are needed, too`() {
    var meter = StartMeter()
    meter.add(time: 0, until: 1_000_000, end: 100)
    meter.addPicture(at: 0)
    func needed(_ heads: [Range<Int64>]) -> [Range<Int64>] {
      meter.start(tables: 900..<1000, headsBefore: heads, fileBytes: 1000).neededRanges
    }
    #expect(needed([0..<8, 20..<28]) == [0..<100, 900..<1000])
    #expect(needed([0..<8, 500..<508]) == [0..<100, 500..<508, 900..<1000])
    // What touches is one piece.
    #expect(needed([100..<108, 892..<900]) == [0..<108, 892..<1000])
    // Four at the most.
    let many: [Range<Int64>] = (2...8).map { (number: Int64) in number * 100..<number * 100 + 8 }
    #expect(needed(many) == [0..<100, 200..<208, 300..<308, 400..<1000])
  }
}
