import DequeModule
import Feed
import Synchronization
import System

/// The single writes that wait for the one writer: a bounded FIFO queue. While the writer commits one
/// group, the next one gathers and becomes one transaction.
public final class WriteQueue: Sendable {
  /// Commits a group and makes it visible to the next read; then each of its writes gets its result. An
  /// error is the result of all of them.
  public typealias Commit = @Sendable ([WaitingWrite]) throws -> [WaitingWrite.Telling]

  /// The reason why a write was refused.
  public enum Refusal: Error {
    case full, closed
  }

  private struct State {
    var waiting: Deque<WaitingWrite> = []
    var isRunning = false
    var isClosed = false
  }

  private let state = Mutex(State())
  /// Limit 2, because one run may be about to end while the next begins.
  private let thread = WorkerPool(threads: 1, limit: 2)
  private let limit: Int
  private let groupLimit: Int

  /// Creates a queue with at most `limit` waiting writes, of which a group has at most `groupLimit`.
  public init(limit: Int, groupLimit: Int) {
    self.limit = limit
    self.groupLimit = groupLimit
  }

  /// Adds the write. The writer's thread passes it to `commit`, in a group with others.
  public func add(_ write: WaitingWrite, commit: @escaping Commit) throws(Refusal) {
    let mustStart = try state.withLock { (state) throws(Refusal) in
      if state.isClosed { throw .closed }
      if state.waiting.count >= limit { throw .full }
      state.waiting.append(write)
      defer { state.isRunning = true }
      return !state.isRunning
    }
    guard mustStart else { return }
    // The thread retains this only as long as there are writes.
    let work: WorkerPool.Work = {
      while let group = self.nextGroup() { Self.run(group, commit) }
    }
    // If the system has no thread for the work, the calling thread writes.
    if !thread.run(work) { work() }
  }

  private static func run(_ group: [WaitingWrite], _ commit: Commit) {
    do {
      for tell in try commit(group) { tell() }
    } catch {
      for write in group { write.fail(error) }
    }
  }

  private func nextGroup() -> [WaitingWrite]? {
    state.withLock { state in
      guard !state.waiting.isEmpty else {
        state.isRunning = false
        return nil
      }
      let group = Array(state.waiting.prefix(groupLimit))
      state.waiting.removeFirst(group.count)
      return group
    }
  }

  /// Refuses further writes, and returns when all accepted ones have run.
  public func close() {
    state.withLock { $0.isClosed = true }
    thread.wait()
  }
}

/// A write in the queue, with its completion.
public enum WaitingWrite: Sendable {
  case item(ItemWrite, @Sendable (Result<ItemOutcome, any Error>) -> Void)
  case feed(FeedWrite, @Sendable (Result<FeedOutcome, any Error>) -> Void)

  /// Reports the result of a write, after its whole group is durable.
  public typealias Telling = @Sendable () -> Void

  /// Completes the write with an error: nothing of it was done.
  public func fail(_ error: any Error) {
    switch self {
    case .item(_, let completion): completion(.failure(error))
    case .feed(_, let completion): completion(.failure(error))
    }
  }
}
