/// Parses bytes into requests: a state machine without I/O, as strict as RFC 9112 permits.
///
/// Theory of operation. The caller owns the bytes. It passes all received bytes that were not consumed yet,
/// and calls `next` until that returns `.needMoreBytes`; `position` moves past what is consumed. The bytes
/// after `position` must be there again at the next call, followed by new ones. The parser remembers,
/// relative to `position`, how far it searched for the end of a line, so it searches no byte twice, however
/// small the pieces are in which a message arrives.
///
/// A message is `.head`, any number of `.body`, then `.end`. A line is parsed once, when it is complete; a
/// head's bytes are copied once, when the head is complete. Nothing is consumed before that, so the limits
/// bound what a caller keeps. After `.failed` the parser stays failed: no byte behind a refused message is
/// ever read as another one.
public struct RequestParser: Sendable {
  /// The meaning of the bytes.
  public enum Event: Sendable {
    /// No more bytes can be consumed.
    case needMoreBytes
    /// A complete head; the caller may now call `takeRequest` and `limitBody`. The request is not in the
    /// event, which is passed on several times.
    case head
    /// Bytes of the body: their range in the bytes that were passed.
    case body(Range<Int>)
    /// The message is complete; the next call starts the next one.
    case end(trailers: Fields)
    /// The message is refused, and everything after it.
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

  /// The result of a search for the end of a line.
  enum Line {
    /// A line without its CRLF, as indices of the bytes.
    case complete(Range<Int>)
    /// A line without an end, of which this many bytes are there.
    case partial(Int)
    /// An LF without a CR before it, after this many bytes. If the line is too long before that, it is
    /// refused for its length, however the bytes arrived.
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
    /// The method; nil if it is unknown.
    public let method: Method?
    /// The target, as in `Request.target`.
    public let target: [UInt8]
    /// The end of the path in the target.
    public let pathEnd: Int
    /// The `X-Request-Id`, if that was read and is well formed.
    public let requestID: String?
  }

  /// The request whose head is complete, until it is taken.
  var request: Request?
  /// What was known of the refused message.
  private var refusedHead: KnownHead?
  /// The number of bytes of the body that were read, and of its chunk extensions.
  var bodyBytes = 0
  var extensionBytes = 0

  /// A parser that waits for the first request of a connection.
  public init(limits: MessageLimits = MessageLimits()) {
    self.limits = limits
    bodyLimitBytes = limits.bodyBytes
  }

  /// Whether a message has begun and not ended. (Empty lines before a request do not begin one.)
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

  /// Sets the limit of this message's body. Call it between `.head` and the next call of `next`.
  public mutating func limitBody(toBytes limit: Int) { bodyLimitBytes = limit }

  /// Takes the request of the event `head`; nil if there was none since the last call.
  public mutating func takeRequest() -> Request? { request.take() }

