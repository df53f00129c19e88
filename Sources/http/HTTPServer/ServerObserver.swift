import HTTP
import Sockets

/// Hears what a server does, for the log and the figures. Called on the event loops' threads, so it
/// must be as quick as a handler.
public protocol ServerObserver: Sendable {
  /// An answer has left as far as it will.
  func finished(_ request: FinishedRequest)
  /// Something happened to connections as such.
  func noted(_ event: ServerEvent)
}

/// What happens to connections as such.
public enum ServerEvent: String, Sendable, Hashable, CaseIterable {
  /// A connection was accepted and is served.
  case accepted
  /// A connection was accepted only to be refused: all places are taken.
  case refused
  /// A connection was cut because its client took too little of an answer. (Slow requests are answered
  /// with 408, and are among the finished ones.)
  case cutOff
  /// Accepting pauses: descriptors have run out.
  case acceptPaused
}

/// A request that was answered, or refused.
public struct FinishedRequest: Sendable {
  /// The method; nil where the request was refused before it was known.
  public let method: Method?
  /// Path and query as they were sent; empty where the request was refused before they were known.
  public let target: [UInt8]
  /// Where the path ends in `target`.
  public let pathEnd: Int
  /// What answered: `Response.route`.
  public let route: String
  /// Who asked: `Response.user`.
  public let user: String
  /// The status.
  public let status: Status
  /// How many bytes of head and body were handed to the system, which is less than the answer has
  /// where the client went away.
  public internal(set) var bytes: Int
  /// From the head's last byte to the answer's, in microseconds of the monotonic clock.
  public internal(set) var microseconds: Int
  /// Its `X-Request-Id`.
  public let requestID: String
  /// The address at the other end of the connection.
  public internal(set) var peer: IPAddress?
  /// What proxies say of the client's address, if they are trusted.
  public let forwardedFor: String?

  /// The raw path.
  public var path: String { String(decoding: target[..<pathEnd], as: UTF8.self) }
}
