import Feed
import JSON
import PostJSON
import Prefetch
import Testing

/// A session written down, and read back.
@Suite struct SessionLogTests {
  private static let items = [
    PrefetchItem(
      id: "a \"quoted\" id", type: .video,
      media: [
        PrefetchMedia(files: [
          PrefetchFile(
            key: "http://h/a.mp4",
            load: MediaLoad(
              kind: .video, bytes: 900, durationMilliseconds: 3_000,
              timing: MediaTiming(
                headBytes: 100, curve: [.init(milliseconds: 1_000, bytes: 400)],
                lead: [.init(kilobitsPerSecond: 250, bytes: 500)]))),
          PrefetchFile(
            key: "http://h/a-small.mp4", load: MediaLoad(kind: .video, bytes: 90),
            chunkMilliseconds: 2_000),
        ])
      ], expiresAtMilliseconds: 5_000,
      survival: [WatchPoint(milliseconds: 700, permille: 400)]),
    PrefetchItem(
      id: "b", type: .video,
      media: [
        PrefetchMedia(
          PrefetchFile(
            key: "k",
            load: MediaLoad(
              kind: .video, bytes: 50,
              timing: MediaTiming(
                isStartable: false, headBytes: 50, neededRanges: [0..<10, 40..<50]))))
      ]),
    PrefetchItem(id: "c", type: .text, media: []),
  ]

  static let events: [PrefetchEvent] = [
    .pageArrived(.anew, items: items, hasPrevious: false, hasNext: true),
    .pageArrived(.around(distance: -7), items: [], hasPrevious: true, hasNext: false),
    .pageFailed(.below, retryAfterMilliseconds: 30),
    .pageFailed(.above, retryAfterMilliseconds: nil),
    .itemsRemoved(["b"]), .itemsReordered(["c", "a \"quoted\" id"]), .activeChanged("c"),
    .scrolled(milliitemsPerSecond: -9_000, stopDistance: -3),
    .scrolled(milliitemsPerSecond: 0, stopDistance: nil), .bytesFound(key: "k", [0..<5, 7..<9]),
    .bytesFound(key: "k", []), .bytesArrived(transfer: 3, key: "k", 5..<7),
    .sizeLearned(key: "k", bytes: 60), .transferFinished(3),
    .transferFailed(4, .network), .transferFailed(5, .busy(retryAfterMilliseconds: 9)),
    .transferFailed(6, .busy(retryAfterMilliseconds: nil)), .transferFailed(7, .gone),
    .transferFailed(8, .changed),
    .bandwidthMeasured(kilobitsPerSecond: 780, roundTripMilliseconds: 200),
    .bandwidthMeasured(kilobitsPerSecond: 1, roundTripMilliseconds: nil),
    .playbackMoved(milliseconds: 10, .paused),
    .networkChanged(isOnline: true, isMetered: true), .saveDataChanged(true),
    .stressChanged(false), .backgroundChanged(true), .memoryWarned, .timerFired,
  ]

  @Test(arguments: events) func `an event's line is read as that event`(event: PrefetchEvent) throws
  {
    var writer = JSONWriter()
    writer.event(event, at: 12)
    let (read, at) = try PrefetchEvent.decode(JSONDocument(writer.bytes).root)
    #expect(read == event && at == 12)
  }

  private static func log() -> [UInt8] {
    var settings = PrefetchSettings()
    settings.parallelTransfers = 3
    settings.seed = 77
    let policy = Policy(name: "w", strategy: .weighted(leading: 3, maxCost: 4), itemsPerMinute: 90)
    var engine = PrefetchEngine(policy: policy, settings: settings)
    var log = SessionLog.line(beginning: engine, at: 0)
    for (index, event) in events.enumerated() {
      let time = 10 * index
      log += SessionLog.lines(event, engine.handle(event, atMilliseconds: time), at: time)
    }
    log += SessionLog.line(
      SessionLog.Look(atMilliseconds: 300, item: "c", isReady: true, isGoingUp: true))
    log += SessionLog.line(
      leaving: "c", at: 900, dwellMilliseconds: 600, waitMilliseconds: 20)
    return log
  }

  @Test func `a log holds what was told, what was seen, and with what it began`() throws {
    let log = try SessionLog(Self.log())
    #expect(log.events.map(\.event) == Self.events)
    #expect(log.events.map(\.atMilliseconds) == Self.events.indices.map { 10 * $0 })
    #expect(log.start.policy.strategy == .weighted(leading: 3, maxCost: 4))
    #expect(log.start.policy.itemsPerMinute == 90)
    #expect(log.start.settings.parallelTransfers == 3 && log.start.settings.seed == 77)
    var look = SessionLog.Look(atMilliseconds: 300, item: "c", isReady: true, isGoingUp: true)
    (look.dwellMilliseconds, look.waitMilliseconds) = (600, 20)
    #expect(log.looks == [look] && !log.isCut)
    #expect(try SessionLog(Self.log() + SessionLog.line(cutAt: 901)).isCut)
  }

  @Test func `a log is an input of plan, which says what the log says`() throws {
    var session = PlanSession()
    var said: [UInt8] = []
    for line in Self.log().split(separator: UInt8(ascii: "\n")) {
      said += try session.answer(Array(line))
    }
    let recorded = Self.log().split(separator: UInt8(ascii: "\n"))
      .filter { String(decoding: $0, as: UTF8.self).contains(#""actions":[{"#) }
    let again = said.split(separator: UInt8(ascii: "\n"))
      .filter { String(decoding: $0, as: UTF8.self).contains(#""actions":[{"#) }
    #expect(recorded.count == 3)
    #expect(recorded == again)
  }

  @Test func `a log that ends anywhere is what came before`() throws {
    let log = Self.log()
    let whole = try SessionLog(log)
    let first = try #require(log.firstIndex(of: UInt8(ascii: "\n")))
    for end in stride(from: first + 1, through: log.count, by: 7) {
      let cut = try SessionLog(Array(log[..<end]))
      #expect(whole.events.starts(with: cut.events))
      #expect(cut.looks.count <= whole.looks.count)
    }
    #expect(throws: SessionLogError(line: 1, problem: "there is no state")) {
      try SessionLog(Array(log[..<first]))
    }
  }

  @Test(arguments: [
    ("{}", "line 2: is neither an event nor a result of one"),
    ("[", "line 2: is not JSON: unexpected end of the text at column 2"),
    (#"{"at":1,"seen":"c"}"#, "line 2: direction: is missing"),
    (#"{"at":1,"left":"c","dwellMs":1}"#, "line 2: left: is not the item that was viewed"),
    (#"{"at":1,"event":"never"}"#, "line 2: event: \"never\" is not one of "),
  ])
  func `what is wrong is said, with the line`(line: String, problem: String) throws {
    let state = Array(#"{"strategy":{"name":"endless"}}"#.utf8)
    let error = #expect(throws: SessionLogError.self) {
      try SessionLog(state + Array("\n\(line)\n".utf8))
    }
    #expect(error?.description.hasPrefix(problem) == true, "\(error as Any)")
  }
}
