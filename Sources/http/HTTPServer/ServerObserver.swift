import HTTP
import Sockets

/// Observes what a server does, for the log and the figures. Called on the event loops' threads, so it must
/// be as quick as a handler.
public protocol ServerObserver: Sendable {
  /// Called when an answer has left, as far as it will.
  func finished(_ request: FinishedRequest)
  /// Called when something happened to a connection itself.
  func noted(_ event: ServerEvent)
}

/// An event of a connection itself.
public enum ServerEvent: String, Sendable, Hashable, CaseIterable {
  /// A connection was accepted and is served.
  case accepted
  /// A connection was accepted only to be refused, since all places are taken.
  case refused
  /// A connection was cut because its client read too little of an answer. (Slow requests are answered with
  /// 408, and are among the finished ones.)
  case cutOff
  /// Accepting pauses, since descriptors have run out.
  case acceptPaused
}

/// A request that was answered, or refused.
public struct FinishedRequest: Sendable {
  let request: RequestSummary
  /// The route that answered: `Response.route`.
  public let route: String
  /// The user who sent the request: `Response.user`.
  public let user: String
  /// The status.
  public let status: Status
  /// The number of bytes of head and body that were passed to the system; fewer than the answer has if the
  /// client disconnected.
  public internal(set) var bytes = 0
  /// The time from the head's last byte to the answer's, in microseconds of the monotonic clock.
  public internal(set) var microseconds = 0
  /// The address of the peer.
  public internal(set) var peer: IPAddress?

  /// The method; nil if the request was refused before it was known.
  public var method: Method? { request.method }
  /// Path and query as they were sent; empty if the request was refused before they were known.
  public var target: [UInt8] { request.target }
  /// The end of the path in `target`.
  public var pathEnd: Int { request.pathEnd }
  /// Its `X-Request-Id`.
  public var requestID: String { request.requestID }
  /// The client's address according to proxies, if they are trusted.
  public var forwardedFor: String? { request.forwardedFor }
  /// The raw path.
  public var path: String { String(decoding: target[..<pathEnd], as: UTF8.self) }
}
