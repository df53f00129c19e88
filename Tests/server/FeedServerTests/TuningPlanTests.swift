import Catalog
import Experiments
import Feed
import ModelStore
import Reports
import TestSupport
import Testing

@testable import FeedServer

/// What the tuner knows of a feed's links.
@Suite struct TuningPlanTests {
  /// As many sessions on each day as are named, counted from day 100, with links of this many kilobits a second.
  private static func store(
    _ days: [(sessions: Int, kilobits: Int)], network: String = "3g"
  ) throws -> ModelStore {
    let store = ModelStore()
    try store.load(
      [.post(Post(id: "a", type: .text), placements: [Placement(feed: "f", rank: 1)])], batch: 9)
    var number: UInt64 = 0
    for (day, (sessions, kilobits)) in days.enumerated() {
      let parts = (0..<sessions).map { _ in
        number += 1
        var part = ReportPart(session: "\(number)", part: 0)
        part.figures.items = 5
        (part.downlinkKbps, part.roundTripMilliseconds) = (kilobits, 300)
        return CountedPart(
          fingerprint: number,
          key: ReportCellKey(
            hour: (100 + day) * 24 + 9, feed: "f", policy: "p", arm: "", network: network),
          cell: ReportCell(part))
      }
      _ = try store.add(
        parts, at: (100 + day) * 24 + 9, after: Int64(day), forgettingBefore: 0,
        cellsPerHour: 100, of: WatchLimits())
    }
    return store
  }

  private static func links(_ store: ModelStore, days: Int) throws -> ReportedDays? {
    let plan = try TuningPlan(store, feed: "f", atHour: (100 + days) * 24)
    return plan.links(of: try #require(plan.parts.first))
  }

  private static func rates(_ links: ReportedLinks) -> [Int] {
    links.quantiles(2).map(\.downlinkKbps)
  }

  @Test func `it tunes by the links of even days and judges by those of odd ones`() throws {
    let store = try Self.store([(300, 1_000), (300, 2_000), (300, 1_000), (300, 2_000)])
    let links = try #require(try Self.links(store, days: 4))
    #expect(links.isHeldOut)
    // In bins a tenth wide, of which the middle is told.
    #expect(Self.rates(links.tuning).allSatisfy { (950...1_060).contains($0) })
    #expect(Self.rates(links.judging).allSatisfy { (1_900...2_110).contains($0) })
    #expect(
      links.tuning.quantiles(1).first?.roundTripMilliseconds.map { (285...316).contains($0) }
        == true)
    #expect(links.words == "1200 measured links, tuned and judged on different days")
  }

  @Test func `the newest days that say enough are taken, so that a world that changes is known`()
    throws
  {
    let store = try Self.store([
      (2_500, 400), (2_500, 400), (2_500, 400), (2_500, 400), (2_500, 3_000), (2_500, 3_000),
    ])
    let links = try #require(try Self.links(store, days: 6))
    #expect(Self.rates(links.tuning).allSatisfy { $0 > 2_800 })
    #expect(Self.rates(links.judging).allSatisfy { $0 > 2_800 })
  }

  @Test func `of one day all is taken for both, and of too few links none`() throws {
    let one = try #require(try Self.links(try Self.store([(250, 500)]), days: 1))
    #expect(!one.isHeldOut && one.tuning == one.judging && one.tuning.count == 250)
    #expect(one.words == "250 measured links")
    #expect(try Self.links(try Self.store([(199, 500)]), days: 1) == nil)
    // Nothing came: that says nothing of how fast a link is.
    #expect(try Self.links(try Self.store([(900, 0)]), days: 1) == nil)
  }
}
