import Foundation

/// What sends requests: URLSession in an app (`URLSessionTransport` of the module `PrefetchURLSession`),
/// sockets in the viewer, a link in memory in the lab.
public protocol Transport: Sendable {
  /// Sends a request, a GET unless it has content, and returns as soon as the head of the answer is there. Cancelling the task cancels the
  /// request.
  ///
  /// Redirections may be followed; nothing is answered from a cache where the request bypasses caches or asks
  /// for a range; no content coding is undone unless the transport asked for it itself.
  ///
  /// - Throws: `TransportError` where there is no answer.
  func answer(to request: TransportRequest) async throws(TransportError) -> TransportAnswer
}

/// A GET, or a POST of some content.
public struct TransportRequest: Sendable {
  /// What is asked for.
  public var url: URL
  /// The fields that matter; what a transport always sends comes along.
  public var fields: [(name: String, value: String)]
  /// No cache on the way may answer: `Cache-Control: no-cache` is among the fields, and the transport's own
  /// cache is passed over.
  public var bypassesCaches: Bool
  /// The wait for the head, and for more of the body, may be so long.
  public var timeoutMilliseconds: Int
  /// What is sent; with it the request is a POST, which is sent once.
  public var content: TransportContent?

  /// A GET of this URL.
  public init(
    _ url: URL, fields: [(name: String, value: String)] = [], bypassesCaches: Bool = false,
    timeoutMilliseconds: Int = 30_000
  ) {
    self.url = url
    self.fields = fields
    self.bypassesCaches = bypassesCaches
    self.timeoutMilliseconds = timeoutMilliseconds
  }
}

/// What a POST sends.
public struct TransportContent: Hashable, Sendable {
  /// The media type.
  public let type: String
  /// The bytes.
  public let bytes: [UInt8]

  /// Content of this type.
  public init(type: String, bytes: [UInt8]) {
    self.type = type
    self.bytes = bytes
  }
}

/// The head of an answer, and its body as it comes.
public struct TransportAnswer: Sendable {
  /// The status code.
  public let status: Int
  /// The fields of the head.
  public let fields: TransportFields
  /// The body; let go of before its end, it is cancelled.
  public let body: any TransportBody

  /// An answer of these parts.
  public init(status: Int, fields: TransportFields, body: any TransportBody) {
    self.status = status
    self.fields = fields
    self.body = body
  }
}

/// A body as it comes. Whoever implements it cancels the request when the last reference goes.
public protocol TransportBody: AnyObject, Sendable {
  /// The next bytes, none of them handed out before; `nil` behind the last. Only one task asks at a time.
  ///
  /// - Throws: `TransportError`; `.cut` where the connection ended before the body did.
  func next() async throws(TransportError) -> [UInt8]?
  /// The rest is not wanted.
  func cancel()
}

/// Why there is no answer, or no more of it.
public enum TransportError: Error, Hashable, Sendable {
  /// Nothing is reached: no network, no such host, refused.
  case unreachable(String)
  /// The connection ended, or broke, before the answer did.
  case cut(String)
  /// Nothing came for too long.
  case timedOut
  /// Whoever asked does not want it any more.
  case cancelled
  /// What came is not HTTP, or more than is read.
  case malformed(String)
}

extension TransportError: CustomStringConvertible {
  /// For example `nothing came for too long`.
  public var description: String {
    switch self {
    case .unreachable(let why): "the server cannot be reached: \(why)"
    case .cut(let why): "the connection was closed early: \(why)"
    case .timedOut: "timed out: no data was received"
    case .cancelled: "it was cancelled"
    case .malformed(let what): "the answer is not HTTP: \(what)"
    }
  }
}

/// The fields of an answer's head.
public struct TransportFields: Sendable {
  private let values: [String: [String]]

  /// These fields; a name may come several times, in any case.
  public init(_ fields: [(name: String, value: String)]) {
    values = Dictionary(grouping: fields) { $0.name.lowercased() }
      .mapValues { $0.map { $0.value.trimmingCharacters(in: .whitespaces) } }
  }

  /// The value of the field of this name, in lower case: of several, joined by commas (RFC 9110 section 5.3).
  public subscript(name: String) -> String? { values[name]?.joined(separator: ", ") }
}
