import Dispatch
import Sockets

/// Does something again and again on a thread of its own, with a pause between, until it is stopped.
final class Refresher: Sendable {
  private let isStopping = DispatchSemaphore(value: 0)
  private let running = DispatchGroup()
  private let intervalMilliseconds: Int
  private let work: @Sendable () -> Void

  init(intervalMilliseconds: Int, _ work: @escaping @Sendable () -> Void) {
    self.intervalMilliseconds = intervalMilliseconds
    self.work = work
  }

  /// - Throws: `SocketError` where the system has no thread for it.
  func start() throws(SocketError) {
    running.enter()
    do throws(SocketError) {
      try startThread { [self] in
        while isStopping.wait(timeout: .now() + .milliseconds(intervalMilliseconds)) == .timedOut {
          work()
        }
        running.leave()
      }
    } catch {
      running.leave()
      throw error
    }
  }

  /// Returns when the work is not running and will not again.
  func stop() {
    isStopping.signal()
    running.wait()
  }
}
