import Foundation
import Prefetch
import TestSupport
import Testing

@testable import ShapedLink

@Suite struct LinkScheduleTests {
  private static func conditions(_ rate: Int, _ latencyMilliseconds: Int = 0) -> LinkConditions {
    LinkConditions(
      downlinkKbps: rate, uplinkKbps: rate, latencyMicroseconds: latencyMilliseconds * 1000)
  }

  @Test func `a trace is played step by step, and then from its beginning again`() throws {
    let trace = """
      [{"duration_ms": 10, "bandwidth_kbps": 1, "latency_ms": 4},
       {"duration_ms": 5, "bandwidth_kbps": 2, "latency_ms": 6}]
      """
    let schedule = try LinkSchedule(trace: Array(trace.utf8))
    let expected: [(milliseconds: UInt64, rate: Int, until: UInt64)] = [
      (0, 1, 10), (9, 1, 10), (10, 2, 15), (14, 2, 15), (15, 1, 25), (25, 2, 30),
      (1_500_010, 2, 1_500_015),
    ]
    for row in expected {
      let found = schedule.conditions(atNanoseconds: row.milliseconds * 1_000_000)
      #expect(found.conditions == Self.conditions(row.rate, row.rate == 1 ? 2 : 3))
      #expect(found.untilNanoseconds == row.until * 1_000_000)
    }
  }

  @Test(arguments: [
    ("", "the trace is not JSON"), ("[]", "0 steps"), ("{}", "0 steps"),
    (
      #"[{"duration_ms": 0, "bandwidth_kbps": 1, "latency_ms": 0}]"#,
      "step 0 of the trace: duration_ms"
    ),
    (#"[{"duration_ms": 1, "bandwidth_kbps": -1, "latency_ms": 0}]"#, "bandwidth_kbps"),
    (#"[{"duration_ms": 1, "bandwidth_kbps": 1}]"#, "latency_ms"),
    (#"[{"duration_ms": 1, "bandwidth_kbps": 1.5, "latency_ms": 0}]"#, "bandwidth_kbps"),
    (#"[{"duration_ms": 9e18, "bandwidth_kbps": 1, "latency_ms": 0}]"#, "duration_ms"),
    ("[7]", "bandwidth_kbps"),
  ])
  func `what is no trace is refused with words`(_ text: String, _ words: String) {
    let error = #expect(throws: LinkTraceError.self) {
      try LinkSchedule(trace: Array(text.utf8))
    }
    #expect(error?.description.contains(words) == true, "\(error?.description ?? "")")
  }

  @Test func `a profile's round trip is halved, its figures are kept`() {
    let conditions = LinkConditions(
      NetworkProfile(
        name: "3g", title: "3G", downlinkKbps: 780, uplinkKbps: 330, roundTripMilliseconds: 201,
        lossPercent: 3))
    #expect(conditions.latencyMicroseconds == 100_500)
    #expect(conditions.downlinkKbps == 780 && conditions.uplinkKbps == 330)
    #expect(conditions.lossPercent == 3)
  }

  private static let traces = URL(fileURLWithPath: SharedFeeds.fixtures)
    .deletingLastPathComponent().deletingLastPathComponent()
    .appendingPathComponent("shared/data/traces").path
  private static let names = (FileManager.default.enumerator(atPath: traces)?.allObjects ?? [])
    .compactMap { $0 as? String }.filter { $0.hasSuffix(".json") }

  @Test(.enabled(if: !names.isEmpty, "the recorded traces are not beside the project"))
  func `every recorded trace can be played`() throws {
    for name in Self.names {
      let bytes = try Data(contentsOf: URL(fileURLWithPath: "\(Self.traces)/\(name)"))
      let schedule = try LinkSchedule(trace: Array(bytes))
      #expect(schedule.conditions(atNanoseconds: 0).untilNanoseconds != nil, "\(name)")
    }
  }
}
