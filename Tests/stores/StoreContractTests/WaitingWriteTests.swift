import Catalog
import Dispatch
import Feed
import Synchronization
import TestSupport
import Testing

/// Single writes that wait for the writer.
@Suite struct WaitingWriteTests {
  private static func make(_ kind: StoreKind) throws -> TestStore {
    var options = StoreOptions()
    options.maximumWaitingWrites = 10
    let test = try TestStore(kind, options)
    try test.store.load([.ranked("a", 1)])
    return test
  }

  private let increment = ItemWrite(
    id: "a", change: .increment([Counter("likes", 1)], key: nil))

  private func likes(_ store: any FeedStore) throws -> Int? {
    try store.post(withID: "a")?.counters.first?.value
  }

  @Test(arguments: StoreKind.allCases)
  func `as many writes wait as may, and one more is refused`(_ kind: StoreKind) throws {
    let test = try Self.make(kind)
    let store = test.store
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
      errors.withLock { $0.map { ($0 as? any StoreFailure)?.kind } }
        == Array(repeating: .tooManyWrites, count: 3))
    hold.end()
    group.wait()
    #expect(try likes(store) == 10)
    try store.increment("a")
    #expect(try likes(store) == 11)
  }

  @Test(arguments: StoreKind.allCases)
  func `closing finishes what was taken and refuses what comes after`(_ kind: StoreKind) throws {
    let test = try Self.make(kind)
    let store = test.store
    let hold = WriterHold(store)
    let done = Atomic<Int>(0)
    for _ in 0..<5 { store.write(increment) { _ in done.add(1, ordering: .relaxed) } }
    DispatchQueue.global().async { hold.end() }
    try test.close()
    #expect(done.load(ordering: .relaxed) == 5)
    #expect {
      try store.increment("a")
    } throws: {
      ($0 as? any StoreFailure)?.kind == .closed
    }
    let again = try test.again()
    #expect(try again.post(withID: "a")?.counters == [Counter("likes", 5)])
  }
}
