import Dispatch
import Catalog
import Feed
import Synchronization

/// Keeps a store's writer in a write of its own until it is let go, so that a test decides what waits.
package struct WriterHold {
  struct Released: Error {}

  private let release = DispatchSemaphore(value: 0)

  /// Returns when the writer is held.
  package init(_ store: any FeedStore) {
    let isHeld = DispatchSemaphore(value: 0)
    let hold = ItemWrite(id: "nothing", change: .delete) { [release] _ in
      isHeld.signal()
      release.wait()
      throw Released()
    }
    store.write(hold) { _ in }
    isHeld.wait()
  }

  /// Lets the writer go on.
  package func end() { release.signal() }
}

extension FeedStore {
  /// The outcomes of writes that wait together, so that they go into one transaction.
  package func outcomes(ofGroup writes: [ItemWrite]) -> [Result<ItemOutcome, any Error>] {
    let hold = WriterHold(self)
    let results = Mutex<[Int: Result<ItemOutcome, any Error>]>([:])
    let group = DispatchGroup()
    for (index, write) in writes.enumerated() {
      group.enter()
      self.write(write) { result in
        results.withLock { $0[index] = result }
        group.leave()
      }
    }
    hold.end()
    group.wait()
    return results.withLock { results in writes.indices.map { results[$0]! } }
  }

  /// Puts a post and waits for it.
  @discardableResult
  package func put(_ post: Post, _ placements: [Placement]? = nil) throws -> ItemOutcome {
    try outcome(of: ItemWrite(id: post.id, change: .put(post, placements: placements)))
  }

  /// Increments a counter and waits for it.
  @discardableResult
  package func increment(
    _ id: String, _ name: String = "likes", by value: Int = 1, key: String? = nil,
    of owner: String = "a"
  )
    throws -> ItemOutcome
  {
    let key = key.map { IdempotencyKey($0, of: owner, fingerprint: "\(id) \(name) \(value)") }
    return try outcome(
      of: ItemWrite(id: id, change: .increment([Counter(name, value)], key: key)))
  }
}
