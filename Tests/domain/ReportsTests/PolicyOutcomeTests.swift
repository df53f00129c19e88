import Feed
import Reports
import Testing

/// What the lab predicted beside what was met.
@Suite struct PolicyOutcomeTests {
  private static func outcome(feed: String?, other: Set<String> = []) -> PolicyOutcome {
    PolicyOutcome(
      feed: feed, network: "3g", policy: "ours",
      appliedAt: Timestamp(microseconds: 100 * 3_600_000_000 + 1_800_000_000),
      predictedPerThousand: 12.4, predictedHalfWidth: 1, otherFeeds: Set(other.map { ByteText($0) })
    )
  }

  /// Of a hundred items each, a loader in each of this many sessions of a hundred.
  private static func cell(sessions: Int, perHundred: Int) -> ReportCell {
    var cell = ReportCell()
    for session in 0..<sessions {
      var part = ReportPart(session: "\(session)", part: 0)
      part.figures.items = 100
      part.figures.loaders[.video] = perHundred / 100 + (session % 100 < perHundred % 100 ? 1 : 0)
      cell.add(ReportCell(part))
    }
    return cell
  }

  private static func key(
    _ hour: Int = 100, feed: String = "f", network: String = "3g", policy: String = "ours"
  ) -> ReportCellKey {
    ReportCellKey(hour: hour, feed: feed, policy: policy, arm: "", network: network)
  }

  private static func met(
    _ outcome: PolicyOutcome, _ cells: [(ReportCellKey, ReportCell)]
  ) throws -> PolicyOutcome {
    let met = try PolicyOutcome.met([outcome], leastSessions: 50) { since, body in
      for (key, cell) in cells where key.hour >= since { try body(key, cell) }
    }
    return try #require(met.first)
  }

  @Test func `what was met under the policy since it was applied stands beside the prediction`()
    throws
  {
    let cell = Self.cell(sessions: 100, perHundred: 140)
    let met = try Self.met(
      Self.outcome(feed: "f"),
      [
        (Self.key(), cell), (Self.key(101), cell),
        // Before, of another feed, on another network, under another policy.
        (Self.key(99), cell), (Self.key(feed: "g"), cell), (Self.key(network: "4g"), cell),
        (Self.key(policy: "old"), cell),
      ])
    #expect(met.met.sessions == 200)
    #expect(met.words == "predicted 12 per 1000, met 14 (13 to 15)")
    #expect(met.verdict == .asPredicted)
  }

  @Test(arguments: [(20, PolicyOutcome.Verdict.fewer), (120, .asPredicted), (300, .more)])
  func `a verdict is told where the intervals do not meet`(
    _ perHundred: Int, _ verdict: PolicyOutcome.Verdict
  ) throws {
    let cell = Self.cell(sessions: 100, perHundred: perHundred)
    #expect(try Self.met(Self.outcome(feed: "f"), [(Self.key(), cell)]).verdict == verdict)
  }

  @Test func `of few sessions nothing is told, nor without a prediction anything read`() throws {
    let few = try Self.met(
      Self.outcome(feed: "f"), [(Self.key(), Self.cell(sessions: 49, perHundred: 100))])
    #expect(few.met == ReportCell() && few.verdict == nil)
    #expect(few.words == "predicted 12 per 1000, too few sessions measured")
    let none = PolicyOutcome.met([], leastSessions: 50) { _, _ in Issue.record("nothing to read") }
    #expect(none.isEmpty)
  }

  @Test func `the policy of all feeds met what feeds without one of their own did`() throws {
    let cell = Self.cell(sessions: 60, perHundred: 100)
    let met = try Self.met(
      Self.outcome(feed: nil, other: ["own"]),
      [(Self.key(feed: "f"), cell), (Self.key(feed: "g"), cell), (Self.key(feed: "own"), cell)])
    #expect(met.met.sessions == 120)
  }
}
