import HTTP

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

  let requestID: String
  /// Whether the answer is sent without its body.
  let isHead: Bool
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
  /// For the log and the figures: the request, and when its head was complete.
  var method: Method?
  var target: [UInt8] = []
  var pathEnd = 0
  let startNanoseconds: UInt64
  var forwardedFor: String?
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

  /// The exchange of a request whose head is complete.
  init(of request: borrowing Request, _ around: inout Surroundings) {
    requestID = request.clientRequestID ?? around.requestIDs.next()
    isHead = request.method == .head
    isOfOldVersion = request.minorVersion == 0
    isUnsafe = !request.method.isSafe
    keepsAlive = request.keepsAlive
    startNanoseconds = around.nowNanoseconds
    guard around.isObserved else { return }
    method = request.method
    target = request.target
    pathEnd = request.pathBytes.endIndex
    forwardedFor = request.fields.combined("X-Forwarded-For")
  }

  /// The exchange of a message that is refused before its head is complete, however much of it is known.
  init(ofRefused known: RequestParser.KnownHead?, _ around: inout Surroundings) {
    requestID = known?.requestID ?? around.requestIDs.next()
    isHead = known?.method == .head
    isOfOldVersion = false
    isUnsafe = false
    keepsAlive = false
    startNanoseconds = around.nowNanoseconds
    method = known?.method
    target = known?.target ?? []
    pathEnd = known?.pathEnd ?? 0
  }
}
