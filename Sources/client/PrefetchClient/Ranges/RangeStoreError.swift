/// Why bytes of a file are not there.
public enum RangeStoreError: Error, Hashable, Sendable {
  /// Another store, of this process or another one, has the folder open.
  case folderInUse(String)
  /// A call of the system failed: what was called, on which path, with which `errno`.
  case system(call: String, path: String, code: Int32)
  /// The server answers with this status.
  case status(Int, retryAfterMilliseconds: Int?)
  /// The server's file is another one than that of which bytes were handed out already: begin anew.
  case changed
  /// What was asked for begins behind the file's end.
  case beyondEnd(fileBytes: Int?)
  /// The server contradicts itself, or HTTP.
  case malformedAnswer(String)
  /// There is no answer, or it ended early, as often as was tried.
  case transport(TransportError)
  /// The server says neither which version of the file it has nor how large it is, or there is no room:
  /// bytes can be handed through, and none are kept.
  case notKept(String)
  /// Whoever asked does not want it any more.
  case cancelled
}

extension RangeStoreError: CustomStringConvertible {
  /// For example `the file was changed while it was read`.
  public var description: String {
    switch self {
    case .folderInUse(let path): "another store has \(path) open"
    case .system(let call, let path, let code): "\(path): \(call) failed (errno \(code))"
    case .status(let status, _): "the server answered \(status)"
    case .changed: "the file was changed while it was read"
    case .beyondEnd(let bytes):
      "the range starts after the end of the file" + (bytes.map { ", byte \($0)" } ?? "")
    case .malformedAnswer(let what): "the answer contradicts itself: \(what)"
    case .transport(let error): "\(error)"
    case .notKept(let why): "it is not stored: \(why)"
    case .cancelled: "it was cancelled"
    }
  }
}

extension RangeStoreError {
  /// Whether the same request may go better in a while.
  var isTransient: Bool {
    switch self {
    case .transport(.unreachable), .transport(.cut), .transport(.timedOut): true
    case .status(let status, _): status == 408 || status == 429 || status >= 500
    default: false
    }
  }

  /// How long the server wants to be left alone.
  var retryAfterMilliseconds: Int? {
    if case .status(_, let milliseconds) = self { milliseconds } else { nil }
  }
}

/// What a range store may take, and how patient it is.
public struct RangeStoreLimits: Hashable, Sendable {
  /// Bytes that are kept, on disk or in memory.
  public var bytes = 268_435_456
  /// Files of which bytes are kept.
  public var files = 1_000
  /// Transfers ahead of the person that are under way at once; those that a reader waits for come on top.
  public var parallelTransfers = 4
  /// What one request asks for at the most.
  public var requestBytes = 4_194_304
  /// What the first look at a file asks for: its head, most likely, of which a player wants to know the size.
  public var probeBytes = 65_536
  /// A reader joins a transfer that will have brought its byte after this many others; of one that is farther
  /// behind it takes over the rest.
  public var joinBytes = 262_144
  /// What a reader is handed at once.
  public var readBytes = 262_144
  /// How often a request that brought nothing is made again before its reader is told.
  public var retries = 4
  /// The wait before the first time; doubled each time, up to `longestRetryMilliseconds`.
  public var retryMilliseconds = 200
  /// No wait is longer; where the server asks for a longer one, the reader is told at once.
  public var longestRetryMilliseconds = 10_000
  /// How long to wait for the head of an answer, and for more of its body.
  public var timeoutMilliseconds = 20_000

  /// The usual limits.
  public init() {}
}
