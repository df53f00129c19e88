import Foundation
import PostJSON
import PrefetchClient
import TestSupport
import Testing

struct PrefetcherTests {
  private static let server = URL(string: "http://server.test")!

  private func prefetcher(
    _ feed: FakeFeed, _ strategy: Policy.Strategy, _ settings: PrefetchSettings = PrefetchSettings()
  ) -> Prefetcher {
    let transport = FakeFeedTransport(feed: feed)
    var paging = FeedSessionSettings()
    paging.limit = 10
    return Prefetcher(
      session: FeedSession(
        server: Self.server, feed: "featured", transport: transport, settings: paging),
      store: RangeStore(transport: transport),
      policy: Policy(name: "tested", strategy: strategy), settings: settings)
  }

  @Test(arguments: [
    Policy.Strategy.plain(leading: 5), .weighted(leading: 5, maxCost: 5),
    .expectedWait(WaitTuning()),
  ])
  func `who looks at what was loaded ahead meets no loader and each byte comes once`(
    strategy: Policy.Strategy
  ) async throws {
    let feed = FakeFeed(count: 25)
    let prefetcher = prefetcher(feed, strategy)
    try await prefetcher.begin()
    for index in 0..<25 {
      let id = "p\(index)"
      await prefetcher.look(at: id)
      #expect(try await eventuallyAsync { await prefetcher.isReady(id) }, "\(id)")
      // The next one is loaded ahead, on a page of its own if need be; but by ours not over memory, on which
      // nobody waits.
      if index < 24, strategy != .expectedWait(WaitTuning()) {
        #expect(try await eventuallyAsync { await prefetcher.isReady("p\(index + 1)") })
      }
      let url = Self.server.appending(path: "media/\(id)")
      var read: [UInt8] = []
      for try await bytes in prefetcher.store.bytes(of: url) { read += bytes }
      #expect(read == FakeFeed.media(id))
    }
    await prefetcher.leaveActive()
    let figures = await prefetcher.figures
    #expect(figures.items == 25 && figures.videoLoaders == 0)
    if strategy != .expectedWait(WaitTuning()) { #expect(figures.imageLoaders <= 1) }
    #expect(figures.wastedBytes == 0)
    #expect(figures.bytes == 25 * 2_000 + prefetcher.session.traffic.bytes)
    #expect(figures.pageRequests == 3 && figures.requests >= 28)
    await prefetcher.end()
  }

  @Test func `items whose ids differ in bytes alone are two`() async throws {
    // One character, and two that look like it.
    let ids = ["caf\u{e9}", "cafe\u{301}"]
    let feed = FakeFeed(count: 0)
    feed.change { $0.ids = ids }
    let prefetcher = prefetcher(feed, .plain(leading: 0))
    try await prefetcher.begin()
    let whole = FakeFeed.media(ids[0]).count
    await prefetcher.look(at: ids[0])
    #expect(try await eventuallyAsync { await prefetcher.isReady(ids[0]) })
    #expect(await !prefetcher.isReady(ids[1]))
    #expect(await prefetcher.heldPrefix(of: ids[1]) == 0)
    await prefetcher.leaveActive()
    // Each is counted as looked at, to the byte.
    #expect(await prefetcher.figures.wastedBytes == 0)
    await prefetcher.look(at: ids[1])
    #expect(try await eventuallyAsync { await prefetcher.heldPrefix(of: ids[1]) == whole })
    await prefetcher.leaveActive()
    let figures = await prefetcher.figures
    #expect(figures.items == 2 && figures.wastedBytes == 0)
    await prefetcher.end()
  }

  @Test(arguments: [0, 400, 1_500, 1_000_000])
  func `a record holds what was seen, and is no longer than it may be`(limit: Int) async throws {
    let folder = TemporaryFolder()
    let file = URL(fileURLWithPath: folder.file("session.ndjson"))
    let recorder = try SessionRecorder(file: file, limitBytes: limit)
    let transport = FakeFeedTransport(feed: FakeFeed(count: 3))
    let prefetcher = Prefetcher(
      session: FeedSession(server: Self.server, feed: "featured", transport: transport),
      store: RangeStore(transport: transport),
      policy: Policy(name: "tested", strategy: .plain(leading: 2)), recorder: recorder)
    try await prefetcher.begin()
    for id in ["p0", "p1", "p0"] {
      await prefetcher.look(at: id)
      #expect(try await eventuallyAsync { await prefetcher.isReady(id) })
    }
    await prefetcher.leaveActive()
    await prefetcher.end()
    let bytes = try [UInt8](Data(contentsOf: file))
    #expect(bytes.count <= limit && recorder.error == nil)
    guard limit > 1_000 else { return }
    let log = try SessionLog(bytes)
    #expect(log.isCut == (limit < 10_000))
    guard !log.isCut else { return }
    #expect(log.looks.map(\.item) == ["p0", "p1", "p0"])
    #expect(log.looks.map(\.isGoingUp) == [false, false, true])
    #expect(log.looks.allSatisfy { ($0.waitMilliseconds ?? .max) <= $0.dwellMilliseconds ?? -1 })
    guard case .pageArrived(.anew, let items, false, false)? = log.events.first?.event else {
      Issue.record("the first event is \(log.events.first as Any)")
      return
    }
    #expect(items.map(\.id) == ["p0", "p1", "p2"])
  }

  @Test(arguments: [-86_400.0, 0, 86_400])
  func `addresses are good for as long as the server says, whatever our clock says`(
    ahead: Double
  ) async throws {
    let now = Date(timeIntervalSinceNow: ahead)
    let feed = FakeFeed(count: 2)
    let formatter = DateFormatter()
    (formatter.locale, formatter.timeZone) = (Locale(identifier: "en_US_POSIX"), .gmt)
    formatter.dateFormat = "EEE, dd MMM yyyy HH:mm:ss 'GMT'"
    let date = formatter.string(from: now)
    formatter.dateFormat = "yyyy-MM-dd'T'HH:mm:ss'Z'"
    let expiresAt = formatter.string(from: now.addingTimeInterval(100))
    feed.change { ($0.date, $0.expiresAt) = (date, expiresAt) }
    let folder = TemporaryFolder()
    let file = URL(fileURLWithPath: folder.file("session.ndjson"))
    let transport = FakeFeedTransport(feed: feed)
    let prefetcher = Prefetcher(
      session: FeedSession(server: Self.server, feed: "featured", transport: transport),
      store: RangeStore(transport: transport),
      policy: Policy(name: "tested", strategy: .endless), recorder: try SessionRecorder(file: file))
    try await prefetcher.begin()
    await prefetcher.end()
    let log = try SessionLog([UInt8](Data(contentsOf: file)))
    guard case .pageArrived(.anew, let items, _, _)? = log.events.first?.event else {
      Issue.record("no page")
      return
    }
    // On the session's own clock. Servers say their time by the second; and this machine may be busy.
    let at = log.events.first?.atMilliseconds ?? 0
    let times = items.map { ($0.expiresAtMilliseconds ?? 0) - at }
    #expect(times.allSatisfy { (30_000...102_000).contains($0) }, "\(times)")
  }

  @Test func `who saves data has nothing loaded ahead`() async throws {
    let prefetcher = prefetcher(FakeFeed(count: 5), .plain(leading: 5))
    await prefetcher.tell(.saveDataChanged(true))
    try await prefetcher.begin()
    await prefetcher.look(at: "p0")
    #expect(try await eventuallyAsync { await prefetcher.isReady("p0") })
    #expect(await prefetcher.store.usage.files == 1)
    await prefetcher.end()
  }

  @Test func `pages and bytes go on when the network is back`() async throws {
    let feed = FakeFeed(count: 25)
    var settings = PrefetchSettings()
    settings.retryMilliseconds = 1
    let prefetcher = prefetcher(feed, .plain(leading: 2), settings)
    try await prefetcher.begin()
    await prefetcher.tell(.networkChanged(isOnline: false, isMetered: false))
    await prefetcher.look(at: "p9")
    #expect(await !prefetcher.isReady("p9"))
    await prefetcher.tell(.networkChanged(isOnline: true, isMetered: false))
    #expect(try await eventuallyAsync { await prefetcher.isReady("p9") })
    #expect(try await eventuallyAsync { await prefetcher.session.items.count > 10 })
    await prefetcher.end()
  }
}
