import Foundation
import PrefetchClient
import Synchronization
import TestSupport
import Testing

/// A connection is good for the next request where its answer was read to the end, and not where it was cancelled.
@Suite struct WholeAnswerTests {
  /// Answers ranges of a file, and counts how its answers ended.
  private final class Server: Transport {
    let ends = Mutex((read: 0, cancelled: 0))
    private let bytes = [UInt8](repeating: 7, count: 50_000)

    func answer(to request: TransportRequest) async throws(TransportError) -> TransportAnswer {
      let numbers = (request.fields.first { $0.name == "Range" }?.value ?? "")
        .split { !"0123456789".contains($0) }.compactMap { Int($0) }
      let start = numbers.first ?? 0
      let end = min(numbers.count > 1 ? numbers[1] + 1 : bytes.count, bytes.count)
      return TransportAnswer(
        status: 206,
        fields: TransportFields([
          (name: "Content-Range", value: "bytes \(start)-\(end - 1)/\(bytes.count)"),
          (name: "Content-Length", value: "\(end - start)"), (name: "ETag", value: "\"a\""),
          (name: "Content-Type", value: "video/mp4"),
        ]), body: Body(bytes[start..<end], self))
    }

    final class Body: TransportBody {
      private let rest: Mutex<ArraySlice<UInt8>>
      private let server: Server

      init(_ bytes: ArraySlice<UInt8>, _ server: Server) {
        rest = Mutex(bytes)
        self.server = server
      }

      func next() async throws(TransportError) -> [UInt8]? {
        let piece = rest.withLock { rest in
          defer { rest = rest.dropFirst(9_000) }
          return Array(rest.prefix(9_000))
        }
        if !piece.isEmpty { return piece }
        // The end is read a little after the last bytes, by which whoever asked has all that they wanted.
        guard (try? await Task.sleep(for: .milliseconds(20))) != nil else {
          server.ends.withLock { $0.cancelled += 1 }
          throw .cancelled
        }
        server.ends.withLock { $0.read += 1 }
        return nil
      }

      func cancel() { server.ends.withLock { $0.cancelled += 1 } }
    }
  }

  @Test func `an answer that has come whole is read to its end, so that its connection is kept`()
    async throws
  {
    let server = Server()
    let store = RangeStore(transport: server)
    let url = try #require(URL(string: "http://server.test/clip.mp4"))
    for (start, end) in [(0, 12_000), (12_000, 30_000), (30_000, 50_000)] {
      try await store.fetch(url, from: start, to: end, priority: .ahead)
    }
    #expect(await store.held(of: url).ranges == [0..<50_000])
    // The transfer ends itself after whoever asked has what they wanted.
    try await eventuallyAsync { server.ends.withLock { $0.read + $0.cancelled } >= 3 }
    let ends = server.ends.withLock { $0 }
    #expect(ends.read == 3 && ends.cancelled == 0, "\(ends)")
  }
}
