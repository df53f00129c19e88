/// The reason why bytes of a file are not available.
public enum RangeStoreError: Error, Hashable, Sendable {
  /// Another store, in this process or another one, has the folder open.
  case folderInUse(String)
  /// A system call failed: its name, the path, and `errno`.
  case system(call: String, path: String, code: Int32)
  /// The server answered with this status.
  case status(Int, retryAfterMilliseconds: Int?)
  /// The server's file changed after bytes of it were handed out: start again.
  case changed
  /// The requested range starts after the file's end.
  case beyondEnd(fileBytes: Int?)
  /// The server's answer contradicts itself, or HTTP.
  case malformedAnswer(String)
  /// There was no answer, or it ended early, in all attempts.
  case transport(TransportError)
  /// The answer has no strong validator or no size, or there is no room: bytes can be passed through, but not
  /// kept.
  case notKept(String)
  /// The caller cancelled the request.
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
  /// Whether the same request may succeed later.
  var isTransient: Bool {
    switch self {
    case .transport(.unreachable), .transport(.cut), .transport(.timedOut): true
    case .status(let status, _): status == 408 || status == 429 || status >= 500
    default: false
    }
  }

  /// The delay that the server asks for before another request.
  var retryAfterMilliseconds: Int? {
    if case .status(_, let milliseconds) = self { milliseconds } else { nil }
  }
}

/// Limits of a range store.
public struct RangeStoreLimits: Hashable, Sendable {
  /// The maximum number of kept bytes, on disk or in memory.
  public var bytes = 268_435_456
  /// The maximum number of files with kept bytes.
  public var files = 1_000
  /// The maximum number of parallel transfers. Those that a reader waits for start beyond it.
  public var parallelTransfers = 4
  /// The maximum number of bytes in one request.
  public var requestBytes = 4_194_304
  /// The number of first bytes to fetch with the size of an unknown file: most likely its whole head.
  public var probeBytes = 65_536
  /// The maximum number of bytes that a transfer brings before a reader's byte, for the reader to join it.
  /// Otherwise a new transfer takes over from the reader's byte on.
  public var joinBytes = 262_144
  /// The maximum number of bytes handed to a reader at once.
  public var readBytes = 262_144
  /// The maximum number of retries of a request that brings nothing, before its reader gets the error.
  public var retries = 4
  /// The delay before the first retry; it doubles with each further one, up to `longestRetryMilliseconds`.
  public var retryMilliseconds = 200
  /// The maximum delay. If the server asks for a longer one, the reader gets the error at once.
  public var longestRetryMilliseconds = 10_000
  /// The maximum wait for the head of an answer, and for more of its body.
  public var timeoutMilliseconds = 20_000

  /// Creates the default limits.
  public init() {}
}
