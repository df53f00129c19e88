import Feed
import Prefetch
import TestSupport
import Testing

@testable import Lab

/// Feeds that somebody recorded, as runs see them.
@Suite struct RecordedFeedTests {
  private static func item(_ id: String, _ loads: [MediaLoad], type: PostType = .video)
    -> PrefetchItem
  {
    PrefetchItem(
      id: id, type: type, media: loads.map { PrefetchMedia(PrefetchFile(key: id, load: $0)) })
  }

  private static let timing = MediaTiming(
    headBytes: 10_000,
    curve: [
      .init(milliseconds: 1_000, bytes: 30_000), .init(milliseconds: 3_000, bytes: 90_000),
      .init(milliseconds: 3_500, bytes: 100_000),
    ], lead: [.init(kilobitsPerSecond: 250, bytes: 20_000)])

  @Test func `what was recorded is true, and the engine is told that and no more`() throws {
    let known = MediaLoad(
      kind: .video, bytes: 100_000, durationMilliseconds: 3_500, timing: Self.timing)
    let unknown = MediaLoad(kind: .image)
    let recorded = try RecordedFeed([
      Self.item("a", [known]), Self.item("b", [unknown], type: .image), Self.item("a", []),
      Self.item("c", [], type: .text),
    ])
    #expect(recorded.feed.items.map(\.id) == ["a", "b", "c"])
    #expect(recorded.fileCount == 2 && recorded.drawnSizes == 1)
    #expect(
      recorded.words == "3 items with 2 files; 1 sizes are not recorded and were drawn at random")
    let clip = recorded.feed.items[0].media[0][0]
    #expect(clip.startRanges == [0..<10_000] && clip.bytes == 100_000)
    let played = [0, 500, 1_000, 2_000, 3_000, 3_250, 3_500, 9_000].map {
      clip.bytes(throughMilliseconds: $0)
    }
    #expect(played == [10_000, 20_000, 30_000, 60_000, 90_000, 95_000, 100_000, 100_000])
    #expect(recorded.feed.hinted.map { $0.media.first?.files[0].load } == [known, unknown, nil])
    // The picture has a size all the same, and it is the same each time.
    let picture = recorded.feed.items[1].media[0][0]
    #expect(picture.bytes >= 15_000)
    #expect(
      try RecordedFeed([Self.item("a", []), Self.item("x", [unknown])]).feed.items[1].media == [
        [picture]
      ])
  }

  @Test func `sound plays as a clip does, and is no picture`() throws {
    let sound = MediaLoad(
      kind: .audio, bytes: 100_000, durationMilliseconds: 3_500, timing: Self.timing)
    let file = try RecordedFeed([Self.item("a", [sound])]).feed.items[0].media[0][0]
    #expect(file.isClip && file.startRanges == [0..<10_000] && file.durationMilliseconds == 3_500)
  }

  @Test func `how far bytes play a clip is the other way round of how many bytes it takes`() throws
  {
    let load = MediaLoad(
      kind: .video, bytes: 100_000, durationMilliseconds: 3_500, timing: Self.timing)
    let clip = try RecordedFeed([Self.item("a", [load])]).feed.items[0].media[0][0]
    for bytes in stride(from: 10_000, to: 100_000, by: 333) {
      let time = clip.milliseconds(throughBytes: bytes)
      #expect(clip.bytes(throughMilliseconds: time) <= bytes)
      #expect(clip.bytes(throughMilliseconds: time + 1) > bytes)
    }
    #expect(clip.milliseconds(throughBytes: 0) == 0)
    #expect(clip.milliseconds(throughBytes: 100_000) == 3_500)
  }

  @Test func `a clip that is not startable needs what its record says`() throws {
    let timing = MediaTiming(isStartable: false, headBytes: 0, neededRanges: [0..<40, 900..<1_000])
    let load = MediaLoad(kind: .video, bytes: 1_000, durationMilliseconds: 0, timing: timing)
    let clip = try RecordedFeed([Self.item("a", [load])]).feed.items[0].media[0][0]
    #expect(clip.startRanges == [0..<40, 900..<1_000])
    #expect(clip.bytes(throughMilliseconds: 10) == 1_000)
  }

  @Test(arguments: TestRandom.seeds)
  func `whatever a record says, its files can be run`(seed: UInt64) throws {
    var random = TestRandom(seed)
    func number() -> Int? {
      [nil, 0, 1, 999, 1_000, 1_001, 60_000, LabFile.byteLimit, RecordLimits.fileBytes]
        .randomElement(
          using: &random)!
    }
    let items = (0..<60).map { index in
      Self.item(
        "\(index)",
        (0..<random.number(0...2)).map { _ in
          let kind: MediaKind = random.once(in: 2) ? .video : .image
          let load = MediaLoad(kind: kind, bytes: number(), durationMilliseconds: number())
          return load
        })
    }
    let feed = try RecordedFeed(items, random: LabRandom(seed: seed)).feed
    for file in feed.items.flatMap(\.media).joined() where file.isClip {
      for time in [0, 1, 500, 1_000, 1 << 40] {
        #expect((0...file.bytes).contains(file.bytes(throughMilliseconds: time)), TestRandom.replay)
      }
    }
    let run = Simulation.run(
      Contestant(.plain(leading: 3)),
      Simulation.Setup(
        feed: feed, viewer: .steady, network: SimulationTests.profile("lte"), items: 20),
      seed: seed)
    #expect(run.viewedItems == 20, TestRandom.replay)
  }

  @Test func `nothing is no feed`() {
    #expect(throws: RecordedFeedError.noItems) { try RecordedFeed([PrefetchItem]()) }
  }
}
