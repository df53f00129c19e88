/// A request as the application sees it: a head that passed all checks of the parser, and the body if it was
/// collected (RFC 9112 section 3, RFC 9110 section 6).
public struct Request: Sendable {
  /// How the message indicates the end of its body (RFC 9112 section 6).
  public enum BodyFraming: Sendable, Hashable {
    /// There is no body.
    case none
    /// This many bytes: `Content-Length`.
    case length(Int)
    /// `Transfer-Encoding: chunked`.
    case chunked
  }

  /// What the client expects before it sends the body (RFC 9110 section 10.1.1).
  public enum Expectation: Sendable, Hashable {
    case none
    /// `Expect: 100-continue`
    case `continue`
    /// Any other expectation, which is answered with 417.
    case unknown
  }

  /// The method.
  public let method: Method
  /// Path and query as they were sent, percent-encoded; starts with `/`, or is `*`.
  public let target: [UInt8]
  /// The end of the path in `target`.
  let pathEnd: Int
  /// The authority of the request: that of the target if it has absolute form, otherwise the `Host` field,
  /// which is empty if an HTTP/1.0 client sent none (RFC 9112 section 3.3).
  public let host: String
  /// The minor version: 0, or 1 for 1.1 and later.
  public let minorVersion: Int
  /// The header fields.
  public let fields: Fields
  /// How the body is framed.
  public let framing: BodyFraming
  /// Whether the client wants to keep the connection (RFC 9112 section 9.3).
  public let keepsAlive: Bool
  /// What the client expects before it sends the body.
  public let expectation: Expectation
  /// The client's `X-Request-Id`, if it is well formed.
  public let clientRequestID: String?
  /// The body, if it was collected.
  public var body: [UInt8] = []
  /// The fields after a chunked body; never merged into `fields` (RFC 9110 section 6.5.1).
  public var trailers = Fields()

  /// The raw path, still percent-encoded; starts with `/`, or is `*`.
  public var path: String { String(decoding: pathBytes, as: UTF8.self) }

  /// The raw query without its `?`, still percent-encoded; nil if there is no `?`.
  public var query: String? { queryBytes.map { String(decoding: $0, as: UTF8.self) } }

  /// The bytes of `path`.
  public var pathBytes: ArraySlice<UInt8> { target[..<pathEnd] }

  /// The bytes of `query`.
  public var queryBytes: ArraySlice<UInt8>? {
    pathEnd < target.count ? target[(pathEnd + 1)...] : nil
  }
}

extension Request {
  /// A request made by hand, for tests and for calls inside the process.
  public init(
    _ method: Method, path: String, query: String? = nil, host: String = "localhost",
    minorVersion: Int = 1, fields: Fields = Fields(), body: [UInt8] = [],
    trailers: Fields = Fields()
  ) {
    self.init(
      method: method, target: Array((query.map { path + "?" + $0 } ?? path).utf8),
      pathEnd: path.utf8.count, host: host, minorVersion: minorVersion, fields: fields,
      framing: body.isEmpty ? .none : .length(body.count), keepsAlive: minorVersion > 0,
      expectation: .none,
      clientRequestID: fields["X-Request-Id"].flatMap { RequestID.isWellFormed($0) ? $0 : nil },
      body: body, trailers: trailers)
  }
}

/// The rule for an `X-Request-Id` that a client chooses.
public enum RequestID {
  /// The maximum length of an id that is accepted.
  public static let maximumLength = 128

  /// Whether a client's id is well formed: 1 to 128 of `A-Z a-z 0-9 . _ ~ + / = @ -`.
  ///
  /// Any other id is replaced by the server's own, so that an id can be logged and echoed verbatim, and is a
  /// URI reference (RFC 3986 section 4.1, hence no colon), as a problem document requires (RFC 9457 section
  /// 3.1.5).
  public static func isWellFormed(_ id: some StringProtocol) -> Bool {
    let bytes = id.utf8
    guard !bytes.isEmpty, bytes.count <= maximumLength else { return false }
    return bytes.allSatisfy { byte in
      switch byte {
      case 0x30...0x39, 0x41...0x5A, 0x61...0x7A: true
      case UInt8(ascii: "."), UInt8(ascii: "_"), UInt8(ascii: "~"), UInt8(ascii: "+"): true
      case UInt8(ascii: "/"), UInt8(ascii: "="), UInt8(ascii: "@"): true
      case UInt8(ascii: "-"): true
      default: false
      }
    }
  }
}
