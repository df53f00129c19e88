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
    /// No end yet; this many bytes of it are there.
    case partial(Int)
    /// An LF without a CR before it, behind this many bytes: the line may be too long before that, and
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
    /// The method; nil if it is unknown.
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

extension RequestParser {
  /// Where the body ends (RFC 9112 section 6.3), or why that cannot be said.
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

  /// Digits only; a list of equal numbers is refused as well (RFC 9112 section 6.3, point 5).
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

  /// One `Transfer-Encoding` line: `chunked` must come once and last (RFC 9112 section 6.1).
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
  /// Visits the members of a comma-separated list, trimmed, empty ones left out
  /// (RFC 9110 section 5.6.1).
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
  /// How many empty lines are ignored before a request line (RFC 9112 section 2.2).
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
    // What cannot be a request (a TLS hello, an answer) is refused at its first byte.
    guard first.isTokenCharacter else {
      return fail(first == .lineFeed ? .bareLineFeed : .malformedRequestLine)
    }
    switch line(bytes, position) {
    case .partial(let length):
      // One more for a CR that is there while its LF is not.
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
    // Looked at many at once: nearly all are visible.
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

  /// `HTTP/` digit `.` digit (RFC 9112 section 2.3): any minor version from 1 on is read as 1.1.
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
  /// Reads the request target in any of its four forms (RFC 9112 section 3.2).
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

  /// `http://authority/path?query` (RFC 9112 section 3.2.2): the authority replaces `Host`.
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
      // RFC 9112 section 3.2.4: an OPTIONS without a path is about the server as a whole.
      takeTarget([UInt8(ascii: "*")])
    } else {
      takeTarget([UInt8(ascii: "/")] + rest)
    }
  }
}
