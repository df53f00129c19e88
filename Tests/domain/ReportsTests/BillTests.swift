import Reports
import TestSupport
import Testing

/// What bytes that were never seen cost, and what a loader avoided costs.
@Suite struct BillTests {
  /// A cell of a hundred sessions of 100 items each.
  private static func cell(loaders: [Int], unseen: Int, reason: ByteFate = .neverReached)
    -> ReportCell
  {
    var cell = ReportCell()
    for session in 0..<100 {
      var part = ReportPart(session: "\(session)", part: 0)
      part.figures.items = 100
      part.figures.loaders[.video] = loaders[session % loaders.count]
      part.figures.bytes[.seen] = 10_000_000
      part.figures.bytes[reason] = unseen
      cell.add(ReportCell(part))
    }
    return cell
  }

  private static func report(
    _ cells: [(feed: String, network: String, policy: String, cell: ReportCell)],
    feed: String? = nil
  ) throws -> LiveReport {
    try LiveReport(sinceHour: 0, leastSessions: 50, feed: feed) { body in
      for (feed, network, policy, cell) in cells {
        try body(
          ReportCellKey(hour: 1, feed: feed, policy: policy, arm: "", network: network), cell)
      }
    }
  }

  @Test func `a month of a person is the average session as often as is said`() {
    let cell = Self.cell(loaders: [1], unseen: 2_000_000, reason: .left)
    let rates = Bill.Rates(gigabyteCents: 300, monthSessions: 30)
    #expect(cell.unseenBytes == 200_000_000)
    #expect(cell.monthUnseenBytes(rates) == 60_000_000)
    #expect(cell.monthBytes(.left, rates) == 60_000_000 && cell.monthBytes(.cancelled, rates) == 0)
    #expect(rates.cents(ofBytes: 60_000_000) == 18)
    #expect(ReportCell().monthUnseenBytes(rates) == nil)
  }

  @Test
  func `a loader avoided costs what is never seen beside the thriftiest policy of the network`()
    throws
  {
    let report = try Self.report([
      ("f", "3g", "ahead", Self.cell(loaders: [1, 2, 3], unseen: 3_000_000)),
      ("f", "3g", "none", Self.cell(loaders: [21, 22, 23], unseen: 1_000_000)),
      ("f", "wifi", "ahead", Self.cell(loaders: [0, 1], unseen: 9_000_000)),
    ])
    let found = Dictionary(
      uniqueKeysWithValues: zip(report.policies.groups, report.avoided).map {
        ($0.values ?? [], $1)
      })
    // A network with one policy has nothing beside it, nor has the baseline: only what loads nothing ahead.
    for (names, perThousand, bytes) in [
      (["wifi", "ahead", ""], 995.0, 90_000.0), (["3g", "none", ""], 780.2, 10_000.0),
    ] {
      let lone = try #require(found[names] ?? nil)
      #expect(lone.isComputed && lone.baseline == [names[0], "endless"])
      #expect(abs(lone.perThousand - perThousand) < 0.5 && lone.bytesPerItem == bytes)
      #expect(lone.interval?.contains(lone.perThousand) == true)
      #expect(abs(try #require(lone.bytesPerLoader) - bytes * 1000 / perThousand) < 100)
    }
    let avoided = try #require(found[["3g", "ahead", ""]] ?? nil)
    #expect(avoided.baseline == ["3g", "none", ""] && !avoided.isComputed)
    #expect(abs(avoided.perThousand - 200) < 0.2)
    let interval = try #require(avoided.interval)
    #expect(interval.contains(200) && interval.lowerBound > 190 && interval.upperBound < 210)
    // 20 KB more an item are never seen, for a fifth of a loader.
    #expect(avoided.bytesPerItem == 20_000)
    #expect(abs(try #require(avoided.bytesPerLoader) - 100_000) < 200)
  }

  @Test(arguments: [[1, 0, 60, 0], [12, 20, 18]])
  func `where chance may have avoided the loaders, there is no price`(_ loaders: [Int]) throws {
    let report = try Self.report([
      ("f", "3g", "ahead", Self.cell(loaders: loaders, unseen: 3_000_000)),
      ("f", "3g", "none", Self.cell(loaders: [16], unseen: 1_000_000)),
    ])
    let avoided = report.avoided.compactMap(\.self).filter { !$0.isComputed }
    #expect(avoided.count == 1 && avoided.allSatisfy { $0.bytesPerLoader == nil })
  }

  @Test func `policies whose names are two normal forms are two policies`() throws {
    let report = try Self.report([
      ("f", "3g", "caf\u{e9}", Self.cell(loaders: [1, 2], unseen: 3_000_000)),
      ("f", "3g", "cafe\u{301}", Self.cell(loaders: [21, 22], unseen: 1_000_000)),
    ])
    #expect(report.policies.groups.count == 2)
    #expect(report.avoided.count { $0?.isComputed == false } == 1)
  }

  @Test func `policies of different feeds are not compared`() throws {
    let cells = [
      ("f", "3g", "ahead", Self.cell(loaders: [1], unseen: 3_000_000)),
      ("g", "3g", "none", Self.cell(loaders: [16], unseen: 1_000_000)),
    ]
    for feed in [nil, "f"] {
      #expect(try Self.report(cells, feed: feed).avoided.allSatisfy { $0?.isComputed == true })
    }
  }

  @Test func `what loads nothing ahead avoids nothing for certain`() throws {
    let all = try Self.report([("f", "3g", "none", Self.cell(loaders: [100], unseen: 0))])
    #expect(try #require(all.avoided.first ?? nil).bytesPerLoader == nil)
  }
}
