import Glibc
import System

/// A connection that this program makes, for a request and its answer: every call waits, but not beyond the
/// deadline that was set first.
///
/// Its owner calls `close` once.
public struct ClientSocket: Sendable {
  private let socket: Socket
  /// A time of `MonotonicClock`.
  private let deadlineMilliseconds: UInt64

  /// Connects within this many milliseconds, which also limit later calls.
  ///
  /// - Throws: `SystemError`; `ETIMEDOUT` at the deadline.
  public init(
    connectingTo address: SocketAddress, timeoutMilliseconds: Int
  ) throws(SystemError) {
    socket = try Socket(connectingTo: address)
    deadlineMilliseconds = MonotonicClock.milliseconds + UInt64(timeoutMilliseconds)
    do throws(SystemError) {
      try wait(for: POLLOUT, "connect")
      try socket.finishConnecting()
    } catch {
      close()
      throw error
    }
  }

  /// Sends all bytes.
  public func send(_ bytes: [UInt8]) throws(SystemError) {
    var sent = 0
    while sent < bytes.count {
      let outcome = try retryingOrBlocking("send", "ask") {
        bytes.withUnsafeBytes {
          Glibc.send(
            socket.descriptor, $0.baseAddress! + sent, $0.count - sent, Int32(MSG_NOSIGNAL))
        }
      }
      switch outcome {
      case .done(let count): sent += count
      case .wouldBlock: try wait(for: POLLOUT, "ask")
      }
    }
  }

  /// Reads the next bytes, at most as many as `buffer` has; returns their number, 0 at the end.
  public func receive(into buffer: inout [UInt8]) throws(SystemError) -> Int {
    while true {
      if case .done(let count) = try socket.read(into: &buffer) { return count }
      try wait(for: POLLIN, "read the answer")
    }
  }

  /// Tells the peer that nothing more will be sent; its answer can still be read.
  public func finishSending() throws(SystemError) { try socket.finishSending() }

  /// The same connection for another request, with a deadline this many milliseconds from now.
  public func renewed(timeoutMilliseconds: Int) -> ClientSocket {
    ClientSocket(
      socket: socket,
      deadlineMilliseconds: MonotonicClock.milliseconds + UInt64(timeoutMilliseconds))
  }

  private init(socket: Socket, deadlineMilliseconds: UInt64) {
    self.socket = socket
    self.deadlineMilliseconds = deadlineMilliseconds
  }

  /// Shuts down both sides (`shutdown(2)`), from any thread: a call that waits on the connection returns at
  /// once. `close` must still be called.
  public func abandon() { _ = shutdown(socket.descriptor, Int32(SHUT_RDWR)) }

  /// `close(2)`.
  public func close() { socket.close() }

  private func wait(for events: Int32, _ purpose: String) throws(SystemError) {
    let now = MonotonicClock.milliseconds
    guard now < deadlineMilliseconds else {
      throw SystemError(call: "poll", purpose: purpose, code: ETIMEDOUT)
    }
    var polled = pollfd(fd: socket.descriptor, events: Int16(events), revents: 0)
    let left = Int32(clamping: deadlineMilliseconds - now)
    // Whatever the result, the next call on the socket reports it too, or the deadline has passed.
    _ = poll(&polled, 1, left)
  }
}
