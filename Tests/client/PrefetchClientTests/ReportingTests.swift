import Feed
import Foundation
import PostJSON
import Prefetch
import PrefetchClient
import Reports
import Synchronization
import TestSupport
import Testing

/// What a session reports to its server.
@Suite struct ReportingTests {
  private static let server = URL(string: "http://server.test/base")!

  /// A server that answers reports as it is told, and pages and media as ever.
  private final class Reporting: Transport {
    let feed: FakeFeedTransport
    private let state: Mutex<(answers: [Int], parts: [ReportPart], paths: [String])>
    /// Pages hand out this one from the first refusal on.
    private let renewed = "renewed"

    /// - Parameter answers: statuses; 0 is no answer. Behind the last, 202.
    init(count: Int, answers: [Int] = []) {
      feed = FakeFeedTransport(feed: FakeFeed(count: count))
      state = Mutex((answers, [], []))
    }

    var parts: [ReportPart] { state.withLock { $0.parts } }
    var paths: [String] { state.withLock { $0.paths } }

    func answer(to request: TransportRequest) async throws(TransportError) -> TransportAnswer {
      guard let content = request.content else { return try await feed.answer(to: request) }
      let part = try? ReportPart(json: content.bytes)
      if part == nil { Issue.record("\(String(decoding: content.bytes, as: UTF8.self))") }
      let status = state.withLock { state in
        if let part { state.parts.append(part) }
        state.paths.append(request.url.path())
        return state.answers.isEmpty ? 202 : state.answers.removeFirst()
      }
      if status == 403 { feed.feed.change { $0.reportToken = renewed } }
      guard status > 0 else { throw .unreachable("there is no network") }
      return TransportAnswer(
        status: status, fields: TransportFields([]), body: MemoryTransport.Body([], cutAt: nil))
    }
  }

  /// One part, at the end, however long the machine takes until then.
  private static let atTheEnd = {
    var settings = ReportingSettings()
    settings.intervalMilliseconds = 86_400_000
    settings.timeoutMilliseconds = 600_000
    return settings
  }()

  private func prefetcher(
    _ transport: Reporting, _ reporting: ReportingSettings = Self.atTheEnd, leading: Int = 9
  ) -> Prefetcher {
    Prefetcher(
      session: FeedSession(server: Self.server, feed: "featured", transport: transport),
      store: RangeStore(transport: transport),
      policy: Policy(name: "plain-\(leading)", strategy: .plain(leading: leading)),
      reporting: reporting)
  }

  private func look(_ prefetcher: Prefetcher, _ ids: [String]) async throws {
    for id in ids {
      await prefetcher.look(at: id)
      #expect(try await eventuallyAsync { await prefetcher.isReady(id) })
      await prefetcher.frameShown()
    }
  }

