import Feed
import PostJSON
import Prefetch
import Testing

/// What a session shares of itself.
@Suite struct SessionRecordingTests {
  private static let policy = Policy(name: "plain", strategy: .plain(leading: 1))
  private static let secrets = ["kitten", "example.com"]

  private static func item(_ name: String) -> PrefetchItem {
    PrefetchItem(
      id: "kitten-\(name)", type: .video,
      media: [
        PrefetchMedia(files: [
          PrefetchFile(
            key: "https://example.com/\(name).mp4",
            load: MediaLoad(kind: .video, bytes: 900, durationMilliseconds: 3_000)),
          PrefetchFile(
            key: "https://example.com/\(name)-small.mp4", load: MediaLoad(kind: .video, bytes: 90)),
        ])
      ], expiresAtMilliseconds: 99, survival: [WatchPoint(milliseconds: 700, permille: 400)])
  }

  private static func fetch(_ id: Int) -> PrefetchAction {
    PrefetchAction(.resume(transfer: id), .yields)
  }

  /// As the server makes it.
  private static func log(_ recording: SessionRecording) throws -> SessionLog {
    let engine = PrefetchEngine(policy: policy, settings: PrefetchSettings())
    return try SessionLog(SessionLog.line(beginning: engine, at: 0) + recording.bytes)
  }

  @Test func `it is a log without ids, addresses and clock, in which pieces are put together`()
    throws
  {
    var recording = SessionRecording(at: 5_000)
    recording.note(
      .pageArrived(
        .anew, items: [Self.item("a"), Self.item("b")], hasPrevious: false, hasNext: true),
      [Self.fetch(7)], at: 5_000)
    recording.note(
      SessionLog.Look(atMilliseconds: 5_010, item: "kitten-b", isReady: false, isGoingUp: false))
    let key = "https://example.com/b.mp4"
    // The first one alone, then what comes within a quarter of a second, then another, and one that does not follow.
    for (time, range) in [
      (5_100, 0..<10), (5_110, 10..<20), (5_160, 20..<30), (5_400, 30..<40), (5_410, 50..<60),
    ] {
      recording.note(.bytesArrived(transfer: 7, key: key, range), [], at: time)
    }
    recording.note(
      .bandwidthMeasured(kilobitsPerSecond: 780, roundTripMilliseconds: 9), [], at: 5_500)
    recording.note(
      .bandwidthMeasured(kilobitsPerSecond: 781, roundTripMilliseconds: 9), [], at: 5_501)
    recording.note(.networkChanged(isOnline: true, isMetered: true), [], at: 5_600)
    recording.noteEnd(of: "kitten-b", at: 6_010, dwellMilliseconds: 1_000, waitMilliseconds: 400)
    let text = String(decoding: recording.bytes, as: UTF8.self)
    for secret in Self.secrets { #expect(!text.contains(secret), "\(text)") }

    let log = try Self.log(recording)
    guard case .pageArrived(.anew, let items, _, _) = try #require(log.events.first).event else {
      Issue.record("\(log.events)")
      return
    }
    #expect(items.map(\.id) == ["1", "2"] && items[0].survival.count == 1)
    #expect(
      items[1].media[0].files.map(\.key) == ["3", "4"] && items[1].expiresAtMilliseconds == nil)
    #expect(items[1].media[0].files[0].load == Self.item("b").media[0].files[0].load)
    #expect(log.requests.map { [$0.atMilliseconds, $0.transfer] } == [[0, 7]])
    #expect(
      log.looks == [
        {
          var look = SessionLog.Look(
            atMilliseconds: 10, item: "2", isReady: false, isGoingUp: false)
          (look.dwellMilliseconds, look.waitMilliseconds) = (1_000, 400)
          return look
        }()
      ])
    let pieces = log.events.compactMap { entry -> [Int]? in
      guard case .bytesArrived(7, "3", let range) = entry.event else { return nil }
      return [entry.atMilliseconds, range.lowerBound, range.upperBound]
    }
    #expect(pieces == [[100, 0, 10], [160, 10, 30], [400, 30, 40], [410, 50, 60]])
    #expect(log.events.count == 2 + pieces.count)
  }

  @Test func `it ends with a whole line before its limit`() throws {
    var recording = SessionRecording(at: 0)
    let page = PrefetchEvent.pageArrived(
      .below, items: (0..<30).map { Self.item("\($0)") }, hasPrevious: false, hasNext: true)
    var rounds = 0
    while !recording.isFull {
      recording.note(page, [], at: rounds)
      rounds += 1
    }
    let bytes = recording.bytes
    #expect(rounds > 2 && bytes.count <= SessionRecording.limitBytes && bytes.last == 10)
    recording.note(page, [Self.fetch(1)], at: 9)
    recording.noteEnd(of: "kitten-1", at: 9, dwellMilliseconds: 1, waitMilliseconds: 0)
    #expect(recording.bytes == bytes)
    #expect(try Self.log(recording).events.count == rounds - 1)
  }
}
