import Foundation
import PrefetchClient
import Sockets
import Synchronization
import System

/// Requests over our own sockets: plain HTTP/1.1, connections kept for the next request, no cache, no
/// redirections. What it sends and when is what the client says, with nothing of a platform between.
package final class SocketTransport: Transport {
  private let pool = ConnectionPool()
  private let workers: WorkerPool
  /// Where requests go instead of to their hosts: a link that leads there.
  private let route: UInt16?
  private let arrived = Mutex(0)

  /// Bytes of answers' bodies that have arrived, of requests that were cancelled meanwhile, too.
  package var arrivedBytes: Int { arrived.withLock { $0 } }

  /// A transport; requests that are under way at once beyond `requests` are refused.
  ///
  /// - Parameter port: the port of the loopback to which all requests go, whatever their host.
  package init(requests: Int = 32, throughPort port: UInt16? = nil) {
    workers = WorkerPool(threads: requests, limit: requests)
    route = port
  }

  /// Sends a request and returns as soon as the head of the answer is there.
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

/// Where connections go.
struct Origin: Hashable, Sendable {
  let host: String
  let port: UInt16
}

/// Connections that wait for the next request.
final class ConnectionPool: Sendable {
  private let idle = Monitor<[Origin: [ClientSocket]]>([:])

  /// The most idle connections that are kept for each host.
  private static let idleConnections = 8

  deinit { for socket in idle.withLock({ $0.values.flatMap(\.self) }) { socket.close() } }

  /// One that waits, the one that was used last.
  func take(_ origin: Origin) -> ClientSocket? { idle.withLock { $0[origin]?.popLast() } }

  /// It waits, or is closed where enough do.
  func give(_ socket: ClientSocket, _ origin: Origin) {
    let surplus = idle.withLock { idle -> ClientSocket? in
      idle[origin, default: []].append(socket)
      guard let waiting = idle[origin], waiting.count > Self.idleConnections else { return nil }
      return idle[origin]?.removeFirst()
    }
    surplus?.close()
  }
}
