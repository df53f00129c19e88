import Synchronization

/// The body of an answer without a known end, made as it leaves: the last answer of its connection, whose end
/// is its own (RFC 9112 section 6.3).
///
/// Theory of operation. The application makes a stream with a closure that returns the next bytes, and calls
/// `wake()` when there are some. The connection calls the closure on its event loop when the system has
/// accepted all that it returned before; several wakes meanwhile cause one call. So nothing queues up for a
/// client that does not read, and the connection cuts such a client off as with any other answer. The stream
/// lives as long as its connection or, after that, as long as its answer.
public final class ResponseStream: Sendable {
  private let produce: @Sendable (_ isIdle: Bool) -> [UInt8]?
  private let onEnd: @Sendable () -> Void
  /// Notifies the connection, once there is one; `isWoken` says whether it was to be notified before.
  private let state = Mutex<(tell: (@Sendable () -> Void)?, isWoken: Bool)>((nil, true))

  /// A stream that gets its bytes from a closure.
  ///
  /// - Parameters:
  ///   - next: returns the next bytes, perhaps none; nil at the end. With `isIdle` nothing was sent for
  ///     `streamIdleMilliseconds`: it should return some bytes then, to find out whether the client is still
  ///     there. Called on an event loop, by one caller at a time; must not block.
  ///   - onEnd: called once when the stream is no longer read, on any thread.
  public init(
    next: @escaping @Sendable (_ isIdle: Bool) -> [UInt8]?,
    onEnd: @escaping @Sendable () -> Void = {}
  ) {
    produce = next
    self.onEnd = onEnd
  }

  deinit { onEnd() }

  /// Tells the connection that there are bytes to send, or that the stream is at its end.
  public func wake() {
    let tell = state.withLock { state in
      defer { state.isWoken = true }
      return state.isWoken ? nil : state.tell
    }
    tell?()
  }

  /// Connects the stream with the connection that sends it, which is notified from now on.
  func begin(telling tell: @escaping @Sendable () -> Void) {
    state.withLock { $0.tell = tell }
  }

  func next(isIdle: Bool) -> [UInt8]? {
    // Reset before the call, so that later wakes are reported again.
    state.withLock { $0.isWoken = false }
    return produce(isIdle)
  }
}
