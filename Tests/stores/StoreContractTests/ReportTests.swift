import Catalog
import Feed
import Reports
import TestSupport
import Testing

@testable import RowStore

/// What clients report, added up.
@Suite struct ReportTests {
  private static func key(_ hour: Int, feed: String = "f", network: String = "3g") -> ReportCellKey
  {
    ReportCellKey(hour: hour, feed: feed, policy: "p", arm: "", network: network)
  }

  private static func part(
    _ fingerprint: UInt64, _ key: ReportCellKey, items: Int = 3
  ) -> CountedPart {
    var part = ReportPart(session: "s", part: 0)
    part.figures.items = items
    part.figures.loaders[.video] = 1
    part.figures.waits.add(milliseconds: 700)
    part.figures.bytes[.neverReached] = 1 << 40
    return CountedPart(fingerprint: fingerprint, key: key, cell: ReportCell(part))
  }

  private func fingerprints(_ batches: [ReportMemory.Batch]) -> [[UInt64]] {
    batches.map { $0.fingerprints.sorted() }
  }

  @Test(arguments: StoreKind.allCases)
  func `a part that comes again is counted once, whichever process has it`(_ kind: StoreKind) throws
  {
    let test = try TestStore(kind)
    let (store, other) = (test.store, try test.again())
    let parts = (1...3).map { Self.part($0, Self.key(10)) }
    let first = try store.add(
      [parts[0], parts[1], parts[0]], at: 10, after: 0, forgettingBefore: 0, cellsPerHour: 9,
      of: WatchLimits())
    #expect(fingerprints(first) == [[1, 2]])
    let last = try #require(first.last?.number)
    // The same process, which knows of them, and another one, which does not.
    #expect(
      try store.add(
        [], at: 10, after: last, forgettingBefore: 0, cellsPerHour: 9, of: WatchLimits()
      ).isEmpty)
    let second = try other.add(
      [parts[1], parts[2]], at: 10, after: 0, forgettingBefore: 0, cellsPerHour: 9,
      of: WatchLimits())
    #expect(fingerprints(second) == [[1, 2], [3]])
    #expect(
      fingerprints(
        try store.add(
          [parts[2]], at: 10, after: last, forgettingBefore: 0, cellsPerHour: 9, of: WatchLimits()))
        == [
          [3]
        ])
    let cells = try store.reportCells(since: 10)
    #expect(cells.map(\.key) == [Self.key(10)])
    var expected = ReportCell()
    for part in parts { expected.add(part.cell) }
    #expect(cells[0].cell == expected)
    try test.expectSound()
  }

  @Test(arguments: StoreKind.allCases)
  func `what is too old is deleted, and numbers of batches go on`(_ kind: StoreKind) throws {
    let test = try TestStore(kind)
    let store = test.store
    for hour in 1...5 {
      _ = try store.add(
        [Self.part(UInt64(hour), Self.key(hour))], at: hour, after: 0, forgettingBefore: 0,
        cellsPerHour: 9, of: WatchLimits())
    }
    try store.dropReports(before: 3, fingerprintsBefore: 9, of: WatchLimits())
    #expect(try store.reportCells(since: 0).map(\.key.hour) == [3, 4, 5])
    #expect(try store.reportCells(since: 5).map(\.key.hour) == [5])
    // The last batch stays, so that the next one has a greater number.
    let batches = try store.add(
      [Self.part(6, Self.key(6))], at: 6, after: 0, forgettingBefore: 0, cellsPerHour: 9,
      of: WatchLimits())
    #expect(batches.map(\.number) == [5, 6])
    try test.expectSound()
  }

  @Test(arguments: StoreKind.allCases)
  func `batches that need not be remembered are deleted, the last one never`(_ kind: StoreKind)
    throws
  {
    let test = try TestStore(kind)
    for number in 1...4 {
      _ = try test.store.add(
        [Self.part(UInt64(number), Self.key(1))], at: 1, after: 0,
        forgettingBefore: number == 4 ? 99 : 2, cellsPerHour: 9, of: WatchLimits())
      #expect(
        try test.store.reportBatches().map(\.number) == [[1], [2], [2, 3], [4]][number - 1])
    }
    try test.expectSound()
  }

  @Test(arguments: StoreKind.allCases)
  func `what has no cell of its own in an hour is counted with the others`(_ kind: StoreKind) throws
  {
    let test = try TestStore(kind)
    let store = test.store
    let parts = (0..<10).map { Self.part(UInt64($0), Self.key(7, feed: "f\($0)")) }
    _ = try store.add(
      Array(parts[..<4]), at: 7, after: 0, forgettingBefore: 0, cellsPerHour: 3, of: WatchLimits())
    _ = try store.add(
      parts, at: 7, after: 0, forgettingBefore: 0, cellsPerHour: 3, of: WatchLimits())
    _ = try store.add(
      [Self.part(99, Self.key(8))], at: 8, after: 0, forgettingBefore: 0, cellsPerHour: 3,
      of: WatchLimits())
    let cells = try store.reportCells(since: 7)
    #expect(
      cells.map(\.key) == [.others(hour: 7)] + (0..<3).map { Self.key(7, feed: "f\($0)") }
        + [Self.key(8)])
    #expect(cells.map(\.cell.parts) == [7, 1, 1, 1, 1])
    try test.expectSound()
  }

  @Test(arguments: StoreKind.allCases)
  func `names are told apart by their bytes`(_ kind: StoreKind) throws {
    let test = try TestStore(kind)
    let store = test.store
    let names = ["\u{e9}", "e\u{301}", "", "a'b\"c", "\u{1F600}"]
    _ = try store.add(
      names.enumerated().map { Self.part(UInt64($0), Self.key(1, feed: $1)) }, at: 1, after: 0,
      forgettingBefore: 0, cellsPerHour: 9, of: WatchLimits())
    let found = try store.reportCells(since: 0).map { ByteText($0.key.feed) }
    #expect(found == names.map(ByteText.init).sorted())
    try test.expectSound()
  }

  @Test(arguments: StoreKind.databases)
  func `a store that is opened again has what was reported`(_ kind: StoreKind) throws {
    let test = try TestStore(kind)
    _ = try test.store.add(
      [Self.part(1, Self.key(1))], at: 1, after: 0, forgettingBefore: 0, cellsPerHour: 9,
      of: WatchLimits())
    let before = try test.store.reportCells(since: 0)
    try test.close()
    let again = try test.again()
    #expect(fingerprints(try again.reportBatches()) == [[1]])
    #expect(try again.reportCells(since: 0).map(\.cell) == before.map(\.cell))
    #expect(
      fingerprints(
        try again.add(
          [Self.part(1, Self.key(1))], at: 1, after: 0, forgettingBefore: 0, cellsPerHour: 9,
          of: WatchLimits()))
        == [[1]])
  }

  @Test func `a cell of before the links is read, and has none`() throws {
    var part = ReportPart(session: "1", part: 0)
    part.figures.items = 3
    part.figures.waits.add(milliseconds: 70)
    let cell = ReportCell(part)
    var writer = PackedWriter()
    let figures = cell.figures
    for number in [
      cell.sessions, cell.parts, cell.sessionsOfOneAddress, figures.items, figures.stalls,
      figures.stalledMilliseconds, figures.requests, figures.plans,
    ] + figures.loaders.counts + figures.bytes.counts + cell.moments.sums + cell.moments.squares
      + cell.moments.timesItems
    { writer.append(number) }
    for bins in [figures.waits, figures.frames] {
      writer.append(bins.counts.count)
      for number in bins.counts { writer.append(number) }
    }
    #expect(try PackedReport.cell(writer.sealed(form: 2)) == cell)
    // A later program's is not taken for one of ours.
    #expect(throws: PackedError.self) { try PackedReport.cell(writer.sealed(form: 4)) }
  }

  @Test(arguments: TestRandom.seeds)
  func `cells are read as they were packed, and nothing else is`(_ seed: UInt64) throws {
    var random = TestRandom(seed)
    for _ in 0..<100 {
      var cell = ReportCell()
      cell.sessions = Int.random(in: 0...Int.max, using: &random)
      for index in cell.moments.sums.indices {
        cell.moments.sums[index] = Int.random(in: 0...1_000, using: &random)
        cell.moments.squares[index] = Int.random(in: 0...1_000_000, using: &random)
        cell.moments.timesItems[index] = Int.random(in: 0...(1 << 50), using: &random)
      }
      for fate in ByteFate.allCases {
        cell.figures.bytes[fate] = Int.random(in: 0...(1 << 50), using: &random)
      }
      for _ in 0..<Int.random(in: 0...20, using: &random) {
        cell.figures.frames.add(
          Int.random(in: 1...1_000_000, using: &random),
          inBin: Int.random(in: 0..<DurationBins.count, using: &random))
        cell.links.downlinks.add(
          Int.random(in: 1...1_000_000, using: &random),
          inBin: Int.random(in: 0..<DurationBins.count, using: &random))
      }
      let packed = PackedReport.pack(cell)
      #expect(try PackedReport.cell(packed) == cell, "seed \(seed)")
      #expect(throws: PackedError.self) { try PackedReport.cell(Array(packed.dropLast())) }
      var damaged = packed
      damaged[Int.random(in: 0..<packed.count, using: &random)] ^= 0x10
      #expect(throws: PackedError.self, "seed \(seed)") { try PackedReport.cell(damaged) }
    }
    let hashes = (0..<50).map { _ in UInt64.random(in: 0...UInt64.max, using: &random) }
    #expect(PackedReport.fingerprints(PackedReport.pack(hashes)) == hashes)
  }
}
