import CLinux
import Glibc
import System

/// A listening, non-blocking socket.
public struct ListeningSocket: Sendable {
  let socket: Socket
  /// The address that it listens on, with the port that the system chose if 0 was requested.
  public let address: SocketAddress

  /// The descriptor's number.
  public var descriptor: Int32 { socket.descriptor }

  /// Opens sockets that share one port, one for each event loop; the kernel distributes connections among
  /// them.
  ///
  /// The first is bound and listens without `SO_REUSEPORT`, which fails if another socket listens there,
  /// including one of another instance of this program. Only then is the option set, which lets the others
  /// join: Linux checks it on both sockets at the second `bind`.
  ///
  /// - Parameter sharesPort: whether the server may listen beside another program of the same user that also
  ///   shares the port. Linux passes the connections that a closed socket still holds to the other sockets if
  ///   `net.ipv4.tcp_migrate_req` is 1, and otherwise resets them (`ip-sysctl`).
  public static func open(
    host: String, port: UInt16, count: Int, backlog: Int, sharesPort: Bool = false
  ) throws(SystemError) -> [ListeningSocket] {
    let address = try SocketAddress(host: host, port: port)
    let shown = host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)"
    let first = try ListeningSocket(
      address, backlog, "listen on \(shown)", shared: sharesPort)
    var sockets = [first]
    do throws(SystemError) {
      if count > 1, !sharesPort { try first.share() }
      while sockets.count < count {
        let next = first.address
        sockets.append(try ListeningSocket(next, backlog, "listen on \(shown)", shared: true))
      }
    } catch {
      for socket in sockets { socket.close() }
      throw error
    }
    return sockets
  }

  private init(
    _ address: SocketAddress, _ backlog: Int, _ purpose: String, shared: Bool
  ) throws(SystemError) {
    let type = Int32(SOCK_STREAM.rawValue | SOCK_NONBLOCK.rawValue | SOCK_CLOEXEC.rawValue)
    let socket = Socket(
      descriptor: try retrying("socket", purpose) { Glibc.socket(address.family, type, 0) })
    do throws(SystemError) {
      try socket.setOption(SOL_SOCKET, SO_REUSEADDR, 1, purpose)
      if shared { try socket.setOption(SOL_SOCKET, SO_REUSEPORT, 1, purpose) }
      if address.family == AF_INET6 {
        // `::` also serves IPv4, whatever the system's default is.
        try socket.setOption(Int32(IPPROTO_IPV6), IPV6_V6ONLY, 0, purpose)
      }
      try retrying("bind", purpose) {
        address.withPointer { bind(socket.descriptor, $0, $1) }
      }
      try retrying("listen", purpose) { listen(socket.descriptor, Int32(backlog)) }
      self.address = try SocketAddress(localOf: socket)
      self.socket = socket
    } catch {
      socket.close()
      throw error
    }
  }

  private func share() throws(SystemError) {
    try socket.setOption(SOL_SOCKET, SO_REUSEPORT, 1, "share a listening port")
  }

  /// `accept4(2)`: the next connection, non-blocking. Skips connections that were closed before they could be
  /// accepted.
  public func accept() throws(SystemError) -> Outcome<Socket> {
    while true {
      do throws(SystemError) {
        let outcome = try retryingOrBlocking("accept4", "accept a connection") {
          accept4(
            descriptor, nil, nil, Int32(SOCK_NONBLOCK.rawValue | SOCK_CLOEXEC.rawValue))
        }
        guard case .done(let descriptor) = outcome else { return .wouldBlock }
        return .done(Socket(descriptor: descriptor))
      } catch  where Self.isOfConnection(error.code) {
        continue
      }
    }
  }

  /// Whether it is an error that `accept4(2)` passes on from a new connection's network.
  private static func isOfConnection(_ code: Int32) -> Bool {
    [
      ECONNABORTED, EPROTO, ENETDOWN, ENOPROTOOPT, EHOSTDOWN, ENONET, EHOSTUNREACH, EOPNOTSUPP,
      ENETUNREACH, EPERM,
    ].contains(code)
  }

  /// Stops listening.
  public func close() { socket.close() }
}
