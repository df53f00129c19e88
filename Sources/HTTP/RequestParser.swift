/// Bytes to requests: a state machine without I/O that is as strict as RFC 9112 allows.
///
/// Theory of operation. The caller owns the bytes. It hands over everything that came and was not
/// consumed yet, and calls `next` until that returns `.needMoreBytes`; `position` moves over what
/// is consumed. What lies after `position` then has to be there again, with more behind it, at the
/// next call. How far was scanned for a line's end is remembered relative to `position`, so no byte
/// is searched twice, however small the pieces are in which a message arrives.
///
/// A message is `.head`, any number of `.body`, then `.end`. A line is parsed once, when it is
/// complete; a head's bytes are copied once, when the head is. Nothing is consumed before that,
/// which bounds what a caller keeps by the limits. After `.failed` the parser stays failed: no byte
/// behind a refused message is ever read as another one.
public struct RequestParser: Sendable {
  /// What the bytes mean.
  public enum Event: Sendable {
    /// All is consumed that can be.
    case needMoreBytes
    /// A complete head; the caller may now call `limitBody`.
    case head(Request)
    /// Bytes of the body: where they lie in the bytes that were handed over.
    case body(Range<Int>)
    /// The message is complete; the next call starts the next one.
    case end(trailers: Fields)
    /// The message is refused, and with it everything after it.
    case failed(ProtocolError)
  }

  enum Phase: Sendable {
    case requestLine
    case fields
    case fixedBody(remaining: Int)
    case chunkSize
    case chunkData(remaining: Int)
    case chunkEnd
    case trailers
    case finished
    case failed(ProtocolError)
  }

  /// What a search for a line's end finds.
  enum Line {
    /// A line without its CRLF, as indices of the bytes.
    case complete(Range<Int>)
    /// No end yet; so many bytes of it are there.
    case partial(Int)
    /// An LF without a CR before it, behind so many bytes: the line may be too long before that, and
    /// is then refused for its length, however the bytes came.
    case bareLineFeed(Int)
  }

  let limits: MessageLimits
  var bodyLimitBytes: Int
  var phase = Phase.requestLine
  /// Offsets from the caller's `position`.
  var scanned = 0
  var lineStart = 0
  var emptyLines = 0
  var head = PartialHead()
  /// What is known of a message whose head is not complete, or is refused.
  public struct KnownHead: Sendable {
    /// The method; nil where it is none of ours.
    public let method: Method?
    /// The target, as `Request.target`.
    public let target: [UInt8]
    /// Where the path ends in it.
    public let pathEnd: Int
    /// The `X-Request-Id`, if that was read and is well formed.
    public let requestID: String?
  }

  /// What was known of the refused message.
  private var refusedHead: KnownHead?
  /// Of a body: how many bytes came, and how many of chunk extensions.
  var bodyBytes = 0
  var extensionBytes = 0

  /// A parser that waits for the first request of a connection.
  public init(limits: MessageLimits = MessageLimits()) {
    self.limits = limits
    bodyLimitBytes = limits.bodyBytes
  }

  /// Whether a message has begun and not ended. (Empty lines before a request are not a beginning.)
  public var isInsideMessage: Bool {
    switch phase {
    case .requestLine: scanned > 0
    case .failed: false
    default: true
    }
  }

  /// What is known of the message whose head is being read, or was refused; nil before its request line
  /// is known.
  public var knownHead: KnownHead? {
    if let refusedHead { return refusedHead }
    guard !head.target.isEmpty else { return nil }
    return KnownHead(
      method: head.unknownMethod == nil ? head.method : nil, target: head.target,
      pathEnd: head.pathEnd, requestID: head.requestID)
  }

  /// Sets this message's limit of the body; to be called between `.head` and the next call of
  /// `next`.
  public mutating func limitBody(toBytes limit: Int) { bodyLimitBytes = limit }

  /// What comes next in `bytes` from `position` on.
  public mutating func next(_ bytes: Span<UInt8>, _ position: inout Int) -> Event {
    // Asked most often where there is nothing at all: between two requests.
    if case .requestLine = phase, position == bytes.count { return .needMoreBytes }
    while true {
      // Returned from where it is made: an event is as large as a request.
      switch phase {
      case .requestLine: if let event = requestLine(bytes, &position) { return event }
      case .fields: if let event = fieldLines(bytes, &position) { return event }
      case .fixedBody(let remaining):
        if let event = fixedBody(bytes, &position, remaining) { return event }
      case .chunkSize: if let event = chunkSize(bytes, &position) { return event }
      case .chunkData(let remaining):
        if let event = chunkData(bytes, &position, remaining) { return event }
      case .chunkEnd: if let event = chunkEnd(bytes, &position) { return event }
      case .trailers: if let event = trailerLines(bytes, &position) { return event }
      case .finished: return finish()
      case .failed(let error): return .failed(error)
      }
    }
  }

  mutating func fail(_ error: ProtocolError) -> Event {
    phase = .failed(error)
    refusedHead = knownHead
    head = PartialHead()
    return .failed(error)
  }

  /// The next line from `lineStart` on; `lineStart` moves behind it when it is complete.
  mutating func line(_ bytes: Span<UInt8>, _ position: Int) -> Line {
    let start = position + lineStart
    let end = bytes.count
    let index = bytes.firstIndex(of: .lineFeed, from: position + max(scanned, lineStart))
    guard index < end else {
      scanned = end - position
      return .partial(end - start)
    }
    guard index > start, bytes[index - 1] == .carriageReturn else {
      return .bareLineFeed(index - start)
    }
    lineStart = index + 1 - position
    scanned = lineStart
    return .complete(start..<(index - 1))
  }

  /// Moves `position` over the lines that were read.
  mutating func consumeLines(_ position: inout Int) {
    position += lineStart
    lineStart = 0
    scanned = 0
  }

  private mutating func finish() -> Event {
    let trailers = head.takeFields()
    head = PartialHead()
    phase = .requestLine
    bodyLimitBytes = limits.bodyBytes
    bodyBytes = 0
    extensionBytes = 0
    emptyLines = 0
    return .end(trailers: trailers)
  }
}
