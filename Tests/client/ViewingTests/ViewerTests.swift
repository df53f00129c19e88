import Feed
import Prefetch
import Testing

@testable import Viewing

@Suite struct ViewerTests {
  /// A file of 1000 bytes of which the first 100 show something.
  private static func load(_ kind: MediaKind, isStartable: Bool = true) -> MediaLoad {
    MediaLoad(
      kind: kind, bytes: 1_000, durationMilliseconds: kind.plays ? 2_000 : nil,
      timing: MediaTiming(isStartable: isStartable, headBytes: 100))
  }

  @Test func `of a clip the first frame is shown, of a picture nothing before all of it`() {
    #expect(!Viewer.hasFirstFrame(Self.load(.video), prefix: 99))
    #expect(Viewer.hasFirstFrame(Self.load(.video), prefix: 100))
    #expect(!Viewer.hasFirstFrame(Self.load(.video, isStartable: false), prefix: 900))
    #expect(!Viewer.hasFirstFrame(Self.load(.image), prefix: 900))
    #expect(!Viewer.hasFirstFrame(MediaLoad(kind: .video, bytes: 1_000), prefix: 900))
  }
}
