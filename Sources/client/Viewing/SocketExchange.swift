import Foundation
import Glibc
import PrefetchClient
import Sockets
import System

/// One request and its answer, on a blocking thread.
final class SocketExchange: Sendable {
  private struct State {
    var socket: ClientSocket?
    var isStopped = false
    var isResting = false
  }

  private let state = Monitor(State())
  private let head: [UInt8]
  private let timeoutMilliseconds: Int
  /// Called with the number of bytes of the body as they arrive, also if they are dropped.
  private let arrived: @Sendable (Int) -> Void

  /// The maximum number of bytes of one read.
  private static let bufferBytes = 65_536

  init(
    _ request: TransportRequest, to host: String, _ port: UInt16,
    arrived: @escaping @Sendable (Int) -> Void
  ) {
    self.arrived = arrived
    let shown = host.contains(":") ? "[\(host)]" : host
    let path = request.url.path(percentEncoded: true)
    let query = request.url.query(percentEncoded: true).map { "?" + $0 } ?? ""
    var lines = [
      "\(request.content == nil ? "GET" : "POST") \(path.isEmpty ? "/" : path)\(query) HTTP/1.1",
      "Host: \(shown):\(port)",
      "User-Agent: lookahead-browse",
    ]
    // A field with a line break is not sent: it could begin another line.
    lines += request.fields.filter { !($0.name + $0.value).contains(where: \.isNewline) }
      .map { "\($0.name): \($0.value)" }
    if let content = request.content {
      lines += ["Content-Type: \(content.type)", "Content-Length: \(content.bytes.count)"]
    }
    head =
      Array((lines + ["", ""]).joined(separator: "\r\n").utf8) + (request.content?.bytes ?? [])
    timeoutMilliseconds = request.timeoutMilliseconds
  }

  // MARK: The asking side

  func stop() {
    // Under the lock: `socket` is cleared before the connection is closed or given to another exchange.
    state.withLock { state in
      state.isStopped = true
      state.socket?.abandon()
    }
    state.notify()
  }

  func resume() {
    state.withLock { $0.isResting = false }
    state.notify()
  }

  // MARK: The thread

  func run(on origin: Origin, from pool: ConnectionPool, into pipe: () -> AnswerPipe?) {
    do throws(TransportError) {
      // The server may have closed an idle connection meanwhile.
      if let waiting = pool.take(origin),
        try exchange(on: waiting, origin, pool, pipe, isNew: false)
      {
        return
      }
      let socket: ClientSocket
      do throws(SystemError) {
        socket = try ClientSocket(
          connectingTo: SocketAddress(host: origin.host, port: origin.port),
          timeoutMilliseconds: timeoutMilliseconds)
      } catch {
        throw .unreachable("\(error)")
      }
      _ = try exchange(on: socket, origin, pool, pipe, isNew: true)
    } catch {
      pipe()?.finish(error)
    }
  }

  /// - Returns: false if the connection was closed before any byte of an answer arrived.
  private func exchange(
    on socket: ClientSocket, _ origin: Origin, _ pool: ConnectionPool, _ pipe: () -> AnswerPipe?,
    isNew: Bool
  ) throws(TransportError) -> Bool {
    let isStopped = state.withLock { state in
      state.socket = socket
      return state.isStopped
    }
    var isGiven = false
    defer {
      state.withLock { $0.socket = nil }
      if !isGiven { socket.close() }
    }
    if isStopped { throw .cancelled }
    var reader = AnswerReader()
    var buffer = [UInt8](repeating: 0, count: Self.bufferBytes)
    var hasBegun = false
    do throws(SystemError) {
      try socket.renewed(timeoutMilliseconds: timeoutMilliseconds).send(head)
    } catch {
      if isNew { throw cause(error) }
      return false
    }
    while true {
      while let event = try reader.next() {
        switch event {
        case .head(let head): pipe()?.receive(head)
        case .body(let bytes):
          arrived(bytes.count)
          try deliver(bytes, pipe)
        case .end(let isKept):
          // A stopped connection is shut down, and useless to others.
          isGiven = state.withLock { state in
            state.socket = nil
            return isKept && !state.isStopped
          }
          // Before the caller learns of the end, because it may send another request at once.
          if isGiven { pool.give(socket, origin) }
          pipe()?.finish(nil)
          return true
        }
      }
      let count: Int
      do throws(SystemError) {
        count = try socket.renewed(timeoutMilliseconds: timeoutMilliseconds).receive(into: &buffer)
      } catch {
        if !isNew, !hasBegun, !state.withLock({ $0.isStopped }) { return false }
        throw cause(error)
      }
      if count == 0 {
        if !isNew, !hasBegun { return false }
        guard case .end = try reader.close() else { return true }
        pipe()?.finish(nil)
        return true
      }
      hasBegun = true
      reader.append(buffer[..<count])
    }
  }

  private func deliver(_ bytes: [UInt8], _ pipe: () -> AnswerPipe?) throws(TransportError) {
    guard let receiver = pipe() else { throw .cancelled }
    state.withLock { $0.isResting = true }
    guard receiver.receive(bytes) else { return }
    // The application does not read: the peer waits, too, as soon as the buffers between them are full.
    state.wait { $0.isResting && !$0.isStopped ? nil : () }
  }

  private func cause(_ error: SystemError) -> TransportError {
    if state.withLock({ $0.isStopped }) { return .cancelled }
    return error.code == ETIMEDOUT ? .timedOut : .cut("\(error)")
  }
}
