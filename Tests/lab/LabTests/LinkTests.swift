import Prefetch
import TestSupport
import Testing

@testable import Lab

/// Requests over a link, by the microsecond.
@Suite struct LinkTests {
  static let thirdGeneration = LinkConditions(
    downlinkKbps: 780, uplinkKbps: 330, latencyMicroseconds: 100_000)

  /// A link without what would blur the arithmetic: no heads, no thinking, no bytes upwards.
  static func plain(_ change: (inout LinkSettings) -> Void = { _ in }) -> LinkSettings {
    var settings = LinkSettings()
    settings.responseHeadBytes = 0
    settings.requestBytes = 0
    settings.thinkMilliseconds = 0
    settings.timeoutMilliseconds = 1_000_000_000
    change(&settings)
    return settings
  }

  static func link(
    _ conditions: LinkConditions, _ settings: LinkSettings = plain(), seed: UInt64 = 1
  ) -> Link {
    Link(LinkSchedule(conditions), settings: settings, random: LabRandom(seed: seed))
  }

  /// When one answer of this many bytes is there on a link where nobody else is: the closed form of Kurose and
  /// Ross, "Computer Networking", section 3.7: round trips of set-up and request, the bytes at full rate, and
  /// after each window the rest of the round trip, as long as a window is sent in less.
  static func closedForm(
    bytes: Int, kbps: Double, roundTripSeconds: Double, window: Double, setup: Double
  ) -> Double {
    let rate = kbps * 1_000 / 8
    var seconds = (setup + 1) * roundTripSeconds + Double(bytes) / rate
    var (size, sent) = (window, 0.0)
    while sent + size < Double(bytes), size / rate < roundTripSeconds {
      seconds += roundTripSeconds - size / rate
      sent += size
      size *= 2
    }
    return seconds
  }

  @Test(arguments: [1, 1_460, 14_600, 14_601, 43_800, 153_600, 2_097_152])
  func `one transfer alone takes what the closed form says`(bytes: Int) {
    for (kbps, latency) in [(780, 100_000), (240, 400_000), (50_000, 57_500), (40_000, 1_000)] {
      var link = Self.link(
        LinkConditions(
          downlinkKbps: kbps, uplinkKbps: kbps, latencyMicroseconds: latency))
      link.start(1, bytes: bytes)
      let event = link.next(untilMicroseconds: .max)
      let seconds = Self.closedForm(
        bytes: bytes, kbps: Double(kbps), roundTripSeconds: Double(latency) / 500_000,
        window: 14_600, setup: 2)
      #expect(event?.isFinished == true && event?.bytes == bytes)
      // Each event may lose a microsecond.
      #expect(abs(Double(link.nowMicroseconds) - seconds * 1e6) <= 40, "\(kbps) kbit/s")
    }
  }

  @Test func `a second request on a warm connection saves the set-up and the slow start`() {
    var link = Self.link(Self.thirdGeneration)
    link.start(1, bytes: 153_600)
    _ = link.next(untilMicroseconds: .max)
    let first = link.nowMicroseconds
    link.start(2, bytes: 153_600)
    let event = link.next(untilMicroseconds: .max)
    #expect(event?.request == 2 && event?.firstByteMicroseconds == 200_000)
    #expect(abs(link.nowMicroseconds - first - 200_000 - 153_600 * 8_000 / 780) <= 2)
  }

  @Test(arguments: [(900, 0), (1_500, 50_256)])
  func `a connection that rested long begins its windows anew`(rest: Int, later: Int) {
    var link = Self.link(Self.thirdGeneration)
    link.start(1, bytes: 153_600)
    _ = link.next(untilMicroseconds: .max)
    let start = link.nowMicroseconds + rest * 1_000
    #expect(link.next(untilMicroseconds: start) == nil)
    link.start(2, bytes: 153_600)
    _ = link.next(untilMicroseconds: .max)
    let took = link.nowMicroseconds - start - 200_000 - 153_600 * 8_000 / 780
    #expect(abs(took - later) <= 20, "\(took)")
  }

  @Test func `a connection that is not kept is set up anew`() {
    var link = Self.link(Self.thirdGeneration, Self.plain { $0.keepAliveMilliseconds = 5_000 })
    link.start(1, bytes: 1)
    _ = link.next(untilMicroseconds: .max)
    _ = link.next(untilMicroseconds: link.nowMicroseconds + 6_000_000)
    let start = link.nowMicroseconds
    link.start(2, bytes: 1)
    _ = link.next(untilMicroseconds: .max)
    #expect(link.nowMicroseconds - start >= 600_000)
  }

  @Test func `what is cancelled takes its connection along, and of HTTP/2 leaves it`() {
    for (settings, took) in [(Self.plain(), 600_010), (LinkSettings.multiplexed, 221_233)] {
      var link = Self.link(Self.thirdGeneration, settings)
      link.start(1, bytes: 1_000_000)
      #expect(link.next(untilMicroseconds: 2_000_000) == nil)
      #expect((link.bytes(of: 1) ?? 0) > 50_000)
      link.cancel(1)
      #expect(link.bytes(of: 1) == nil)
      link.start(2, bytes: 1)
      _ = link.next(untilMicroseconds: .max)
      #expect(abs(link.nowMicroseconds - 2_000_000 - took) < 20, "\(link.nowMicroseconds)")
    }
  }

  @Test func `requests share evenly, and what one leaves is the others'`() {
    var settings = Self.plain()
    settings.initialWindowPackets = 10_000
    var link = Self.link(Self.thirdGeneration, settings)
    for id in 1...3 { link.start(id, bytes: id * 97_500) }
    // The link brings 97 500 bytes a second. Until 3 s each has a third; until 5 s the two others a half.
    var times: [Int] = []
    for _ in 1...3 {
      _ = link.next(untilMicroseconds: .max)
      times.append(link.nowMicroseconds - 600_000)
    }
    #expect(zip(times, [3_000_000, 5_000_000, 6_000_000]).allSatisfy { abs($0 - $1) <= 3 })
  }

