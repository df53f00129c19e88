import Foundation
import PrefetchClient
import Sockets
import Synchronization
import System

/// A transport over the project's own sockets: plain HTTP/1.1, connections reused, no cache, no redirections.
/// The client alone decides what is sent and when; no platform interferes.
package final class SocketTransport: Transport {
  private let pool = ConnectionPool()
  private let workers: WorkerPool
  /// The port to which requests go instead of to their hosts: that of a link to the server.
  private let route: UInt16?
  private let arrived = Mutex(0)

  /// The number of bytes of bodies that have arrived, including those of requests cancelled meanwhile.
  package var arrivedBytes: Int { arrived.withLock { $0 } }

  /// Creates a transport that refuses more than `requests` requests at once.
  ///
  /// - Parameter port: the port of the loopback to which all requests go, whatever their host.
  package init(requests: Int = 32, throughPort port: UInt16? = nil) {
    workers = WorkerPool(threads: requests, limit: requests)
    route = port
  }

  /// Sends a request, and returns as soon as the head of the answer has arrived.
  package func answer(
    to request: TransportRequest
  ) async throws(TransportError) -> TransportAnswer {
    guard request.url.scheme?.lowercased() == "http", let host = request.url.host(),
      let port = UInt16(exactly: request.url.port ?? 80)
    else { throw .unreachable("\(request.url) is not an http URL") }
    let origin = route.map { Origin(host: "127.0.0.1", port: $0) } ?? Origin(host: host, port: port)
    let exchange = SocketExchange(request, to: host, port) { [weak self] bytes in
      self?.arrived.withLock { $0 += bytes }
    }
    let pipe = AnswerPipe(stop: { exchange.stop() }, resume: { exchange.resume() })
    let isTaken = workers.run { [pool, weak pipe] in
      exchange.run(on: origin, from: pool) { [weak pipe] in pipe }
    }
    guard isTaken else { throw .unreachable("too many requests at once") }
    return try await pipe.answer()
  }
}

/// The target of a connection.
struct Origin: Hashable, Sendable {
  let host: String
  let port: UInt16
}

/// Idle connections.
final class ConnectionPool: Sendable {
  private let idle = Monitor<[Origin: [ClientSocket]]>([:])

  /// The maximum number of idle connections for each host.
  private static let idleConnections = 8

  deinit { for socket in idle.withLock({ $0.values.flatMap(\.self) }) { socket.close() } }

  /// Takes the most recently used idle connection.
  func take(_ origin: Origin) -> ClientSocket? { idle.withLock { $0[origin]?.popLast() } }

  /// Adds an idle connection; if there are too many, closes the one that was idle longest.
  func give(_ socket: ClientSocket, _ origin: Origin) {
    let surplus = idle.withLock { idle -> ClientSocket? in
      idle[origin, default: []].append(socket)
      guard let waiting = idle[origin], waiting.count > Self.idleConnections else { return nil }
      return idle[origin]?.removeFirst()
    }
    surplus?.close()
  }
}
