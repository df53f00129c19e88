import LinkModel
import Prefetch
import Testing

@testable import Lab

/// A clip plays as players play it.
@Suite struct PlaybackTests {
  /// Ten seconds of 200 000 bytes each, of which 10 000 show the first frame.
  private static let clip = LabFeed([
    .init(
      id: "a", type: .video,
      media: [
        [
          LabFile(
            startRanges: [0..<10_000], secondBytes: (1...10).map { $0 * 200_000 },
            durationMilliseconds: 10_000)
        ]
      ])
  ])

  /// Somebody who looks at it for so long, over a link of this many kilobits a second.
  private static func look(_ kilobits: Int, forMilliseconds dwell: Int) throws -> RunFigures {
    let schedule = try LinkSchedule(
      trace: Array(
        #"[{"duration_ms":100000,"bandwidth_kbps":\#(kilobits),"latency_ms":10}]"#.utf8))
    var viewer = ViewerModel(dwell: .fixed(milliseconds: dwell))
    viewer.patienceMilliseconds = 10_000
    return Simulation.run(
      // Who knows no size asks once for all of it.
      Contestant(.endless, isHinted: false),
      Simulation.Setup(
        feed: clip, viewer: viewer, network: LabNetwork(name: "link", trace: schedule), items: 1),
      seed: 1)
  }

  @Test func `it moves with a second ahead, and where it ran out stands for another`() throws {
    // 125 000 bytes come a second. It stands for 1.5 s, moves for 2.7, stands for 1.6, moves, and stands again.
    let slow = try Self.look(1_000, forMilliseconds: 10_000)
    #expect(slow.stalls == 2)
    #expect((1_300...1_700).contains(slow.standingMilliseconds))
    #expect((2_700...3_700).contains(slow.stalledMilliseconds))
    let parts = slow.waitedMilliseconds + slow.standingMilliseconds + slow.stalledMilliseconds
    #expect((parts...parts + 2).contains(slow.delayMilliseconds))
    #expect(slow.loaders == 1)
  }

  @Test func `that it stands before it moves is no stall`() throws {
    // 500 000 bytes a second: a second of it is there after 0.4.
    let fast = try Self.look(4_000, forMilliseconds: 10_000)
    #expect(fast.stalls == 0)
    #expect((200...500).contains(fast.standingMilliseconds))
    let brief = try Self.look(1_000, forMilliseconds: 500)
    #expect(brief.stalls == 0)
    #expect((350...500).contains(brief.standingMilliseconds))
  }

  @Test func `what is there as a whole is played again and again`() throws {
    let long = try Self.look(100_000, forMilliseconds: 60_000)
    #expect(long.stalls == 0 && long.standingMilliseconds < 50)
    #expect(long.fetchedBytes == 2_000_000 && long.wastedBytes == 0)
  }
}
