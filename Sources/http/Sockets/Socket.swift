import CLinux
import Glibc
import System

/// A connected, non-blocking stream socket: each system call wrapped once.
///
/// The value is only the descriptor's number. Its owner calls `close` once, after which no copy may be used.
public struct Socket: Sendable, Hashable {
  /// The descriptor's number.
  public let descriptor: Int32

  /// Takes over a connected descriptor that is already non-blocking.
  public init(descriptor: Int32) { self.descriptor = descriptor }

  /// `read(2)` into the front of `buffer`; returns the number of bytes, 0 at the end of the stream.
  public func read(into buffer: inout [UInt8]) throws(SystemError) -> Outcome<Int> {
    try retryingOrBlocking("read", "read from a connection") {
      buffer.withUnsafeMutableBytes { Glibc.read(descriptor, $0.baseAddress, $0.count) }
    }
  }

  /// `sendmsg(2)` of several segments; returns the number of bytes that were accepted.
  ///
  /// `hasMore` says that more follows at once (`MSG_MORE`), so that a small segment waits for it.
  public func write(
    _ segments: UnsafeBufferPointer<iovec>, hasMore: Bool = false
  ) throws(SystemError) -> Outcome<Int> {
    var message = msghdr()
    message.msg_iov = UnsafeMutablePointer(mutating: segments.baseAddress)
    message.msg_iovlen = segments.count
    let flags = Int32(MSG_NOSIGNAL) | (hasMore ? Int32(MSG_MORE) : 0)
    return try retryingOrBlocking("sendmsg", "write to a connection") {
      sendmsg(descriptor, &message, flags)
    }
  }

  /// `sendfile(2)`; returns the number of bytes of the file's range that were accepted, 0 if the file ends
  /// before it.
  public func send(_ file: OpenFile, _ range: Range<Int>) throws(SystemError) -> Outcome<Int> {
    var offset = off_t(range.lowerBound)
    return try retryingOrBlocking("sendfile", "send a file") {
      sendfile(descriptor, file.descriptor, &offset, range.count)
    }
  }

  /// The number of bytes that were written and not yet acknowledged by the peer (`SIOCOUTQ`, `tcp(7)`).
  public var unacknowledgedBytes: Int {
    var count: Int32 = 0
    return ioctl(descriptor, UInt(lookahead_output_queue), &count) == 0 ? Int(count) : 0
  }

  /// Makes the socket writable only while fewer than `limit` bytes wait to be sent (`TCP_NOTSENT_LOWAT`), so
  /// that the kernel holds no more for a peer that does not read.
  public func limitUnsent(toBytes limit: Int) throws(SystemError) {
    try setOption(
      Int32(IPPROTO_TCP), lookahead_tcp_notsent_lowat, Int32(limit), "configure a connection")
  }

  /// The peer's address (`getpeername(2)`); nil if the connection is already closed.
  public var peer: IPAddress? { address(getpeername) }

  /// The address at this end (`getsockname(2)`).
  public var local: IPAddress? { address(getsockname) }

  private func address(
    _ ask: (Int32, UnsafeMutablePointer<sockaddr>?, UnsafeMutablePointer<socklen_t>?) -> Int32
  ) -> IPAddress? {
    var storage = sockaddr_storage()
    var length = socklen_t(MemoryLayout<sockaddr_storage>.size)
    return withUnsafeMutableBytes(of: &storage) { bytes in
      let result = ask(
        descriptor, bytes.baseAddress?.assumingMemoryBound(to: sockaddr.self), &length)
      return result == 0 ? IPAddress(socketAddress: UnsafeRawBufferPointer(bytes)) : nil
    }
  }

  /// Shuts down the sending side (`shutdown(2)`): the peer reads what was sent, then the end.
  public func finishSending() throws(SystemError) {
    try retrying("shutdown", "finish a connection") {
      shutdown(descriptor, Int32(SHUT_WR))
    }
  }

  /// Sends small segments at once (`TCP_NODELAY`, `tcp(7)`).
  public func disableDelay() throws(SystemError) {
    try setOption(Int32(IPPROTO_TCP), TCP_NODELAY, 1, "configure a connection")
  }

  /// `close(2)`; not retried when interrupted, since Linux has freed the descriptor by then.
  public func close() { _ = Glibc.close(descriptor) }

  func setOption(
    _ level: Int32, _ name: Int32, _ value: Int32, _ purpose: @autoclosure () -> String
  ) throws(SystemError) {
    var value = value
    try retrying("setsockopt", purpose()) {
      setsockopt(descriptor, level, name, &value, socklen_t(MemoryLayout<Int32>.size))
    }
  }
}

extension Socket {
  /// Begins to connect: the socket becomes writable when the connection is made or has failed (`connect(2)`);
  /// then `finishConnecting` tells which. The owner of the socket closes it.
  public init(connectingTo address: SocketAddress) throws(SystemError) {
    let type = Int32(SOCK_STREAM.rawValue | SOCK_NONBLOCK.rawValue | SOCK_CLOEXEC.rawValue)
    self.init(
      descriptor: try retrying("socket", "connect") { Glibc.socket(address.family, type, 0) })
    let result = address.withPointer { Glibc.connect(descriptor, $0, $1) }
    guard result == 0 || errno == EINPROGRESS || errno == EINTR else {
      let error = SystemError(call: "connect", purpose: "connect")
      close()
      throw error
    }
  }

  /// Throws if the connection has failed; call it once the socket is writable.
  public func finishConnecting() throws(SystemError) {
    var code: Int32 = 0
    var length = socklen_t(MemoryLayout<Int32>.size)
    try retrying("getsockopt", "connect") {
      getsockopt(descriptor, SOL_SOCKET, SO_ERROR, &code, &length)
    }
    if code != 0 { throw SystemError(call: "connect", purpose: "connect", code: code) }
  }
}
