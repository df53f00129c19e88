import CLinux
import Glibc
import System

/// An IPv4 or IPv6 address with a port.
public struct SocketAddress: Sendable {
  private var storage: sockaddr_storage
  private var length: socklen_t

  /// Resolves a numeric address, or a name with `getaddrinfo(3)`, whose first result is used.
  public init(host: String, port: UInt16) throws(SystemError) {
    var hints = addrinfo()
    hints.ai_family = AF_UNSPEC
    hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
    hints.ai_flags = AI_PASSIVE | AI_NUMERICSERV
    var found: UnsafeMutablePointer<addrinfo>?
    let result = getaddrinfo(host, "\(port)", &hints, &found)
    defer { if let found { freeaddrinfo(found) } }
    guard result == 0, let first = found?.pointee, let address = first.ai_addr else {
      let reason = result == 0 ? "no address" : String(cString: gai_strerror(result))
      throw SystemError(
        call: "getaddrinfo", purpose: "resolve the host \(host) (\(reason))",
        code: result == EAI_SYSTEM ? errno : EADDRNOTAVAIL)
    }
    storage = sockaddr_storage()
    length = first.ai_addrlen
    withUnsafeMutableBytes(of: &storage) {
      $0.copyMemory(from: UnsafeRawBufferPointer(start: address, count: Int(first.ai_addrlen)))
    }
  }

  /// The local address of a socket (`getsockname(2)`).
  init(localOf socket: Socket) throws(SystemError) {
    var storage = sockaddr_storage()
    var length = socklen_t(MemoryLayout<sockaddr_storage>.size)
    try retrying("getsockname", "ask for a socket's address") {
      withUnsafeMutableBytes(of: &storage) {
        getsockname(
          socket.descriptor, $0.baseAddress?.assumingMemoryBound(to: sockaddr.self), &length)
      }
    }
    self.storage = storage
    self.length = length
  }

  /// The address family: `AF_INET` or `AF_INET6`.
  var family: Int32 { Int32(storage.ss_family) }

  /// The port, in host order.
  public var port: UInt16 {
    withUnsafeBytes(of: storage) { bytes in
      // `sin_port` and `sin6_port` are at the same place, right behind the family.
      UInt16(bytes[2]) << 8 | UInt16(bytes[3])
    }
  }

  /// The same address with another port.
  func with(port: UInt16) -> SocketAddress {
    var copy = self
    withUnsafeMutableBytes(of: &copy.storage) { bytes in
      bytes[2] = UInt8(port >> 8)
      bytes[3] = UInt8(port & 0xFF)
    }
    return copy
  }

  /// Passes the address to a system call.
  func withPointer<Result>(_ body: (UnsafePointer<sockaddr>, socklen_t) -> Result) -> Result {
    withUnsafeBytes(of: storage) {
      body($0.baseAddress!.assumingMemoryBound(to: sockaddr.self), length)
    }
  }
}
