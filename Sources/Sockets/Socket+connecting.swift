import Glibc
import System

extension Socket {
  /// Begins a connection: the socket becomes writable when it is made, or has failed (`connect(2)`); then
  /// `finishConnecting` tells which. Whoever has it closes it.
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

  /// Tells how a connection went, once the socket is writable.
  public func finishConnecting() throws(SystemError) {
    var code: Int32 = 0
    var length = socklen_t(MemoryLayout<Int32>.size)
    try retrying("getsockopt", "connect") {
      getsockopt(descriptor, SOL_SOCKET, SO_ERROR, &code, &length)
    }
    if code != 0 { throw SystemError(call: "connect", purpose: "connect", code: code) }
  }
}
