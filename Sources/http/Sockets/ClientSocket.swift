import Glibc
import System

/// A connection that this program makes, for a question and its answer: every call waits, but none
/// longer than until the deadline that was given first.
///
/// Whoever made it calls `close` once.
public struct ClientSocket: Sendable {
  private let socket: Socket
  /// Of `MonotonicClock`.
  private let deadlineMilliseconds: UInt64

  /// Connects within this many milliseconds, which hold for later calls, too.
  ///
  /// - Throws: `SystemError`; with `ETIMEDOUT` where the time is over.
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

  /// Sends all of the bytes.
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

  /// What comes next, up to as many bytes as `buffer` has; 0 at the end.
  public func receive(into buffer: inout [UInt8]) throws(SystemError) -> Int {
    while true {
      if case .done(let count) = try socket.read(into: &buffer) { return count }
      try wait(for: POLLIN, "read the answer")
    }
  }

  /// Tells the peer that nothing more will be sent; its answer can still be read.
  public func finishSending() throws(SystemError) { try socket.finishSending() }

  /// The same connection, for another request: this many milliseconds from now on.
  public func renewed(timeoutMilliseconds: Int) -> ClientSocket {
    ClientSocket(
      socket: socket,
      deadlineMilliseconds: MonotonicClock.milliseconds + UInt64(timeoutMilliseconds))
  }

  private init(socket: Socket, deadlineMilliseconds: UInt64) {
    self.socket = socket
    self.deadlineMilliseconds = deadlineMilliseconds
  }

  /// `shutdown(2)` of both sides, from any thread: a call that waits on the connection returns at once.
  /// `close` is still due.
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
    // Whatever it says, the next call on the socket says it, too, or the time is over.
    _ = poll(&polled, 1, left)
  }
}
