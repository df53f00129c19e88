import Feed

/// Why a page is not there.
public enum FeedSessionError: Error, Hashable, Sendable {
  /// The server answers with this status, and names the problem (RFC 9457).
  case status(Int, problem: String?, retryAfterMilliseconds: Int?)
  /// What came is no page; the error names the field.
  case malformed(RecordError)
  /// A page has more bytes than that.
  case tooLong(limitBytes: Int)
  /// There is no answer, or it ended early.
  case transport(TransportError)
  /// Nothing is held below or above which a page could lie: `refresh` comes first.
  case notBegun
}

extension FeedSessionError: CustomStringConvertible {
  /// For example `the server answers 404 (urn:lookahead:problem:unknown-feed)`.
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
  /// Whether the same request may go better in a while.
  public var isTransient: Bool {
    switch self {
    case .transport(.unreachable), .transport(.cut), .transport(.timedOut): true
    case .status(let status, _, _): status == 408 || status == 429 || status >= 500
    default: false
    }
  }

  /// How long the server wants to be left alone.
  public var retryAfterMilliseconds: Int? {
    if case .status(_, _, let milliseconds) = self { milliseconds } else { nil }
  }
}
