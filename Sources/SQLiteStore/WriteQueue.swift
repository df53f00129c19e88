import DequeModule
import Synchronization
import System

/// What waits for the one writer, first in first out and bounded: while the writer is busy with one
/// group, the next one gathers.
final class WriteQueue<Element: Sendable>: Sendable {
  /// Runs the elements of a group; when it returns, they have been answered.
  typealias Run = @Sendable ([Element]) -> Void

  /// Why an element was not taken.
  enum Refusal: Error {
    case full, closed
  }

  private struct State {
    var waiting: Deque<Element> = []
    var isRunning = false
    var isClosed = false
  }

  private let state = Mutex(State())
  /// One run may be about to end while the next begins.
  private let thread = WorkerPool(threads: 1, limit: 2)
  private let limit: Int
  private let groupLimit: Int

  init(limit: Int, groupLimit: Int) {
    self.limit = limit
    self.groupLimit = groupLimit
  }

  /// Takes the element. `run` gets it on the writer's thread, in a group with others.
  func add(_ element: Element, run: @escaping Run) throws(Refusal) {
    let mustStart = try state.withLock { (state) throws(Refusal) in
      if state.isClosed { throw .closed }
      if state.waiting.count >= limit { throw .full }
      state.waiting.append(element)
      defer { state.isRunning = true }
      return !state.isRunning
    }
    guard mustStart else { return }
    // Held by the thread as long as there is something to run, and no longer.
    let work: WorkerPool.Work = { while let group = self.nextGroup() { run(group) } }
    // Where the system has no thread for it, whoever gave the element is the writer.
    if !thread.run(work) { work() }
  }

  private func nextGroup() -> [Element]? {
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
  func close() {
    state.withLock { $0.isClosed = true }
    thread.wait()
  }
}
