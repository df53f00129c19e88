import Foundation
import PrefetchClient
import PrefetchURLSession
import TestSupport
import Testing

/// The library on the platform's URLSession, over sockets.
struct URLSessionTests {
  @Test(arguments: TestRandom.seeds)
  func `random reads over sockets of a server that does all it should not are right or an error`(
    seed: UInt64
  ) async throws {
    let wild = WildServer(seed: seed)
    let server = try SocketServer { _, field in
      wild.answer(range: field("Range"), ifRange: field("If-Range"))
    }
    let transport = URLSessionTransport(.ephemeral)
    defer { transport.invalidate() }
    let store = RangeStore(transport: transport, limits: RangeStoreTests.limits)
    let url = server.url.appending(path: "clip.mp4")
    let tally = RangeStoreTests.Tally()
    await withTaskGroup { group in
      for reader in 0..<4 {
        group.addTask {
          var random = TestRandom(seed &+ UInt64(reader))
          for _ in 0..<100 {
            if random.once(in: 3) {
              let start = random.number(0...299_999)
              await store.discard(start..<start + random.number(1...200_000), of: url)
            }
            await RangeStoreTests.read(store, url, wild, &random, tally)
          }
        }
      }
    }
    print("URLSession, seed \(seed): \(wild.requests) requests; \(tally.text)")
    #expect(tally["whole"] > 150, TestRandom.replay)
  }

  @Test func `the sample of the documentation runs, and is what the documentation shows`()
    async throws
  {
    let feed = FakeFeed(count: 3)
    let server = try SocketServer { feed.answer($0, $1) }
    let folder = TemporaryFolder()
    let figures = try await watchFeed(
      of: server.url, keptIn: URL(fileURLWithPath: folder.file("kept")))
    #expect(figures.items == 3 && figures.bytes > 6_000)
    let root = URL(fileURLWithPath: #filePath).resolvingSymlinksInPath()
      .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
    let sample = try String(
      contentsOf: root.appending(path: "Tests/client/Sources/Sample/watchFeed.swift"),
      encoding: .utf8)
    let page = try String(contentsOf: root.appending(path: "docs/client.md"), encoding: .utf8)
    #expect(page.contains("```swift\n\(sample)```"))
    #expect(sample.split(separator: "\n").count < 30)
  }
}
