import Foundation
import Reports
import TestSupport
import Testing

/// What is shown of what was reported.
@Suite struct LiveReportTests {
  private static func key(
    _ hour: Int = 5, feed: String = "f", policy: String = "p", network: String = "3g"
  ) -> ReportCellKey {
    ReportCellKey(hour: hour, feed: feed, policy: policy, arm: "", network: network)
  }

  private static func cell(sessions: Int, items: Int = 10, loaders: Int = 0) -> ReportCell {
    var cell = ReportCell()
    for session in 0..<sessions {
      var part = ReportPart(session: "\(session)", part: 0)
      part.figures.items = items
      part.figures.loaders[.image] = loaders
      cell.add(ReportCell(part))
    }
    return cell
  }

  private static func report(
    _ cells: [(ReportCellKey, ReportCell)], feed: String? = nil
  ) -> LiveReport {
    try! LiveReport(sinceHour: 0, leastSessions: 50, feed: feed) { body in
      for (key, cell) in cells { try body(key, cell) }
    }
  }

  @Test func `of fewer sessions than the limit nothing is shown`() {
    let report = Self.report([(Self.key(), Self.cell(sessions: 49))])
    #expect(report.total == nil)
    for list in [report.policies, report.feeds, report.hours] {
      #expect(list.groups.isEmpty && list.small == 1)
    }
    let enough = Self.report([(Self.key(), Self.cell(sessions: 50))])
    #expect(enough.total?.sessions == 50)
    #expect(enough.policies.groups.map(\.values) == [["3g", "p", ""]])
  }

  @Test func `a small group cannot be found by taking the others from the total`() {
    let cells = [
      (Self.key(feed: "large"), Self.cell(sessions: 200)),
      (Self.key(feed: "middle"), Self.cell(sessions: 60)),
      (Self.key(feed: "small"), Self.cell(sessions: 3)),
    ]
    let list = Self.report(cells).feeds
    #expect(list.groups.map(\.values) == [["large"], nil])
    #expect(list.groups.map(\.cell.sessions) == [200, 63])
    #expect(list.small == 1)
    // Nor by asking for the feed that it is added to alone.
    for feed in ["middle", "small", "none"] {
      let report = Self.report(cells, feed: feed)
      #expect(report.total == nil)
      for list in [report.policies, report.feeds, report.hours] { #expect(list.groups.isEmpty) }
    }
    let large = Self.report(cells, feed: "large")
    #expect(large.total?.sessions == 200 && large.feeds.groups.map(\.values) == [["large"]])
    #expect(large.policies.groups.map(\.cell.sessions) == [200])
  }

  @Test func `of more groups than there is room for, the others are one`() {
    let cells = (0..<10_050).map { number in
      (Self.key(policy: "p\(number)"), Self.cell(sessions: 1))
    }
    let list = Self.report(cells).policies
    #expect(list.small == 10_000 && list.groups.map(\.cell.sessions) == [10_050])
  }

  @Test(arguments: TestRandom.seeds)
  func `whatever the cells, groups add up to the total and none is too small`(_ seed: UInt64) {
    var random = TestRandom(seed)
    for _ in 0..<100 {
      var cells: [ReportCellKey: ReportCell] = [:]
      for _ in 0..<Int.random(in: 0...30, using: &random) {
        let key = Self.key(
          Int.random(in: 0...5, using: &random), feed: "f\(Int.random(in: 0...4, using: &random))",
          policy: "p\(Int.random(in: 0...2, using: &random))",
          network: ["3g", "lte", ""].randomElement(using: &random)!)
        cells[key, default: ReportCell()].add(
          Self.cell(sessions: Int.random(in: 0...40, using: &random)))
      }
      let report = Self.report(cells.map { ($0.key, $0.value) })
      for list in [report.policies, report.feeds, report.hours] {
        #expect(list.groups.allSatisfy { $0.cell.sessions >= 50 }, "seed \(seed)")
        var sum = ReportCell()
        for group in list.groups { sum.add(group.cell) }
        if let total = report.total { #expect(sum == total, "seed \(seed)") }
        #expect(report.total != nil || list.groups.isEmpty, "seed \(seed)")
      }
    }
  }

  @Test func `the interval of loaders is wider where few sessions have most of them`() throws {
    var even = ReportCell()
    var uneven = ReportCell()
    for number in 0..<100 {
      var part = ReportPart(session: "s", part: 0)
      part.figures.items = 100
      part.figures.loaders[.video] = 2
      even.add(ReportCell(part))
      part.figures.loaders[.video] = number < 4 ? 50 : 0
      uneven.add(ReportCell(part))
    }
    #expect(even.loadersPerThousand == 20)
    #expect(uneven.loadersPerThousand == 20)
    let (narrow, wide) = (
      try #require(even.intervalPerThousand), try #require(uneven.intervalPerThousand)
    )
    #expect(narrow == 20...20)
    #expect(wide.lowerBound < 5 && wide.upperBound > 35)
    #expect(Self.cell(sessions: 1).intervalPerThousand == nil)
    #expect(Self.cell(sessions: 30).intervalPerThousand == 0...10)
  }

  @Test(arguments: TestRandom.seeds)
  func `of a hundred worlds the interval holds the truth in about ninety-five`(_ seed: UInt64)
    throws
  {
    var random = TestRandom(seed)
    var held = 0
    for _ in 0..<200 {
      var cell = ReportCell()
      for _ in 0..<200 {
        var part = ReportPart(session: "s", part: 0)
        part.figures.items = Int.random(in: 20...200, using: &random)
        // A tenth of the sessions is on a bad network.
        let rate = Int.random(in: 0..<10, using: &random) == 0 ? 0.1 : 0.01
        part.figures.loaders[.image] = (0..<part.figures.items).count { _ in
          Double.random(in: 0..<1, using: &random) < rate
        }
        cell.add(ReportCell(part))
      }
      if try #require(cell.intervalPerThousand).contains(19) { held += 1 }
    }
    #expect((176...200).contains(held), "seed \(seed): \(held) of 200")
  }

  @Test func `what was counted is known until it is forgotten`() {
    var memory = ReportMemory(limit: 5)
    memory.take(.init(number: 1, hour: 100, fingerprints: [1, 2]))
    memory.take(.init(number: 2, hour: 101, fingerprints: [3, 4]))
    #expect(memory.contains(1) && memory.contains(4) && !memory.contains(5))
    #expect(memory.lastBatch == 2)
    // The oldest go where there is no room.
    memory.take(.init(number: 3, hour: 101, fingerprints: [5, 6]))
    #expect(!memory.contains(1) && !memory.contains(2) && memory.contains(3) && memory.count == 4)
    memory.forget(before: 102)
    #expect(memory.count == 0 && memory.lastBatch == 3)
  }
}
