import Dispatch
import Catalog
import Feed
import Synchronization

extension FeedStore {
  /// Changes one item, and waits until that is done.
  @discardableResult
  package func outcome(of write: ItemWrite) throws -> ItemOutcome {
    try waited { self.write(write, completion: $0) }
  }

  /// Changes one feed, and waits until that is done.
  @discardableResult
  package func outcome(of write: FeedWrite) throws -> FeedOutcome {
    try waited { self.write(write, completion: $0) }
  }

  private func waited<Outcome: Sendable>(
    _ write: (@escaping @Sendable (Result<Outcome, any Error>) -> Void) -> Void
  ) throws -> Outcome {
    let result = Mutex<Result<Outcome, any Error>?>(nil)
    let isDone = DispatchSemaphore(value: 0)
    write { written in
      result.withLock { $0 = written }
      isDone.signal()
    }
    isDone.wait()
    return try result.withLock { $0! }.get()
  }

  /// Deletes a post; `false` where there was none.
  package func deletePost(withID id: String) throws -> Bool {
    do {
      try outcome(of: ItemWrite(id: id, change: .delete))
      return true
    } catch FeedError.unknownItem {
      return false
    }
  }
}
