import Foundation
import PrefetchClient
import PrefetchURLSession
import TestSupport
import Testing

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

/// The library on the platform's URLSession, over sockets.
struct URLSessionTests {
  @Test(arguments: TestRandom.seeds)
  func `random reads over sockets of a server that does all it should not are right or an error`(
    seed: UInt64
  ) async throws {
    let wild = WildServer(seed: seed)
    let server = try LoopbackServer { question in
      wild.answer(range: question.fields["range"], ifRange: question.fields["if-range"]).reply
    }
    let transport = URLSessionTransport(.ephemeral)
    defer { transport.invalidate() }
    let store = RangeStore(transport: transport, limits: RangeStoreTests.limits)
    let url = server.url.appending(path: "clip.mp4")
    let tally = RangeStoreTests.Tally()
    let reads = TestRandom.often(30, nightly: 100)
    await withTaskGroup { group in
      for reader in 0..<4 {
        group.addTask {
          var random = TestRandom(seed &+ UInt64(reader))
          for _ in 0..<reads {
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
    #expect(2 * tally["whole"] > 3 * reads, TestRandom.replay)
  }

  @Test(
    arguments: TestRandom.some(1, of: [URLSessionConfiguration.default, .ephemeral, .withoutCache]))
  func `requests that are not wanted any more, at any moment, end and take no other with them`(
    _ configuration: URLSessionConfiguration
  ) async throws {
    let body = (0..<300_000).map { UInt8(truncatingIfNeeded: $0) }
    let server = try LoopbackServer { question in
      let head = "HTTP/1.1 200 OK\r\nCache-Control: max-age=60\r\nContent-Length: 300000\r\n\r\n"
      return LoopbackServer.Reply(
        [Array(head.utf8), Array(body[..<100_000]), Array(body[100_000...])],
        pauseMilliseconds: question.number % 3)
    }
    let transport = URLSessionTransport(configuration)
    defer { transport.invalidate() }
    await withTaskGroup { group in
      for number in 0..<TestRandom.often(100, nightly: 400) {
        group.addTask {
          let task = Task {
            let answer = try await transport.answer(
              to: TransportRequest(server.url.appending(path: "\(number % 50)")))
            var read: [UInt8] = []
            while let bytes = try await answer.body.next() { read += bytes }
            return read
          }
          if number % 4 != 0 {
            if number % 4 > 1 { try? await Task.sleep(for: .microseconds(number * 17 % 6_000)) }
            task.cancel()
          }
          if let read = try? await task.value { #expect(read == body) }
          if number % 4 == 0 { #expect((try? await task.value) == body) }
        }
        if number % 16 == 15 { await group.next() }
      }
    }
  }

  @Test func `the sample of the documentation runs, and is what the documentation shows`()
    async throws
  {
    let feed = FakeFeed(count: 3)
    let server = try LoopbackServer { question in
      feed.answer(question.target) { question.fields[$0.lowercased()] }.reply
    }
    let folder = TemporaryFolder()
    let figures = try await watchFeed(
      of: server.url, keptIn: URL(fileURLWithPath: folder.file("kept")))
    #expect(figures.items == 3 && figures.bytes > 6_000)
    let sample = try Repository.text("Tests/sample/Sources/Sample/watchFeed.swift")
    let page = try Repository.text("docs/client.md")
    #expect(page.contains("```swift\n\(sample)```"))
    #expect(sample.split(separator: "\n").count < 30)
  }
}

extension URLSessionConfiguration {
  fileprivate static var withoutCache: URLSessionConfiguration {
    let configuration = URLSessionConfiguration.ephemeral
    configuration.urlCache = nil
    return configuration
  }
}
