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

  /// Waits for something that will be, for a minute at the most.
  private func wait(until isSo: () async -> Bool) async throws -> Bool {
    for _ in 0..<6_000 {
      if await isSo() { return true }
      try await Task.sleep(for: .milliseconds(10))
    }
    return false
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
      #expect(try await wait { await prefetcher.isReady(id) }, "\(id)")
      // The next one is loaded ahead, on a page of its own if need be; but by ours not over memory, on which
      // nobody waits.
      if index < 24, strategy != .expectedWait(WaitTuning()) {
        #expect(try await wait { await prefetcher.isReady("p\(index + 1)") })
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

  @Test(arguments: [0, 400, 3_000, 1_000_000])
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
      #expect(try await wait { await prefetcher.isReady(id) })
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

  @Test func `who saves data has nothing loaded ahead`() async throws {
    let prefetcher = prefetcher(FakeFeed(count: 5), .plain(leading: 5))
    await prefetcher.tell(.saveDataChanged(true))
    try await prefetcher.begin()
    await prefetcher.look(at: "p0")
    #expect(try await wait { await prefetcher.isReady("p0") })
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
    #expect(try await wait { await prefetcher.isReady("p9") })
    #expect(try await wait { await prefetcher.session.items.count > 10 })
    await prefetcher.end()
  }
}