  /// The next event of `bytes` from `position` on.
  public mutating func next(_ bytes: Span<UInt8>, _ position: inout Int) -> Event {
    // The most frequent call: between two requests, with nothing to read.
    if case .requestLine = phase, position == bytes.count { return .needMoreBytes }
    while true {
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

  /// The next line, from `lineStart` on; `lineStart` moves behind it if it is complete.
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

  /// Moves `position` past the lines that were read.
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

extension RequestParser {
  /// The framing of the body (RFC 9112 section 6.3).
  func messageFraming() throws(ProtocolError) -> Request.BodyFraming {
    guard head.hasTransferEncoding else {
      return head.contentLength.map { .length($0) } ?? .none
    }
    // RFC 9112 section 6.1: both may be a smuggling attempt and "ought to be handled as an error".
    if head.contentLength != nil { throw .contentLengthWithTransferEncoding }
    if head.minorVersion == 0 { throw .transferEncodingInOldVersion }
    if let coding = head.unknownCoding { throw .unknownTransferCoding(coding) }
    guard head.isChunked else { throw .malformedTransferEncoding("(empty)") }
    return .chunked
  }

  /// The number, of digits only; a list of equal numbers is refused as well (RFC 9112 section 6.3, point 5).
  func contentLength(
    _ bytes: Span<UInt8>, _ value: Range<Int>
  ) throws(ProtocolError) -> Int {
    var length = 0
    for index in value {
      let (product, overflows) = length.multipliedReportingOverflow(by: 10)
      let (sum, overflowsToo) = product.addingReportingOverflow(Int(bytes[index] &- 0x30))
      guard bytes[index].isDigit, !overflows, !overflowsToo else {
        throw .malformedContentLength(bytes.text(value))
      }
      length = sum
    }
    guard !value.isEmpty else { throw .malformedContentLength("(empty)") }
    return length
  }

  /// Reads one `Transfer-Encoding` line: `chunked` must occur once, as the last coding (RFC 9112 section
  /// 6.1).
  mutating func noteTransferEncoding(
    _ bytes: Span<UInt8>, _ value: Range<Int>
  ) throws(ProtocolError) {
    head.hasTransferEncoding = true
    var isMalformed = false
    bytes.forEachListMember(value) { member in
      if head.isChunked || !member.allSatisfy({ bytes[$0].isTokenCharacter }) {
        isMalformed = true
      } else if bytes.equalsIgnoringCase(member, "chunked") {
        head.isChunked = true
      } else if head.unknownCoding == nil {
        head.unknownCoding = bytes.text(member)
      }
    }
    if isMalformed { throw .malformedTransferEncoding(bytes.text(value)) }
  }
}

extension Span where Element == UInt8 {
  /// Visits the members of a comma-separated list, trimmed and without empty ones (RFC 9110 section 5.6.1).
  func forEachListMember(_ range: Range<Int>, _ visit: (Range<Int>) -> Void) {
    var start = range.lowerBound
    while start <= range.upperBound {
      var end = start
      while end < range.upperBound, self[end] != UInt8(ascii: ",") { end += 1 }
      var first = start
      var last = end
      while first < last, self[first].isOptionalWhitespace { first += 1 }
      while last > first, self[last - 1].isOptionalWhitespace { last -= 1 }
      if first < last { visit(first..<last) }
      start = end + 1
    }
  }
}

extension RequestParser {
  /// The number of empty lines before a request line that are ignored (RFC 9112 section 2.2).
  static let ignoredEmptyLines = 4

  /// Reads the request line (RFC 9112 section 3).
  mutating func requestLine(_ bytes: Span<UInt8>, _ position: inout Int) -> Event? {
    guard position < bytes.count else { return .needMoreBytes }
    let first = bytes[position]
    if first == .carriageReturn {
      guard position + 1 < bytes.count else { return .needMoreBytes }
      guard bytes[position + 1] == .lineFeed, emptyLines < Self.ignoredEmptyLines else {
        return fail(.malformedRequestLine)
      }
      emptyLines += 1
      position += 2
      return nil
    }
    // Bytes that cannot be a request (a TLS hello, an answer) are refused at the first byte.
    guard first.isTokenCharacter else {
      return fail(first == .lineFeed ? .bareLineFeed : .malformedRequestLine)
    }
    switch line(bytes, position) {
    case .partial(let length):
      // One more for a CR whose LF is not there yet.
      if length > limits.requestLineBytes + 1 { return tooLong() }
      return .needMoreBytes
    case .bareLineFeed(let length):
      return length > limits.requestLineBytes + 1 ? tooLong() : fail(.bareLineFeed)
    case .complete(let range):
      if range.count > limits.requestLineBytes { return tooLong() }
      do throws(ProtocolError) {
        try parseRequestLine(bytes, range)
      } catch {
        return fail(error)
      }
      head.fieldsStart = lineStart
      phase = .fields
      return nil
    }
  }

  private mutating func tooLong() -> Event {
    fail(.requestLineTooLong(limitBytes: limits.requestLineBytes))
  }

  private mutating func parseRequestLine(
    _ bytes: Span<UInt8>, _ line: Range<Int>
  ) throws(ProtocolError) {
    var methodEnd = line.lowerBound
    while methodEnd < line.upperBound, bytes[methodEnd].isTokenCharacter { methodEnd += 1 }
    guard methodEnd < line.upperBound else { throw .malformedRequestLine }
    guard methodEnd > line.lowerBound, bytes[methodEnd] == .space else { throw .malformedMethod }

    let targetStart = methodEnd + 1
    let targetEnd = min(bytes.firstIndex(of: .space, from: targetStart), line.upperBound)
    // Checks many bytes at once: nearly all are visible.
    var (controls, foreignBits): (UInt8, UInt8) = (0, 0)
    bytes.extracting(targetStart..<targetEnd).withUnsafeBufferPointer { target in
      for byte in target {
        controls |= (byte < 0x20 ? 1 : 0) | (byte == 0x7F ? 1 : 0)
        foreignBits |= byte & 0x80
      }
    }
    if controls != 0 { throw .malformedTarget("contains a control character") }
    let hasForeignBytes = foreignBits != 0
    guard targetEnd < line.upperBound, targetEnd > targetStart else { throw .malformedRequestLine }
    head.minorVersion = try version(bytes, (targetEnd + 1)..<line.upperBound)
    // RFC 3986 has only ASCII in a URI; RFC 1945 section 3.2.1 has "national" octets as well.
    if hasForeignBytes, head.minorVersion > 0 {
      throw .malformedTarget("contains bytes that are not ASCII")
    }

    let methodRange = line.lowerBound..<methodEnd
    if let method = Method(bytes, methodRange) {
      head.method = method
    } else {
      head.unknownMethod = bytes.text(methodRange)
    }
    try parseTarget(bytes, targetStart..<targetEnd)
  }

  /// Parses `HTTP/` digit `.` digit (RFC 9112 section 2.3): any minor version from 1 on is treated as 1.1.
  private func version(
    _ bytes: Span<UInt8>, _ range: Range<Int>
  ) throws(ProtocolError) -> Int {
    let start = range.lowerBound
    guard range.count == 8, bytes.equals(start..<(start + 5), "HTTP/"), bytes[start + 5].isDigit,
      bytes[start + 6] == UInt8(ascii: "."), bytes[start + 7].isDigit
    else { throw .malformedVersion }
    let major = Int(bytes[start + 5] - 0x30)
    let minor = Int(bytes[start + 7] - 0x30)
    guard major == 1 else { throw .unsupportedVersion(major: major, minor: minor) }
    return min(minor, 1)
  }
}

extension RequestParser {
  /// Parses the request target in any of its four forms (RFC 9112 section 3.2).
  mutating func parseTarget(_ bytes: Span<UInt8>, _ range: Range<Int>) throws(ProtocolError) {
    if head.method == .connect { throw .connectRefused }
    let first = bytes[range.lowerBound]
    if first == UInt8(ascii: "/") {
      takeTarget(bytes.copy(range))
    } else if first == UInt8(ascii: "*"), range.count == 1 {
      guard head.method == .options else {
        throw .malformedTarget("is an asterisk, which is only for OPTIONS")
      }
      takeTarget([first])
    } else {
      try parseAbsoluteForm(bytes, range)
    }
  }

  private mutating func takeTarget(_ target: [UInt8]) {
    head.pathEnd = target.firstIndex(of: UInt8(ascii: "?")) ?? target.count
    head.target = target
  }

  /// Parses `http://authority/path?query` (RFC 9112 section 3.2.2): the authority replaces `Host`.
  private mutating func parseAbsoluteForm(
    _ bytes: Span<UInt8>, _ range: Range<Int>
  ) throws(ProtocolError) {
    var start = range.lowerBound
    if range.count > 7, bytes.equalsIgnoringCase(start..<(start + 7), "http://") {
      start += 7
    } else if range.count > 8, bytes.equalsIgnoringCase(start..<(start + 8), "https://") {
      start += 8
    } else {
      throw .malformedTarget("is neither a path nor an http or https URI")
    }
    var end = start
    while end < range.upperBound, bytes[end] != UInt8(ascii: "/"), bytes[end] != UInt8(ascii: "?"),
      bytes[end] != UInt8(ascii: "#")
    {
      end += 1
    }
    guard Authority.isWellFormed(bytes, start..<end) else {
      throw .malformedTarget("has a malformed authority")
    }
    head.authority = bytes.text(start..<end)
    let rest = bytes.copy(end..<range.upperBound)
    if rest.first == UInt8(ascii: "/") {
      takeTarget(rest)
    } else if rest.isEmpty, head.method == .options {
      // RFC 9112 section 3.2.4: an OPTIONS without a path applies to the whole server.
      takeTarget([UInt8(ascii: "*")])
    } else {
      takeTarget([UInt8(ascii: "/")] + rest)
    }
  }
}
