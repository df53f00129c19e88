import HTTP
import Sockets
import Synchronization

/// Accepts the answer to one request; may be kept and used on any thread.
///
/// If it is released without an answer, the request is answered with `ProtocolError.unanswered`, so that no
/// connection hangs because of a mistake.
public final class Responder: Sendable {
  /// The client's `X-Request-Id` if it is well formed, otherwise one that the server has made. The response
  /// contains it.
  public let requestID: String
  /// The body as it arrives, if the body policy is `.stream`.
  public let body: BodyStream?
  /// The address of the peer; nil if the connection was closed before the address could be read.
  public let peer: IPAddress?

  private enum Destination: Sendable {
    case connection(Connection, exchange: UInt64)
    case closure(@Sendable (Response) -> Void)
  }

  private let destination: Destination
  private let isAnswered = Atomic<Bool>(false)

  init(_ connection: Connection, exchange: UInt64, requestID: String, body: BodyStream? = nil) {
    destination = .connection(connection, exchange: exchange)
    self.requestID = requestID
    self.body = body
    peer = connection.peer
  }

  /// A responder without a connection, to call a handler inside the process; `receive` gets the answer.
  public init(
    requestID: String, peer: IPAddress? = nil, receive: @escaping @Sendable (Response) -> Void
  ) {
    destination = .closure(receive)
    self.requestID = requestID
    self.peer = peer
    body = nil
  }

  /// The server's own address that the client reached; nil if there is none. It is available only on the
  /// thread that handed the request over, which is that of the connection's event loop.
  public var localAddress: IPAddress? {
    guard case .connection(let connection, _) = destination, connection.loop.isCurrent else {
      return nil
    }
    return connection.localAddress
  }

  /// Sends an interim answer (RFC 9110 section 15.2), with a status 1xx, before the answer. It is dropped for
  /// a client of HTTP/1.0, after the answer, before the answer to an earlier request, and if the client does
  /// not read.
  public func inform(_ status: Status, _ fields: Fields) {
    guard case .connection(let connection, let exchange) = destination else { return }
    let head = ResponseHead.interim(status, fields)
    connection.loop.execute { connection.inform(exchange, head) }
  }

  /// Answers the request. A second call does nothing.
  public func respond(_ response: consuming Response) {
    guard !isAnswered.exchange(true, ordering: .relaxed) else { return }
    switch destination {
    case .closure(let receive):
      receive(response)
    case .connection(let connection, let exchange) where connection.loop.isCurrent:
      connection.answer(exchange, response)
    case .connection(let connection, let exchange):
      let response = response
      connection.loop.execute { connection.answer(exchange, response) }
    }
  }

  deinit {
    guard !isAnswered.load(ordering: .relaxed),
      case .connection(let connection, let exchange) = destination
    else { return }
    // Never synchronously: the connection may be in the middle of handing this request over.
    connection.loop.execute { connection.fail(exchange, .unanswered) }
  }
}
