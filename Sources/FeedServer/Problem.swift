import HTTP
import JSON

/// A refusal as a client sees it: `application/problem+json`, RFC 9457.
struct Problem: Error, Sendable {
  /// Names the problem for programs; stable.
  enum Kind: String, CaseIterable, Sendable {
    case invalidParameter = "invalid-parameter"
    case invalidCursor = "invalid-cursor"
    case expiredCursor = "expired-cursor"
    case malformedRequest = "malformed-request"
    case unknownRoute = "unknown-route"
    case unknownFeed = "unknown-feed"
    case unknownItem = "unknown-item"
    case methodNotAllowed = "method-not-allowed"
    case preconditionFailed = "precondition-failed"
    case limitExceeded = "limit-exceeded"
    case timedOut = "timed-out"
    case notSupported = "not-supported"
    case overloaded = "overloaded"
    case notReady = "not-ready"
    case internalError = "internal-error"

    /// The `type` member: a name and not an address, so that it never breaks.
    var uri: String { "urn:lookahead:problem:" + rawValue }

    /// The `title` member.
    var title: String {
      switch self {
      case .invalidParameter: "A parameter is not valid"
      case .invalidCursor: "The cursor is damaged or of another feed"
      case .expiredCursor: "The cursor's ranking is no longer kept"
      case .malformedRequest: "The request is not well-formed HTTP"
      case .unknownRoute: "There is no such route"
      case .unknownFeed: "There is no such feed"
      case .unknownItem: "There is no such item"
      case .methodNotAllowed: "The route does not have this method"
      case .preconditionFailed: "A precondition does not hold"
      case .limitExceeded: "A limit of this server is exceeded"
      case .timedOut: "The request took too long"
      case .notSupported: "The server does not support this"
      case .overloaded: "The server has too much to do"
      case .notReady: "The server is not ready"
      case .internalError: "The server failed"
      }
    }
  }

  let kind: Kind
  let status: Status
  /// What is wrong with this very request.
  let detail: String
  /// The parameter that is at fault.
  var parameter: String?
  /// The methods that the route has, for 405.
  var allowed: [Method] = []

  /// After how many seconds to try again, for 429 and 503.
  private static let retryAfterSeconds = 1

  init(_ kind: Kind, _ status: Status, _ detail: String, parameter: String? = nil) {
    self.kind = kind
    self.status = status
    self.detail = detail
    self.parameter = parameter
  }

  /// The answer; `instance` is the request's id.
  func response(requestID: String) -> Response {
    var writer = JSONWriter()
    writer.object { writer in
      writer.member("type", kind.uri)
      writer.member("title", kind.title)
      writer.member("status", status.code)
      writer.member("detail", detail)
      writer.member("instance", requestID)
      writer.member("parameter", parameter)
    }
    var fields: Fields = [
      "Content-Type": "application/problem+json", "Cache-Control": "no-store",
      "X-Content-Type-Options": "nosniff",
    ]
    fields.appendCORS()
    if status == .methodNotAllowed {
      fields.append("Allow", allowed.map(\.rawValue).joined(separator: ", "))
    }
    if status == .serviceUnavailable || status == .tooManyRequests {
      fields.append("Retry-After", String(Self.retryAfterSeconds))
    }
    return Response(status, fields: fields, body: [writer.bytes])
  }
}

extension Fields {
  /// Read routes may be read from any page, with the fields that a client needs to page on.
  mutating func appendCORS() {
    append("Access-Control-Allow-Origin", "*")
    append("Access-Control-Expose-Headers", "ETag, Link, Retry-After, X-Request-Id")
  }
}
