import Dispatch
import Synchronization

/// Does something again and again on a thread of its own, with a pause between, until it is stopped.
final class Refresher: Sendable {
  private let queue = DispatchQueue(label: "lookahead.refresh")
  private let isStopped = Atomic<Bool>(false)
  private let intervalMilliseconds: Int
  private let work: @Sendable () -> Void

  init(intervalMilliseconds: Int, _ work: @escaping @Sendable () -> Void) {
    self.intervalMilliseconds = intervalMilliseconds
    self.work = work
  }

  func start() {
    queue.asyncAfter(deadline: .now() + .milliseconds(intervalMilliseconds)) { [self] in
      guard !isStopped.load(ordering: .relaxed) else { return }
      work()
      start()
    }
  }

  /// Returns when the work is not running and will not again.
  func stop() {
    isStopped.store(true, ordering: .relaxed)
    queue.sync {}
  }
}
