import HTTP

/// What an exchange knows of its request, which stays as it is. Shared by reference, since exchanges and the
/// reports of them are passed on several times.
final class RequestSummary: Sendable {
  /// The method; nil if the request was refused before it was known.
  let method: Method?
  /// Path and query as they were sent; empty if the request was refused before they were known.
  let target: [UInt8]
  /// The end of the path in `target`.
  let pathEnd: Int
  let requestID: String
  /// The client's address according to proxies, if there is an observer.
  let forwardedFor: String?
  /// When its head was complete.
  let startNanoseconds: UInt64

  init(
    method: Method?, target: [UInt8], pathEnd: Int, requestID: String, forwardedFor: String?,
    startNanoseconds: UInt64
  ) {
    self.method = method
    self.target = target
    self.pathEnd = pathEnd
    self.requestID = requestID
    self.forwardedFor = forwardedFor
    self.startNanoseconds = startNanoseconds
  }
}

/// A request, and the answer that it waits for.
struct Exchange {
  /// The state of an answer: who has to act next.
  enum Answer {
    /// The client: the request is not complete, and the application does not know of it.
    case unasked
    /// The application has the request, and its body is on its way.
    case streaming
    /// The application has the complete request, since this time.
    case owed(sinceMilliseconds: UInt64)
    /// The server answers it with this error.
    indirect case refused(ProtocolError)
    /// The application was asked for the error's text, which it gives at once.
    case explained
    /// The answer is there: the exchange's `response`.
    case ready

    var isReady: Bool { if case .ready = self { true } else { false } }
    var isExplained: Bool { if case .explained = self { true } else { false } }

    /// Whether the application has to provide it.
    var isApplications: Bool {
      switch self {
      case .streaming, .owed: true
      case .unasked, .refused, .explained, .ready: false
      }
    }
  }

  let request: RequestSummary
  /// Whether its client speaks HTTP/1.0: the answer confirms that the connection is kept, and no interim
  /// answer comes before it.
  let isOfOldVersion: Bool
  /// Whether its method may change something: requests behind it wait for its answer, as they may depend on
  /// it (RFC 9112 section 9.3.2).
  let isUnsafe: Bool
  /// Whether the connection continues after the answer.
  var keepsAlive: Bool
  var answer = Answer.unasked
  /// The answer itself, once it is there. It is not in `answer`, which is read and changed often and would be
  /// copied with it.
  var response: Response?
  /// The memory that its answer holds, once it is there, and whether the answer holds a file open.
  var heldBytes = 0
  var holdsFile = false
}

extension Exchange {
  /// Takes the error with which the request is refused; its text is requested now.
  mutating func takeRefusal() -> ProtocolError? {
    guard case .refused(let error) = answer else { return nil }
    answer = .explained
    return error
  }

  /// Whether the answer is sent without its body.
  var isHead: Bool { request.method == .head }

  /// The exchange of a request whose head is complete.
  init(of request: borrowing Request, _ around: inout Surroundings) {
    self.request = RequestSummary(
      method: request.method, target: request.target, pathEnd: request.pathBytes.endIndex,
      requestID: request.clientRequestID ?? around.requestIDs.next(),
      forwardedFor: around.isObserved ? request.fields.combined("X-Forwarded-For") : nil,
      startNanoseconds: around.nowNanoseconds)
    isOfOldVersion = request.minorVersion == 0
    isUnsafe = !request.method.isSafe
    keepsAlive = request.keepsAlive
  }

  /// The exchange of a message that is refused before its head is complete, however much of it is known.
  init(ofRefused known: RequestParser.KnownHead?, _ around: inout Surroundings) {
    request = RequestSummary(
      method: known?.method, target: known?.target ?? [], pathEnd: known?.pathEnd ?? 0,
      requestID: known?.requestID ?? around.requestIDs.next(), forwardedFor: nil,
      startNanoseconds: around.nowNanoseconds)
    isOfOldVersion = false
    isUnsafe = false
    keepsAlive = false
  }
}
