import CPostgres
import Glibc

/// Waiting for the server, in poll(2) and never in libpq.
extension Connection {
  typealias MonotonicDeadline = ContinuousClock.Instant

  static func deadline(after milliseconds: Int) -> MonotonicDeadline {
    .now + .milliseconds(milliseconds)
  }

  /// The next result of what was sent, `nil` behind the last of a statement.
  func nextResult(_ deadline: MonotonicDeadline) throws(PostgresError) -> OpaquePointer? {
    try flush(deadline)
    while PQisBusy(handle) == 1 {
      try wait(Int16(POLLIN), deadline)
      guard PQconsumeInput(handle) == 1 else { throw lost() }
    }
    return PQgetResult(handle)
  }

  /// Hands all that is to be sent to the system. The server may have to be read from before it takes more.
  func flush(_ deadline: MonotonicDeadline) throws(PostgresError) {
    while true {
      switch PQflush(handle) {
      case 0: return
      case 1:
        if try wait(Int16(POLLIN | POLLOUT), deadline) & Int16(POLLIN) != 0 {
          guard PQconsumeInput(handle) == 1 else { throw lost() }
        }
      default: throw lost()
      }
    }
  }

  /// - Returns: what the socket is ready for.
  @discardableResult
  private func wait(_ events: Int16, _ deadline: MonotonicDeadline) throws(PostgresError) -> Int16 {
    while true {
      let left = deadline - .now
      guard left > .zero else { throw giveUp(.lost(reason: "the server gave no answer in time")) }
      if let ready = poll(events, atMost: left) { return ready }
    }
  }

  /// - Returns: what the socket is ready for; `nil` where the time is over, or a signal came.
  func poll(_ events: Int16, atMost time: Duration) -> Int16? {
    var descriptor = pollfd(fd: PQsocket(handle), events: events, revents: 0)
    // Rounded up: less than a millisecond is not none.
    let milliseconds = time == .zero ? 0 : min(time / .milliseconds(1), 60_000).rounded(.up)
    guard Glibc.poll(&descriptor, 1, Int32(milliseconds)) > 0 else { return nil }
    return descriptor.revents
  }
}
