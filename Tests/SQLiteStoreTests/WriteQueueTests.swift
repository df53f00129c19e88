import Dispatch
import Catalog
import Feed
import Synchronization
import TestSupport
import Testing

@testable import SQLiteStore

@Suite struct WriteQueueTests {
  let folder = TemporaryFolder()
  let store: SQLiteStore

  init() throws {
    store = try SQLiteStore(
      path: folder.file("feed.sqlite"), options: .init(maximumWaitingWrites: 10))
    try store.load([.ranked("a", 1)])
  }

  private let increment = ItemWrite(
    id: "a", change: .increment([Counter("likes", 1)], key: nil))

  private func likes() throws -> Int? {
    try store.post(withID: "a")?.counters.first?.value
  }

  @Test func `as many writes wait as may, and one more is refused`() throws {
    let hold = WriterHold(store)
    let group = DispatchGroup()
    let errors = Mutex<[any Error]>([])
    for _ in 0..<13 {
      group.enter()
      store.write(increment) { result in
        if case .failure(let error) = result { errors.withLock { $0.append(error) } }
        group.leave()
      }
    }
    // Told before the others are done.
    #expect(
      errors.withLock { $0.map { $0 as? StoreError } }
        == Array(repeating: .tooManyWrites(limit: 10), count: 3))
    hold.end()
    group.wait()
    #expect(try likes() == 10)
    try store.increment("a")
    #expect(try likes() == 11)
  }

  @Test func `closing finishes what was taken and refuses what comes after`() throws {
    let hold = WriterHold(store)
    let done = Atomic<Int>(0)
    for _ in 0..<5 { store.write(increment) { _ in done.add(1, ordering: .relaxed) } }
    DispatchQueue.global().async { hold.end() }
    try store.close()
    #expect(done.load(ordering: .relaxed) == 5)
    #expect(throws: StoreError.closed(path: store.path)) { try store.increment("a") }
    let again = try SQLiteStore(path: store.path)
    #expect(try again.post(withID: "a")?.counters == [Counter("likes", 5)])
  }

  @Test func `a store that is let go still makes the writes that it took`() throws {
    let path = folder.file("other.sqlite")
    let group = DispatchGroup()
    do {
      let other = try SQLiteStore(path: path)
      let hold = WriterHold(other)
      for number in 0..<5 {
        group.enter()
        let post = Post(id: "x\(number)", type: .text)
        other.write(ItemWrite(id: post.id, change: .put(post, placements: []))) { _ in
          group.leave()
        }
      }
      hold.end()
    }
    group.wait()
    let again = try SQLiteStore(path: path)
    #expect(try (0..<5).allSatisfy { try again.post(withID: "x\($0)") != nil })
  }
}
