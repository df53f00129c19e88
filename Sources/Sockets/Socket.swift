import CEpoll
import Glibc

/// A connected, non-blocking stream socket: each system call wrapped once.
///
/// The value is only the descriptor's number. Whoever made it owns it and calls `close` once, after
/// which no copy may be used.
public struct Socket: Sendable, Hashable {
  /// The descriptor's number.
  public let descriptor: Int32

  /// Takes over a connected descriptor that is non-blocking already.
  public init(descriptor: Int32) { self.descriptor = descriptor }

  /// `read(2)` into the front of `buffer`: how many bytes; 0 at the end of the stream.
  public func read(into buffer: inout [UInt8]) throws(SocketError) -> Outcome<Int> {
    try retryingOrBlocking("read", "read from a connection") {
      buffer.withUnsafeMutableBytes { Glibc.read(descriptor, $0.baseAddress, $0.count) }
    }
  }

  /// `writev(2)`: how many bytes of the segments were taken.
  public func write(_ segments: UnsafeBufferPointer<iovec>) throws(SocketError) -> Outcome<Int> {
    try retryingOrBlocking("writev", "write to a connection") {
      writev(descriptor, segments.baseAddress, Int32(segments.count))
    }
  }

  /// `shutdown(2)` of the sending side: the peer reads what was sent, then the end.
  public func finishSending() throws(SocketError) {
    try retrying("shutdown", "finish a connection") {
      shutdown(descriptor, Int32(SHUT_WR))
    }
  }

  /// Sends small segments at once (`TCP_NODELAY`, `tcp(7)`).
  public func disableDelay() throws(SocketError) {
    try setOption(Int32(IPPROTO_TCP), TCP_NODELAY, 1, "configure a connection")
  }

  /// `close(2)`; not tried again when interrupted, since Linux has freed the descriptor by then.
  public func close() { _ = Glibc.close(descriptor) }

  func setOption(
    _ level: Int32, _ name: Int32, _ value: Int32, _ purpose: @autoclosure () -> String
  ) throws(SocketError) {
    var value = value
    try retrying("setsockopt", purpose()) {
      setsockopt(descriptor, level, name, &value, socklen_t(MemoryLayout<Int32>.size))
    }
  }
}