  @Test func `of more requests than connections the most urgent goes first`() {
    var link = Self.link(Self.thirdGeneration, Self.plain { $0.connections = 1 })
    link.start(1, bytes: 10_000)
    link.start(2, bytes: 10_000, priority: 2)
    link.start(3, bytes: 10_000, priority: 1)
    link.start(4, bytes: 10_000, priority: 1)
    let order = (1...4).map { _ in link.next(untilMicroseconds: .max)?.request }
    #expect(order == [1, 3, 4, 2])
  }

  @Test func `while nothing passes, round trips rest, too`() throws {
    let dead = LinkConditions(downlinkKbps: 0, uplinkKbps: 0)
    let schedule = try LinkSchedule(loop: [
      .init(durationMilliseconds: 300, conditions: Self.thirdGeneration),
      .init(durationMilliseconds: 5_000, conditions: dead),
      .init(durationMilliseconds: 60_000, conditions: Self.thirdGeneration),
    ])
    var link = Link(schedule, settings: Self.plain(), random: LabRandom(seed: 1))
    link.start(1, bytes: 9_750)
    _ = link.next(untilMicroseconds: .max)
    #expect(abs(link.nowMicroseconds - 5_700_000) <= 2)
  }

  @Test func `over a dead link nothing ever comes, and time goes on`() {
    for conditions in [
      LinkConditions(downlinkKbps: 0, uplinkKbps: 0),
      LinkConditions(downlinkKbps: 1_000, uplinkKbps: 1_000, lossPercent: 100),
    ] {
      var link = Self.link(conditions)
      link.start(1, bytes: 1)
      #expect(link.next(untilMicroseconds: 3_600_000_000) == nil)
      #expect(link.nowMicroseconds == 3_600_000_000 && link.bytes(of: 1) == 0)
    }
  }

  @Test func `a request of which nothing comes for too long is given up, one that crawls is not`()
    throws
  {
    let patient = Self.plain { $0.timeoutMilliseconds = 20_000 }
    var dead = Self.link(LinkConditions(downlinkKbps: 0, uplinkKbps: 0), patient)
    dead.start(1, bytes: 1)
    #expect(dead.next(untilMicroseconds: 19_999_999) == nil)
    let event = dead.next(untilMicroseconds: .max)
    #expect(event?.isTimedOut == true && event?.isFinished == false)
    #expect(dead.nowMicroseconds == 20_000_000 && dead.requests.isEmpty)
    // A hundred bytes a second for a thousand seconds.
    var slow = Self.link(
      LinkConditions(downlinkKbps: 1, uplinkKbps: 1), Self.plain { $0.timeoutMilliseconds = 20_000 }
    )
    slow.start(1, bytes: 100_000)
    let whole = slow.next(untilMicroseconds: .max)
    #expect(whole?.isFinished == true && slow.nowMicroseconds > 700_000_000)
    // The network is gone in the midst of it: the time counts from the last byte.
    let schedule = try LinkSchedule(loop: [
      .init(durationMilliseconds: 5_000, conditions: Self.thirdGeneration),
      .init(
        durationMilliseconds: 60_000, conditions: LinkConditions(downlinkKbps: 0, uplinkKbps: 0)),
    ])
    var gone = Link(schedule, settings: patient, random: LabRandom(seed: 1))
    gone.start(1, bytes: 1_000_000)
    let cut = gone.next(untilMicroseconds: .max)
    #expect(cut?.isTimedOut == true && (cut?.bytes ?? 0) > 300_000)
    #expect(abs(gone.nowMicroseconds - 25_000_000) < 1_000)
  }

  @Test func `what a cancelled request has under way takes its share and is kept by nobody`() {
    func finish(_ brings: Bool) -> (late: Int, microseconds: Int) {
      var link = Self.link(
        LinkConditions(downlinkKbps: 1_000, uplinkKbps: 1_000, latencyMicroseconds: 100_000),
        Self.plain { $0.bringsWhatWasCancelled = brings })
      link.start(1, bytes: 400_000)
      link.start(2, bytes: 400_000)
      _ = link.next(untilMicroseconds: 4_000_000)
      let late = link.cancel(1)
      #expect(link.next(untilMicroseconds: .max)?.request == 2)
      return (late, link.nowMicroseconds)
    }
    let (with, without) = (finish(true), finish(false))
    // Half of the link for a round trip: 12 500 bytes, which take a tenth of a second of it.
    #expect(with.late == 12_500 && without.late == 0)
    #expect(abs(with.microseconds - without.microseconds - 100_000) <= 10)
  }

  @Test func `loss costs time, and more of it with smaller windows`() {
    func seconds(_ lossPercent: Int, halves: Bool) -> Int {
      var link = Self.link(
        LinkConditions(
          downlinkKbps: 1_000, uplinkKbps: 1_000, latencyMicroseconds: 500_000,
          lossPercent: lossPercent),
        Self.plain { $0.halvesWindow = halves })
      for id in 1...20 {
        link.start(id, bytes: 100_000)
        _ = link.next(untilMicroseconds: .max)
      }
      return link.nowMicroseconds / 1_000_000
    }
    let (none, delay, both) = (
      seconds(0, halves: false), seconds(10, halves: false), seconds(10, halves: true)
    )
    #expect(none == seconds(0, halves: true))
    // 69 packets each, of which 6.9 are lost: a second each at least.
    #expect(delay > none + 100 && both > delay + 50, "\(none) \(delay) \(both)")
  }
}
