import Feed

/// The reason why a page could not be loaded.
public enum FeedSessionError: Error, Hashable, Sendable {
  /// The server answered with this status, and maybe a problem type (RFC 9457) and a delay.
  case status(Int, problem: String?, retryAfterMilliseconds: Int?)
  /// The answer is not a valid page; the error names the field.
  case malformed(RecordError)
  /// The page has more bytes than this limit.
  case tooLong(limitBytes: Int)
  /// There was no answer, or it ended early.
  case transport(TransportError)
  /// No page is loaded yet: call `refresh` before asking for pages above or below.
  case notBegun
}

extension FeedSessionError: CustomStringConvertible {
  /// For example `the server answered 404 (urn:lookahead:problem:unknown-feed)`.
  public var description: String {
    switch self {
    case .status(let status, let problem, let milliseconds):
      "the server answered \(status)" + (problem.map { " (\($0))" } ?? "")
        + (milliseconds.map { ", retry after \($0) ms" } ?? "")
    case .malformed(let error): "the answer is not a page: \(error)"
    case .tooLong(let limit): "the page has more than \(limit) bytes"
    case .transport(let error): "\(error)"
    case .notBegun: "no page is loaded yet: call refresh first"
    }
  }
}

extension FeedSessionError {
  /// Whether the same request may succeed later.
  public var isTransient: Bool {
    switch self {
    case .transport(.unreachable), .transport(.cut), .transport(.timedOut): true
    case .status(let status, _, _): status == 408 || status == 429 || status >= 500
    default: false
    }
  }

  /// The delay that the server asks for before another request.
  public var retryAfterMilliseconds: Int? {
    if case .status(_, _, let milliseconds) = self { milliseconds } else { nil }
  }
}
