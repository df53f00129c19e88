import HTTP

/// What a parser made of bytes, every place an offset in all of them: the same however they were
/// cut.
struct ParserTranscript: Equatable {
  struct Message: Equatable {
    let head: String
    let framing: Request.BodyFraming
    let headEnd: Int
    /// Where the body's bytes lie; neighbours are one.
    var body: [Range<Int>] = []
    var trailers: [String] = []
    var end: Int?

    var bodyBytes: Int { body.reduce(0) { $0 + $1.count } }
  }

  var requests: [Request] = []
  var messages: [Message] = []
  var failure: ProtocolError?
  var consumed = 0
  var isInsideMessage = false
  /// What went wrong on the way.
  var fault: String?

  /// Requests have no equality; what is in them is in the messages' heads.
  static func == (left: ParserTranscript, right: ParserTranscript) -> Bool {
    left.messages == right.messages && left.failure == right.failure
      && left.consumed == right.consumed && left.isInsideMessage == right.isInsideMessage
      && left.fault == right.fault
  }

  /// Hands the parser pieces that end at `ends`, each with what was not consumed before it.
  ///
  /// - Parameter bodyLimitBytes: is set for each message where it is not nil, as routes do.
  init(of bytes: [UInt8], ends: [Int], limits: MessageLimits, bodyLimitBytes: Int? = nil) {
    var parser = RequestParser(limits: limits)
    for end in ends where fault == nil {
      var position = 0
      let start = consumed
      reading: while fault == nil {
        let event = parser.next(bytes.span.extracting(start..<end), &position)
        if position < consumed - start || position > end - start {
          fault = "the position \(start + position) is not in \(consumed)...\(end)"
          break
        }
        consumed = start + position
        switch event {
        case .needMoreBytes:
          if end - consumed > limits.keptBytes { fault = "\(end - consumed) bytes are kept" }
          break reading
        case .failed(let error):
          if let failure, failure != error { fault = "\(failure) became \(error)" }
          failure = error
          break reading
        default: take(event, parser.takeRequest(), from: start)
        }
        if let bodyLimitBytes, case .head = event { parser.limitBody(toBytes: bodyLimitBytes) }
      }
    }
    isInsideMessage = parser.isInsideMessage
  }

  private mutating func take(
    _ event: RequestParser.Event, _ request: Request?, from start: Int
  ) {
    guard failure == nil else {
      fault = "after \(failure!) came \(event)"
      return
    }
    if case .head = event {
      guard let request else {
        fault = "a head came without a request"
        return
      }
      if let last = messages.last, last.end == nil { fault = "a head came within a message" }
      requests.append(request)
      messages.append(
        Message(head: request.summary, framing: request.framing, headEnd: consumed))
      return
    }
    guard let last = messages.indices.last, messages[last].end == nil else {
      fault = "\(event) came outside of a message"
      return
    }
    switch event {
    case .body(let range):
      let range = (start + range.lowerBound)..<(start + range.upperBound)
      let before = messages[last].body.last
      if range.isEmpty || range.upperBound != consumed
        || range.lowerBound < before?.upperBound ?? messages[last].headEnd
      {
        fault = "the body's bytes \(range) cannot follow \(messages[last])"
      } else if let before, before.upperBound == range.lowerBound {
        messages[last].body[messages[last].body.count - 1] = before.lowerBound..<range.upperBound
      } else {
        messages[last].body.append(range)
      }
    case .end(let trailers):
      messages[last].trailers = trailers.map { "\($0.name): \($0.value)" }
      messages[last].end = consumed
    case .needMoreBytes, .head, .failed: break
    }
  }
}

extension Request {
  /// All that the head says, enough to tell two heads apart.
  var summary: String {
    "\(method) \(target) \(path) \(query ?? "without query") 1.\(minorVersion) for \(host)"
      + " \(framing) \(keepsAlive) \(expectation) \(fields.map { "\($0.name): \($0.value)" })"
  }
}

extension MessageLimits {
  /// The most that a caller has to keep for the parser: a request line and a header block with the
  /// line ends that the limits leave out (no message keeps more in its later parts).
  fileprivate var keptBytes: Int {
    max(
      requestLineBytes + 2 + headerBlockBytes + 3, chunkLineBytes + 1, trailerBlockBytes + 3)
  }
}
