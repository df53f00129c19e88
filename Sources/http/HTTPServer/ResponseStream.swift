import Synchronization

/// The body of an answer that has no end of its own, made as it leaves: the last answer of its connection,
/// whose end is its own (RFC 9112 section 6.3).
///
/// Theory of operation. Whoever answers makes one with a closure that says what there is to be sent, and
/// calls `wake()` when there is something. The connection asks the closure on its event loop when all that
/// it gave before has been taken by the system; what happens meanwhile is asked for once. So nothing
/// queues up for a client that takes nothing, and the connection cuts such a one off as it does with any
/// other answer. The stream lives as long as its connection, or after that, as long as
/// its answer.
public final class ResponseStream: Sendable {
  private let produce: @Sendable (_ isIdle: Bool) -> [UInt8]?
  private let onEnd: @Sendable () -> Void
  /// Tells the connection, once there is one, and whether it was to be told before.
  private let state = Mutex<(tell: (@Sendable () -> Void)?, isWoken: Bool)>((nil, true))

  /// A body.
  ///
  /// - Parameters:
  ///   - next: the bytes that are to follow, perhaps none; nil at the end. With `isIdle` nothing was sent for
  ///     `streamIdleMilliseconds`: something should be, by which it is seen whether the client is there still.
  ///     Called on an event loop, by one at a time; must not block.
  ///   - onEnd: called once when the stream is no longer read, on any thread.
  public init(
    next: @escaping @Sendable (_ isIdle: Bool) -> [UInt8]?,
    onEnd: @escaping @Sendable () -> Void = {}
  ) {
    produce = next
    self.onEnd = onEnd
  }

  deinit { onEnd() }

  /// There is something to be sent, or it is at its end.
  public func wake() {
    let tell = state.withLock { state in
      defer { state.isWoken = true }
      return state.isWoken ? nil : state.tell
    }
    tell?()
  }

  /// The connection that sends it is here, and is told from now on.
  func begin(telling tell: @escaping @Sendable () -> Void) {
    state.withLock { $0.tell = tell }
  }

  func next(isIdle: Bool) -> [UInt8]? {
    // Before it is asked: what comes behind the answer is reported again.
    state.withLock { $0.isWoken = false }
    return produce(isIdle)
  }
}
