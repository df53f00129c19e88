import HTTP

/// A request that came and the answer that it waits for.
struct Exchange {
  /// Who has to do something about the answer.
  enum Answer {
    /// The client: the request is not complete, and the application does not know of it.
    case unasked
    /// The application has the request, and its body is on its way.
    case streaming
    /// The application has all of it, since then.
    case owed(sinceMilliseconds: UInt64)
    /// The server answers it with this error.
    indirect case refused(ProtocolError)
    /// The application was asked for the error's text, which it gives at once.
    case explained
    /// It is there: the exchange's `response`.
    case ready

    var isReady: Bool { if case .ready = self { true } else { false } }
    var isExplained: Bool { if case .explained = self { true } else { false } }

    /// Whether the application has to give it.
    var isApplications: Bool {
      switch self {
      case .streaming, .owed: true
      case .unasked, .refused, .explained, .ready: false
      }
    }
  }

  let requestID: String
  /// Whether the answer goes without its body.
  let isHead: Bool
  /// Whether its client speaks HTTP/1.0: the answer confirms that the connection is kept, and none goes before it.
  let isOfOldVersion: Bool
  /// Whether its method may change something: what was sent behind it waits for its answer, which it
  /// may depend on (RFC 9112 section 9.3.2).
  let isUnsafe: Bool
  /// Whether the connection goes on after the answer.
  var keepsAlive: Bool
  var answer = Answer.unasked
  /// The answer itself, once it is there. Not in `answer`, which is looked at and changed often and would be copied with
  /// all of it.
  var response: Response?
  /// For the log and the figures: what was asked for, and when its head was complete.
  var method: Method?
  var target: [UInt8] = []
  var pathEnd = 0
  let startNanoseconds: UInt64
  var forwardedFor: String?
  /// How much memory its answer holds, once it is there, and whether that holds a file open.
  var heldBytes = 0
  var holdsFile = false
}

extension Exchange {
  /// The error that it is to be answered with; it is asked for now.
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

  /// The exchange of a message that is refused before its head is complete, whatever is known of it.
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
