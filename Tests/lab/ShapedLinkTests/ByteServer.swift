import Glibc
import Sockets
import System

/// A server that knows one question, eight digits: how many bytes it is to answer with before it closes. And
/// what it was sent without being one is in `received`.
final class ByteServer: Sendable {
  struct State: Sendable {
    var received: [UInt8] = []
    var openConnections = 0
    var isStopped = false
  }

  let port: UInt16
  let state = Monitor(State())
  private let listening: ListeningSocket

  init() throws {
    listening = try ListeningSocket.open(host: "127.0.0.1", port: 0, count: 1, backlog: 64)[0]
    port = listening.address.port
    let (listening, state) = (listening, state)
    try startThread {
      while !state.withLock({ $0.isStopped }) {
        var polled = pollfd(fd: listening.descriptor, events: Int16(POLLIN), revents: 0)
        _ = poll(&polled, 1, 50)
        guard case .done(let socket)? = try? listening.accept() else { continue }
        state.withLock { $0.openConnections += 1 }
        try? startThread {
          Self.serve(socket, state)
          socket.close()
          state.withLock { $0.openConnections -= 1 }
          state.notify()
        }
      }
      listening.close()
    }
  }

  deinit { state.withLock { $0.isStopped = true } }

  private static let pattern: [UInt8] = (0..<65_521).map {
    UInt8(truncatingIfNeeded: $0 &* 31 &+ $0 >> 8)
  }

  /// The bytes of an answer, which differ from place to place.
  static func answer(_ count: Int) -> [UInt8] {
    var bytes: [UInt8] = []
    while bytes.count < count { bytes += pattern.prefix(count - bytes.count) }
    return bytes
  }

  private static func serve(_ socket: Socket, _ state: Monitor<State>) {
    _ = fcntl(socket.descriptor, F_SETFL, 0)
    var question: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 4096)
    while question.count < 8, case .done(let count)? = try? socket.read(into: &buffer), count > 0 {
      question += buffer[..<count]
    }
    guard let count = Int(String(decoding: question.prefix(8), as: UTF8.self)) else {
      state.withLock { $0.received += question }
      return
    }
    var rest = answer(count)[...]
    while !rest.isEmpty {
      let sent = rest.withUnsafeBytes {
        send(socket.descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
      }
      guard sent > 0 else { return }
      rest = rest.dropFirst(sent)
    }
  }

  /// The question for this many bytes.
  static func question(_ count: Int) -> [UInt8] {
    let digits = String(count)
    return Array((String(repeating: "0", count: 8 - digits.count) + digits).utf8)
  }
}

extension ClientSocket {
  /// A client of a port of this machine.
  init(port: UInt16, timeoutMilliseconds: Int = 600_000) throws {
    try self.init(
      connectingTo: SocketAddress(host: "127.0.0.1", port: port),
      timeoutMilliseconds: timeoutMilliseconds)
  }

  /// All that comes until the end.
  func receiveAll() throws -> [UInt8] {
    var all: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 65_536)
    while case let count = try receive(into: &buffer), count > 0 { all += buffer[..<count] }
    return all
  }
}
