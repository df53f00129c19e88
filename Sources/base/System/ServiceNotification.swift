import Glibc

/// Notifies the service manager that started the program (`sd_notify(3)`): sends lines such as `READY=1` as
/// one datagram to the socket that the manager named.
public struct ServiceNotification: Sendable {
  /// The socket's path; one that begins with `@` is abstract (`unix(7)`).
  private let path: String

  /// A notification to the manager's socket; nil if `path` does not name one.
  ///
  /// - Parameter path: the value of `NOTIFY_SOCKET`; nil if it is unset.
  public init?(path: String?) {
    guard let path, let first = path.utf8.first, first == UInt8(ascii: "/") || path.hasPrefix("@")
    else { return nil }
    self.path = path
  }

  /// Sends the state, without waiting.
  ///
  /// - Throws: `SystemError`; `ENAMETOOLONG` if the path does not fit a socket's address.
  public func send(_ state: String) throws(SystemError) {
    let purpose = "tell the service manager \(state)"
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    var bytes = Array(path.utf8)
    if bytes[0] == UInt8(ascii: "@") { bytes[0] = 0 }
    // A path ends with a zero byte, which an abstract name must not have.
    let isFitting = withUnsafeMutableBytes(of: &address.sun_path) { room in
      guard bytes.count < room.count else { return false }
      room.copyBytes(from: bytes)
      return true
    }
    guard isFitting else {
      throw SystemError(call: "sendto", purpose: purpose, code: ENAMETOOLONG)
    }
    let length = socklen_t(MemoryLayout<sa_family_t>.size + bytes.count)
    let type = Int32(SOCK_DGRAM.rawValue | SOCK_CLOEXEC.rawValue)
    let socket = try Descriptor(
      taking: retrying("socket", purpose) { Glibc.socket(AF_UNIX, type, 0) }, path: path)
    let text = Array(state.utf8)
    try retrying("sendto", purpose) {
      withUnsafePointer(to: &address) {
        $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
          sendto(socket.number, text, text.count, Int32(MSG_NOSIGNAL | MSG_DONTWAIT), $0, length)
        }
      }
    }
  }
}
