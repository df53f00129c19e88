import Catalog
import Dispatch
import Synchronization
import Testing

/// How single writes are taken together.
struct WriteQueueTests {
  /// A write of a feed that is named by the number.
  private func write(_ number: Int) -> WaitingWrite {
    .feed(FeedWrite(name: "\(number)", change: .delete)) { _ in }
  }

  @Test(arguments: [1, 3, 10])
  func `no group is larger than its limit, and groups keep the order`(_ limit: Int) {
    let queue = WriteQueue(limit: 10, groupLimit: limit)
    let groups = Mutex<[[Int]]>([])
    let release = DispatchSemaphore(value: 0)
    let isHeld = DispatchSemaphore(value: 0)
    let commit: WriteQueue.Commit = { group in
      let numbers = group.map { write in
        if case .feed(let write, _) = write { Int(write.name)! } else { -1 }
      }
      if numbers == [0] {
        isHeld.signal()
        release.wait()
      }
      groups.withLock { $0.append(numbers) }
      return []
    }
    #expect(throws: Never.self) {
      try queue.add(write(0), commit: commit)
      isHeld.wait()
      for number in 1...10 { try queue.add(write(number), commit: commit) }
    }
    release.signal()
    queue.close()
    let sizes = groups.withLock { $0.map(\.count) }
    let expected = stride(from: 0, to: 10, by: limit).map { min(limit, 10 - $0) }
    #expect(sizes == [1] + expected)
    #expect(groups.withLock { $0.flatMap { $0 } } == Array(0...10))
  }

  private struct Failed: Error {}

  @Test func `what a group's commit throws is told to each of it, and nothing is told twice`() {
    let queue = WriteQueue(limit: 10, groupLimit: 10)
    let told = Mutex<[Bool]>([])
    let isTold = DispatchGroup()
    for isFailing in [true, false] {
      isTold.enter()
      let name = isFailing ? "fails" : "a"
      let write = WaitingWrite.feed(FeedWrite(name: name, change: .delete)) { result in
        told.withLock { $0.append((try? result.get()) == nil) }
        isTold.leave()
      }
      #expect(throws: Never.self) {
        try queue.add(write) { group in
          // The run of the first may take the second, too.
          try group.map { waiting in
            guard case .feed(let write, let completion) = waiting else { return {} }
            if write.name == "fails" { throw Failed() }
            return { completion(.success(.deleted)) }
          }
        }
      }
      isTold.wait()
    }
    queue.close()
    #expect(told.withLock { $0 } == [true, false])
  }
}
