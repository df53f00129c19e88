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

  @Test func `it does not play before it is ready, and stops where its bytes end`() {
    var clip = ClipPlayback(Self.load)
    #expect(clip.pass(prefix: 0, isReady: false) == nil && !clip.hasStarted)
    #expect(clip.pass(prefix: 1_000, isReady: true) == .playing && clip.milliseconds == 0)
    for _ in 0..<9 { #expect(clip.pass(prefix: 1_000, isReady: true) == nil) }
    #expect(clip.pass(prefix: 1_000, isReady: true) == nil && clip.milliseconds == 1_000)
    #expect(clip.pass(prefix: 1_000, isReady: true) == .paused)
    #expect(clip.pass(prefix: 1_050, isReady: true) == nil)
    #expect(clip.pass(prefix: 1_100, isReady: true) == .playing)
    #expect(clip.stalls == 1 && clip.stalledMilliseconds == 200 && clip.milliseconds == 1_100)
  }

  @Test func `at its end it stands, and that is no stall`() {
    var clip = ClipPlayback(Self.load)
    for _ in 0..<200 { _ = clip.pass(prefix: 10_000, isReady: true) }
    #expect(clip.milliseconds == 10_000 && clip.stalls == 0)
  }

  @Test func `of which nothing is known, nothing is missed`() {
    var clip = ClipPlayback(MediaLoad(kind: .video))
    for _ in 0..<20 { _ = clip.pass(prefix: 0, isReady: true) }
    #expect(clip.milliseconds == 1_900 && clip.stalls == 0)
  }

  @Test(arguments: [
    (0, 100), (500, 550), (1_000, 1_000), (1_001, 1_001), (9_999, 9_999), (10_000, 10_000),
    (20_000, 10_000),
  ])
  func `the bytes that play through a time lie on the curve`(time: Int, bytes: Int) {
    #expect(Self.load.bytes(throughMilliseconds: time) == bytes)
  }
}
