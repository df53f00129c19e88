import Foundation
import PrefetchClient
import TestSupport
import Testing

/// What players do, one after the other, with a server that does nothing wrong.
struct PlayerTests {
  private let url = URL(string: "http://server.test/clip.mp4")!
  private let server = WildServer(seed: 1, wildPercent: 0, changePermille: 0)

  private func store(_ change: (inout RangeStoreLimits) -> Void = { _ in }) -> RangeStore {
    var limits = RangeStoreLimits()
    change(&limits)
    return RangeStore(transport: MemoryTransport(server: server), limits: limits)
  }

  private func read(_ store: RangeStore, _ start: Int, _ end: Int?) async throws -> [UInt8] {
    var read: [UInt8] = []
    for try await bytes in store.bytes(of: url, from: start, to: end) { read += bytes }
    return read
  }

  @Test func `a probe of two bytes, all to the end, and the tail ask for every byte once`()
    async throws
  {
    let store = store()
    let file = WildServer.kept(0)
    let information = try await store.information(of: url)
    #expect(information.bytes == file.count)
    #expect(information.mimeType == "video/mp4")
    #expect(try await read(store, 0, 2) == Array(file[..<2]))
    #expect(server.requests == 1)
    #expect(try await read(store, 0, nil) == file)
    #expect(server.requests == 2)
    #expect(try await read(store, 250_000, nil) == Array(file[250_000...]))
    #expect(server.requests == 2)
    #expect(await store.usage.bytes == file.count)
  }

  @Test func `the tail first, and then what lies before it`() async throws {
    let store = store()
    let file = WildServer.kept(0)
    #expect(try await read(store, 290_000, nil) == Array(file[290_000...]))
    #expect(try await read(store, 0, nil) == file)
    #expect(server.requests == 2)
    #expect(await store.usage.bytes == file.count)
  }

  @Test func `readers of the same bytes share a request`() async throws {
    let file = WildServer.kept(0)
    for round in 1...100 {
      let store = store()
      try await withThrowingTaskGroup { group in
        for _ in 0..<8 {
          group.addTask { try await read(store, 0, nil) }
        }
        for try await bytes in group { #expect(bytes == file) }
      }
      #expect(server.requests == round)
    }
  }

  @Test func `a reader that stops has what came kept, and ends its request`() async throws {
    let store = store { $0.requestBytes = 50_000 }
    do {
      var bytes = store.bytes(of: url).makeAsyncIterator()
      _ = try await bytes.next()
    }
    // The place is left in a task of its own.
    var last = -1
    while case let held = await store.usage.bytes, held != last {
      last = held
      try await Task.sleep(for: .milliseconds(20))
    }
    #expect(last > 0 && last <= 50_000)
  }

  @Test
  func `a file that changes while it is read is an error, and the next reader has the new one`()
    async throws
  {
    let store = store { ($0.requestBytes, $0.readBytes) = (50_000, 10_000) }
    var bytes = store.bytes(of: url).makeAsyncIterator()
    _ = try await bytes.next()
    server.change()
    await #expect(throws: RangeStoreError.changed) { while try await bytes.next() != nil {} }
    #expect(try await read(store, 0, nil) == WildServer.kept(1))
  }

  @Test func `what begins behind the end says where the end is`() async throws {
    let store = store()
    let count = WildServer.kept(0).count
    await #expect(throws: RangeStoreError.beyondEnd(fileBytes: count)) {
      try await read(store, count + 1, count + 5)
    }
    #expect(try await read(store, count, nil).isEmpty)
  }

  @Test func `of more files than there is room for those used longest ago go`() async throws {
    let store = store { $0.bytes = 700_000 }
    let urls = (0..<3).map { URL(string: "http://server.test/\($0)")! }
    for url in [urls[0], urls[1], urls[0], urls[2]] {
      try await store.fetch(url, from: 0, to: nil, priority: .ahead)
    }
    #expect(await store.held(of: urls[1]).isEmpty)
    for url in [urls[0], urls[2]] {
      #expect(await store.held(of: url).count == WildServer.kept(0).count)
    }
    #expect(server.requests == 3)
  }
}
