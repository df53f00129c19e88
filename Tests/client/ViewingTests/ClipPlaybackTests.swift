import Feed
import Prefetch
import Testing

@testable import Viewing

/// A clip of ten seconds with a thousand bytes each, as its bytes come.
struct ClipPlaybackTests {
  private static let load = MediaLoad(
    kind: .video, bytes: 10_000, durationMilliseconds: 10_000,
    timing: MediaTiming(
      headBytes: 100,
      curve: (1...10).map { .init(milliseconds: $0 * 1_000, bytes: $0 * 1_000) }))

  /// Passes steps for so long.
  private static func pass(
    _ clip: inout ClipPlayback, _ milliseconds: Int, prefix: Int
  ) -> [PrefetchEvent.Playback] {
    (0..<milliseconds / ClipPlayback.stepMilliseconds).compactMap { _ in
      clip.pass(prefix: prefix, isReady: prefix >= 100)
    }
  }

  @Test func `it moves with a second ahead, stops where its bytes end, and stands for another`() {
    var clip = ClipPlayback(Self.load, decoderStartMilliseconds: 80)
    #expect(Self.pass(&clip, 500, prefix: 0) == [] && clip.standingMilliseconds == 0)
    // The first frame is there; the decoder starts, and then it stands.
    #expect(Self.pass(&clip, 400, prefix: 999) == [.paused])
    #expect(clip.standingMilliseconds == 300 && clip.stalls == 0)
    // What ends the standing is one more step of it.
    #expect(Self.pass(&clip, 1_020, prefix: 1_000) == [.playing] && clip.milliseconds == 1_000)
    #expect(Self.pass(&clip, 500, prefix: 1_000) == [.paused])
    #expect(Self.pass(&clip, 500, prefix: 1_999) == [])
    #expect(Self.pass(&clip, 1_020, prefix: 2_000) == [.playing] && clip.milliseconds == 2_000)
    #expect(clip.stalls == 1 && clip.stalledMilliseconds == 1_020)
    #expect(clip.standingMilliseconds == 320)
  }

  @Test func `what is there in time moves as soon as the decoder has started`() {
    var clip = ClipPlayback(Self.load, decoderStartMilliseconds: 80)
    #expect(Self.pass(&clip, 1_100, prefix: 1_500) == [.playing] && clip.milliseconds == 1_000)
    #expect(clip.standingMilliseconds == 0 && clip.stalls == 0)
  }

  @Test func `at its end it stands, and that is no stall`() {
    var clip = ClipPlayback(Self.load, decoderStartMilliseconds: 80)
    _ = Self.pass(&clip, 20_000, prefix: 10_000)
    #expect(clip.milliseconds == 10_000 && clip.stalls == 0)
    // It plays again from its beginning: all but its first step and the decoder's time, at 8 kbit/s.
    #expect(clip.playedMilliseconds == 19_900 && clip.playedKilobits == 159)
  }

  @Test func `of which nothing is known, nothing is missed`() {
    var clip = ClipPlayback(MediaLoad(kind: .video), decoderStartMilliseconds: 0)
    for _ in 0..<22 { _ = clip.pass(prefix: 0, isReady: true) }
    #expect(clip.milliseconds == 400 && clip.stalls == 0 && clip.standingMilliseconds == 0)
  }

  @Test(arguments: [
    (0, 100), (500, 550), (1_000, 1_000), (1_001, 1_001), (9_999, 9_999), (10_000, 10_000),
    (20_000, 10_000),
  ])
  func `the bytes that play through a time lie on the curve`(time: Int, bytes: Int) {
    #expect(Self.load.bytes(throughMilliseconds: time) == bytes)
  }
}