  @Test(arguments: [("[1000,0]", "a", "plain-5", 6), ("[0,1000]", "b", "tried", 2)])
  func `a session without a policy loads by that of its arm, keeps the arm, and reports it`(
    shares: String, arm: String, policy: String, loaded: Int
  ) async throws {
    let transport = Reporting(count: 12)
    transport.feed.feed.change { state in
      state.experiment = #"{"id":7,"arm":"a","salt":"k3v9","shares":\#(shares)}"#
      state.networks = #"""
        {"networks":[{"name":"wifi"},{"name":"3g",
        "policy":{"name":"plain-5","strategy":"plain","parameters":{"leading":5}},
        "experiment":{"id":7,"salt":"k3v9","shares":\#(shares),
        "policy":{"name":"tried","strategy":"plain","parameters":{"leading":1}}}}]}
        """#
    }
    var settings = FeedSessionSettings()
    settings.limit = 10
    let session = FeedSession(
      server: Self.server, feed: "featured", transport: transport, settings: settings)
    let prefetcher = Prefetcher(
      session: session, store: RangeStore(transport: transport), reporting: Self.atTheEnd)
    try await prefetcher.begin()
    try await look(prefetcher, ["p0"])
    #expect(try await eventuallyAsync { await prefetcher.isReady("p\(loaded - 1)") })
    #expect(await !prefetcher.isReady("p\(loaded)"))
    await prefetcher.end()
    let part = try #require(transport.parts.first)
    #expect(part.policy == policy && part.arm == "7.\(arm)")
    // What runs afterwards is nothing to the session.
    transport.feed.feed.change { $0.experiment = nil }
    try await session.older()
    let pages = transport.feed.feed.targets.filter { $0.contains("/rp/") }
    #expect(pages.count == 2 && !pages[0].contains("arm="))
    #expect(pages[1].contains("arm=b") == (arm == "b") && !pages[1].contains("arm=a"))
  }

  @Test func `a session whose policy the server does not tell does not begin`() async throws {
    let transport = Reporting(count: 3)
    let prefetcher = Prefetcher(
      session: FeedSession(server: Self.server, feed: "featured", transport: transport),
      store: RangeStore(transport: transport))
    for networks in ["{", "{}", #"{"networks":[{"name":"3g","policy":{"name":"x"}}]}"#] {
      transport.feed.feed.change { $0.networks = networks }
      await #expect(throws: FeedSessionError.self) { try await prefetcher.begin() }
    }
  }

  @Test func `a session says at its end what it met`() async throws {
    let transport = Reporting(count: 5)
    let prefetcher = prefetcher(transport, leading: 1)
    try await prefetcher.begin()
    try await look(prefetcher, ["p0", "p1"])
    #expect(try await eventuallyAsync { await prefetcher.isReady("p2") })
    await prefetcher.stalled(2, milliseconds: 0)
    let figures = await prefetcher.figures
    await prefetcher.end()
    // Once is enough.
    await prefetcher.end()
    let part = try #require(transport.parts.first)
    #expect(transport.parts.count == 1 && transport.paths == ["/base/v1/reports"])
    #expect(part.part == 0 && part.feed == "featured" && part.policy == "plain-1")
    #expect(part.figures.items == 2 && part.figures.frames.total == 2)
    #expect(part.figures.loaders.total == figures.imageLoaders)
    #expect(part.figures.waits.total == part.figures.loaders.total)
    #expect(part.figures.stalls == 2)
    #expect(part.figures.bytes[.seen] == 4_000 && part.figures.bytes[.neverReached] == 2_000)
    #expect(part.figures.plans == 1 && part.figures.requests == figures.requests - 1)
    #expect(part.seen.map(\.id) == ["p0", "p1"])
    // The first file may come before the first look.
    #expect([0, 2_000].contains(part.seen[0].heldBytes) && part.seen[0].neededBytes == 2_000)
    #expect(
      part.seen.allSatisfy { seen in
        seen.version == "00000002" && seen.frameMilliseconds != nil && seen.readyMilliseconds != nil
          && !seen.hasLeftWaiting
          && seen.variant == nil
      })
    #expect(part.problem == nil)
  }

  @Test func `whoever looks for days reports days, each part within its session`() {
    let (day, start) = (ReportLimits.sessionMilliseconds, 5_000)
    var report = SessionReport(
      feed: "f", policy: "p", settings: ReportingSettings(), at: start)
    var sessions: [String] = []
    // Every part, parts of a night, and one that is longer than a session.
    for now in [
      start + 30_000, start + day - 1, start + day + 1, start + day + 60_000, start + 9 * day,
    ] {
      report.left(loader: nil, waitMilliseconds: 0, frameMilliseconds: nil)
      let part = report.cut(at: now, SessionReport.Totals(), isLast: false)
      #expect(part.problem == nil && part.untilMilliseconds <= day && part.figures.items == 1)
      if sessions.last != part.session {
        sessions.append(part.session)
        #expect(part.part == 0 && part.sinceMilliseconds == 0)
      }
    }
    #expect(sessions.count == 3)
    for _ in 0..<ReportLimits.parts {
      report.left(loader: nil, waitMilliseconds: 0, frameMilliseconds: nil)
      let part = report.cut(at: start + 9 * day, SessionReport.Totals(), isLast: false)
      #expect(part.part < ReportLimits.parts)
    }
  }

  @Test func `nothing is reported of a session without items, nor by one that is told not to`()
    async throws
  {
    for settings in [Self.atTheEnd, .off] {
      let transport = Reporting(count: 3)
      let prefetcher = prefetcher(transport, settings)
      try await prefetcher.begin()
      if !settings.isOn { try await look(prefetcher, ["p0", "p1"]) }
      await prefetcher.end()
      #expect(transport.parts.isEmpty)
    }
  }

  @Test func `parts add up to the session`() async throws {
    let transport = Reporting(count: 30)
    var settings = Self.atTheEnd
    settings.intervalMilliseconds = 0
    settings.arm = "b"
    let prefetcher = prefetcher(transport, settings)
    try await prefetcher.begin()
    try await look(prefetcher, (0..<20).map { "p\($0)" })
    await prefetcher.end()
    #expect(try await eventuallyAsync { transport.parts.reduce(0) { $0 + $1.figures.items } == 20 })
    let parts = transport.parts
    #expect(parts.map(\.part).sorted() == Array(0..<parts.count) && parts.count > 1)
    #expect(Set(parts.map(\.session)).count == 1 && parts.allSatisfy { $0.arm == "b" })
    #expect(parts.allSatisfy { $0.problem == nil })
    #expect(parts.reduce(0) { $0 + $1.figures.bytes[.seen] } == 20 * 2_000)
  }

  /// A store answers what it holds before what it said of its bytes is taken.
  @Test func `bytes that are told of only when their item was left are seen`() {
    let picture = PrefetchFile(key: "/p", load: MediaLoad(kind: .image, bytes: 2_000))
    let smaller = PrefetchFile(key: "/s", load: MediaLoad(kind: .image, bytes: 500))
    let item = PrefetchItem(
      id: "p", type: .image, media: [PrefetchMedia(files: [picture, smaller])])
    for (wasReady, fate) in [(true, ByteFate.seen), (false, .neverReached)] {
      var ledger = WasteLedger()
      ledger.watched(item, chosen: "/p", milliseconds: 0, wasReady: wasReady)
      ledger.fetched(2_000, of: "/p")
      #expect(ledger.fates[fate] == 2_000 && ledger.fates.total == 2_000)
      ledger.fetched(500, of: "/s")
      #expect(ledger.fates[.seen] == (wasReady ? 2_000 : 0) && ledger.fates.total == 2_500)
    }
  }

  @Test(arguments: [[0, 0], [503], [429]])
  func `a part that is not answered is sent again with the next one`(
    _ answers: [Int]
  ) async throws {
    let transport = Reporting(count: 9, answers: answers)
    var settings = Self.atTheEnd
    settings.intervalMilliseconds = 0
    let prefetcher = prefetcher(transport, settings)
    try await prefetcher.begin()
    for index in 0..<4 {
      try await look(prefetcher, ["p\(index)"])
      // Each part was tried before the next one ends.
      #expect(try await eventuallyAsync { index == 0 || transport.parts.count >= index })
    }
    await prefetcher.end()
    #expect(
      try await eventuallyAsync {
        Set(transport.parts.map(\.part)).count == 4 && transport.parts.count == 4 + answers.count
      }, "\(transport.parts.map(\.part))")
  }

  @Test func `a server that takes none is asked no more`() async throws {
    let transport = Reporting(count: 9, answers: [410])
    var settings = Self.atTheEnd
    settings.intervalMilliseconds = 0
    let prefetcher = prefetcher(transport, settings)
    try await prefetcher.begin()
    try await look(prefetcher, ["p0", "p1"])
    #expect(try await eventuallyAsync { transport.parts.count == 1 })
    try await look(prefetcher, ["p2", "p3"])
    await prefetcher.end()
    #expect(transport.parts.count == 1)
  }

  @Test(arguments: [
    // A token that is over: once more with a new one. A new one that is refused, too: the part goes.
    ([403], [nil, "renewed", "renewed"]), ([403, 403], [nil, "renewed", "renewed"]),
    ([403, 0], [nil, "renewed", "renewed", "renewed"]),
  ])
  func `a part carries what the last page handed out`(
    _ answers: [Int], _ tokens: [String?]
  ) async throws {
    let transport = Reporting(count: 9, answers: answers)
    var settings = Self.atTheEnd
    settings.intervalMilliseconds = 0
    let prefetcher = prefetcher(transport, settings)
    try await prefetcher.begin()
    try await look(prefetcher, ["p0"])
    await prefetcher.leaveActive()
    let first = answers.count == 1 ? 2 : answers.count
    #expect(try await eventuallyAsync { transport.parts.count == first })
    try await look(prefetcher, ["p1"])
    await prefetcher.end()
    #expect(
      try await eventuallyAsync { transport.parts.map(\.token) == tokens },
      "\(transport.parts.map(\.token))")
    // It is asked for beside the list, which stays as it is.
    #expect(transport.feed.feed.targets.contains { $0.hasSuffix("limit=1") })
    #expect(await prefetcher.session.items.count == 9)
  }

  @Test func `parts of another feed carry a token of that one`() async throws {
    let folder = TemporaryFolder()
    var settings = Self.atTheEnd
    settings.file = URL(fileURLWithPath: folder.file("reports"))
    let other = Reporting(count: 3, answers: [0])
    let first = Prefetcher(
      session: FeedSession(server: Self.server, feed: "other", transport: other),
      store: RangeStore(transport: other), policy: Policy(name: "p", strategy: .plain(leading: 1)),
      reporting: settings)
    try await first.begin()
    try await look(first, ["p0"])
    await first.end()
    let transport = Reporting(count: 3, answers: [403])
    transport.feed.feed.change { $0.reportToken = "of featured" }
    let second = prefetcher(transport, settings)
    try await second.begin()
    try await look(second, ["p0"])
    await second.end()
    #expect(transport.parts.map(\.feed) == ["other", "other", "featured"])
    #expect(transport.parts.map(\.token) == [nil, "renewed", "of featured"])
    #expect(transport.feed.feed.targets.contains { $0.contains("feed=other&limit=1") })
  }

  @Test func `without a network parts wait in a file for the next session`() async throws {
    let folder = TemporaryFolder()
    var settings = Self.atTheEnd
    settings.file = URL(fileURLWithPath: folder.file("reports"))
    let offline = Reporting(count: 3, answers: [0])
    let first = prefetcher(offline, settings)
    try await first.begin()
    try await look(first, ["p0"])
    await first.end()
    // A line that somebody else has damaged harms no other.
    let kept = try String(contentsOf: settings.file!, encoding: .utf8)
    try Data(("nonsense\n" + kept).utf8).write(to: settings.file!)
    let online = Reporting(count: 3)
    let second = prefetcher(online, settings)
    try await second.begin()
    try await look(second, ["p0"])
    await second.end()
    #expect(online.parts.count == 2)
    var resent = online.parts[0]
    #expect(resent.ageMilliseconds < 86_400_000)
    resent.ageMilliseconds = 0
    #expect(
      resent
        == offline.parts.first.map { part in
          var part = part
          part.ageMilliseconds = 0
          return part
        })
    #expect(try Data(contentsOf: settings.file!).isEmpty)
  }

  @Test(arguments: [(1_000, true, true), (0, true, false), (1_000, false, false)])
  func `a session that is asked shares what it was, once, at its end`(
    share: Int, isWilling: Bool, isShared: Bool
  ) async throws {
    let transport = Reporting(count: 9)
    transport.feed.feed.change { $0.recordShare = share }
    var settings = Self.atTheEnd
    settings.intervalMilliseconds = 0
    settings.sharesRecording = isWilling
    let prefetcher = prefetcher(transport, settings)
    try await prefetcher.begin()
    try await look(prefetcher, ["p0", "p1", "p2"])
    await prefetcher.end()
    #expect(try await eventuallyAsync { transport.parts.reduce(0) { $0 + $1.figures.items } == 3 })
    let records = transport.parts.compactMap(\.record)
    #expect(records.count == (isShared ? 1 : 0))
    guard isShared else { return }
    let text = try #require(records.first)
    #expect(!text.contains("\"p0") && !text.contains("server.test"), "\(text)")
    let engine = PrefetchEngine(
      policy: Policy(name: "plain-9", strategy: .plain(leading: 9)), settings: PrefetchSettings())
    let log = try SessionLog(SessionLog.line(beginning: engine, at: 0) + text.utf8)
    #expect(log.looks.map(\.item) == ["1", "2", "3"])
    #expect(log.looks.allSatisfy { $0.dwellMilliseconds != nil })
    #expect(!log.requests.isEmpty && !log.events.isEmpty)
  }
}
