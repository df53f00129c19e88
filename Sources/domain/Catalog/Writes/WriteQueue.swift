import DequeModule
import Feed
import Synchronization
import System

/// The single writes that wait for the one writer, first in first out and bounded: while the writer is busy
/// with one group, the next one gathers, and is one transaction.
public final class WriteQueue: Sendable {
  /// Commits a group and makes it seen by the next read; then each of its writes is told how it ended. What
  /// it throws is told to all of them.
  public typealias Commit = @Sendable ([WaitingWrite]) throws -> [WaitingWrite.Telling]

  /// Why a write was not taken.
  public enum Refusal: Error {
    case full, closed
  }

  private struct State {
    var waiting: Deque<WaitingWrite> = []
    var isRunning = false
    var isClosed = false
  }

  private let state = Mutex(State())
  /// One run may be about to end while the next begins.
  private let thread = WorkerPool(threads: 1, limit: 2)
  private let limit: Int
  private let groupLimit: Int

  /// A queue in which at most `limit` wait, of which at most `groupLimit` are taken at once.
  public init(limit: Int, groupLimit: Int) {
    self.limit = limit
    self.groupLimit = groupLimit
  }

  /// Takes the write. `commit` gets it on the writer's thread, in a group with others.
  public func add(_ write: WaitingWrite, commit: @escaping Commit) throws(Refusal) {
    let mustStart = try state.withLock { (state) throws(Refusal) in
      if state.isClosed { throw .closed }
      if state.waiting.count >= limit { throw .full }
      state.waiting.append(write)
      defer { state.isRunning = true }
      return !state.isRunning
    }
    guard mustStart else { return }
    // Held by the thread as long as there is something to run, and no longer.
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

  /// Takes nothing more, and returns when everything that was taken has been run.
  public func close() {
    state.withLock { $0.isClosed = true }
    thread.wait()
  }
}

/// A write that was taken, and whom to tell.
public enum WaitingWrite: Sendable {
  case item(ItemWrite, @Sendable (Result<ItemOutcome, any Error>) -> Void)
  case feed(FeedWrite, @Sendable (Result<FeedOutcome, any Error>) -> Void)

  /// How a write ended, to be told once all of its group are durable.
  public typealias Telling = @Sendable () -> Void

  /// Tells that nothing of it was done.
  public func fail(_ error: any Error) {
    switch self {
    case .item(_, let completion): completion(.failure(error))
    case .feed(_, let completion): completion(.failure(error))
    }
  }
}
