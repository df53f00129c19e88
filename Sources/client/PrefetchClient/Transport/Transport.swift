import Foundation

/// Sends requests: URLSession in an app (`URLSessionTransport` of the module `PrefetchURLSession`), sockets
/// in the viewer, a link in memory in the lab.
public protocol Transport: Sendable {
  /// Sends a request, and returns as soon as the head of the answer has arrived. The request is a GET unless
  /// it has content. Cancelling the task cancels the request.
  ///
  /// The transport may follow redirections. It must not answer from a cache if the request bypasses caches or
  /// asks for a range, and must not undo a content coding that it did not request itself.
  ///
  /// - Throws: `TransportError` if there is no answer.
  func answer(to request: TransportRequest) async throws(TransportError) -> TransportAnswer
}

/// A GET request, or a POST request with content.
public struct TransportRequest: Sendable {
  /// The URL.
  public var url: URL
  /// The fields that matter. The transport adds those that it always sends.
  public var fields: [(name: String, value: String)]
  /// Whether the request bypasses all caches: `Cache-Control: no-cache` is among the fields, and the
  /// transport does not use its own cache.
  public var bypassesCaches: Bool
  /// The maximum wait for the head, and for more of the body.
  public var timeoutMilliseconds: Int
  /// The content. With content, the request is a POST, which is sent once.
  public var content: TransportContent?

  /// Creates a GET request.
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

/// The content of a POST request.
public struct TransportContent: Hashable, Sendable {
  /// The media type.
  public let type: String
  /// The bytes.
  public let bytes: [UInt8]

  /// Creates content of this type.
  public init(type: String, bytes: [UInt8]) {
    self.type = type
    self.bytes = bytes
  }
}

/// The head of an answer, and its body as it arrives.
public struct TransportAnswer: Sendable {
  /// The status code.
  public let status: Int
  /// The fields of the head.
  public let fields: TransportFields
  /// The body. If it is released before its end, the request is cancelled.
  public let body: any TransportBody

  /// Creates an answer.
  public init(status: Int, fields: TransportFields, body: any TransportBody) {
    self.status = status
    self.fields = fields
    self.body = body
  }
}

/// A body as it arrives. Implementations cancel the request when the last reference is released.
public protocol TransportBody: AnyObject, Sendable {
  /// The next bytes, each handed out once; `nil` after the last. Only one task may call it at a time.
  ///
  /// - Throws: `TransportError`; `.cut` if the connection ended before the body.
  func next() async throws(TransportError) -> [UInt8]?
  /// Cancels the rest of the body.
  func cancel()
}

/// The reason why there is no answer, or no more of it.
public enum TransportError: Error, Hashable, Sendable {
  /// The server was not reached: no network, an unknown host, a refused connection.
  case unreachable(String)
  /// The connection ended, or broke, before the answer did.
  case cut(String)
  /// No data arrived within the time limit.
  case timedOut
  /// The caller cancelled the request.
  case cancelled
  /// The answer is not HTTP, or exceeds a limit.
  case malformed(String)
}

extension TransportError: CustomStringConvertible {
  /// For example `timed out: no data was received`.
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

  /// Creates fields. A name may occur several times, in any case.
  public init(_ fields: [(name: String, value: String)]) {
    values = Dictionary(grouping: fields) { $0.name.lowercased() }
      .mapValues { $0.map { $0.value.trimmingCharacters(in: .whitespaces) } }
  }

  /// The value of the field with this name in lower case; several values are joined by commas (RFC 9110
  /// section 5.3).
  public subscript(name: String) -> String? { values[name]?.joined(separator: ", ") }
}
