extension RequestParser {
  /// Few requests have more fields.
  private static let usualFields = 16

  /// Reads field lines up to the empty line, then makes the request (RFC 9112 section 5).
  mutating func fieldLines(_ bytes: Span<UInt8>, _ position: inout Int) -> Event? {
    let start = position + head.fieldsStart
    while true {
      switch line(bytes, position) {
      case .partial:
        // The last line may be followed by its CRLF, and by the CR of the empty line.
        if bytes.count - start > limits.headerBlockBytes + 3 { return headerTooLarge() }
        return .needMoreBytes
      case .bareLineFeed(let length):
        let isTooLarge = position + lineStart + length - start > limits.headerBlockBytes + 3
        return isTooLarge ? headerTooLarge() : fail(.bareLineFeed)
      case .complete(let range) where range.isEmpty:
        return finishHead(bytes, &position)
      case .complete(let range):
        if range.upperBound - start > limits.headerBlockBytes { return headerTooLarge() }
        guard head.entries.count < limits.headerFields else {
          return fail(.tooManyFields(limit: limits.headerFields))
        }
        do throws(ProtocolError) {
          let field = try parseField(bytes, range)
          if head.entries.isEmpty { head.entries.reserveCapacity(Self.usualFields) }
          head.entries.append(field.entry(from: start))
          try note(bytes, field)
        } catch {
          return fail(error)
        }
      }
    }
  }

  private mutating func headerTooLarge() -> Event {
    fail(.headerBlockTooLarge(limitBytes: limits.headerBlockBytes))
  }

  /// The parts of a field line, as ranges of the bytes.
  struct ParsedField {
    var name: Range<Int>
    var value: Range<Int>

    func entry(from start: Int) -> Fields.Entry {
      Fields.Entry(
        name: UInt32(name.lowerBound - start)..<UInt32(name.upperBound - start),
        value: UInt32(value.lowerBound - start)..<UInt32(value.upperBound - start))
    }
  }

  /// Parses `field-name ":" OWS field-value OWS` (RFC 9112 section 5, RFC 9110 section 5.5).
  func parseField(_ bytes: Span<UInt8>, _ line: Range<Int>) throws(ProtocolError) -> ParsedField {
    var nameEnd = line.lowerBound
    while nameEnd < line.upperBound, bytes[nameEnd].isTokenCharacter { nameEnd += 1 }
    let name = line.lowerBound..<nameEnd
    guard nameEnd < line.upperBound else { throw .missingColon }
    guard bytes[nameEnd] == UInt8(ascii: ":") else {
      guard bytes[nameEnd].isOptionalWhitespace else { throw .malformedFieldName }
      throw name.isEmpty ? .obsoleteLineFolding : .spaceBeforeColon(field: bytes.text(name))
    }
    guard !name.isEmpty else { throw .malformedFieldName }

    var start = nameEnd + 1
    var end = line.upperBound
    while start < end, bytes[start].isOptionalWhitespace { start += 1 }
    while end > start, bytes[end - 1].isOptionalWhitespace { end -= 1 }
    var index = start
    while index < end {
      guard bytes[index].isFieldValueCharacter else {
        throw .malformedFieldValue(field: bytes.text(name), byte: bytes[index])
      }
      index += 1
    }
    return ParsedField(name: name, value: start..<end)
  }

  /// Keeps what framing and the connection depend on; distinguishes names by their length first.
  private mutating func note(
    _ bytes: Span<UInt8>, _ field: ParsedField
  ) throws(ProtocolError) {
    switch field.name.count {
    case 4 where bytes.equalsIgnoringCase(field.name, "host"):
      guard head.host == nil else { throw .repeatedHost }
      let host = bytes.text(field.value)
      guard Authority.isWellFormed(bytes, field.value) else { throw .malformedHost(host) }
      head.host = host
    case 6 where bytes.equalsIgnoringCase(field.name, "expect"):
      let isContinue = bytes.equalsIgnoringCase(field.value, "100-continue")
      head.expectation = isContinue && head.expectation != .unknown ? .continue : .unknown
    case 10 where bytes.equalsIgnoringCase(field.name, "connection"):
      noteConnection(bytes, field.value)
    case 12 where bytes.equalsIgnoringCase(field.name, "x-request-id"):
      let id = bytes.text(field.value)
      if head.requestID == nil, RequestID.isWellFormed(id) { head.requestID = id }
    case 14 where bytes.equalsIgnoringCase(field.name, "content-length"):
      guard head.contentLength == nil else { throw .repeatedContentLength }
      head.contentLength = try contentLength(bytes, field.value)
    case 17 where bytes.equalsIgnoringCase(field.name, "transfer-encoding"):
      try noteTransferEncoding(bytes, field.value)
    default: break
    }
  }

  /// Notes `close` and `keep-alive` among the connection options (RFC 9110 section 7.6.1).
  private mutating func noteConnection(_ bytes: Span<UInt8>, _ value: Range<Int>) {
    bytes.forEachListMember(value) { member in
      if bytes.equalsIgnoringCase(member, "close") { head.saysClose = true }
      if bytes.equalsIgnoringCase(member, "keep-alive") { head.saysKeepAlive = true }
    }
  }

  private mutating func finishHead(_ bytes: Span<UInt8>, _ position: inout Int) -> Event {
    if let method = head.unknownMethod { return fail(.unknownMethod(method)) }
    let framing: Request.BodyFraming
    do throws(ProtocolError) {
      framing = try messageFraming()
    } catch {
      return fail(error)
    }
    // RFC 9112 section 3.2: required from 1.1 on, even with a target in absolute form.
    if head.host == nil, head.minorVersion > 0 { return fail(.missingHost) }
    head.bytes = bytes.copy((position + head.fieldsStart)..<(position + lineStart - 2))
    let keepsAlive = !head.saysClose && (head.minorVersion > 0 || head.saysKeepAlive)
    request = Request(
      method: head.method, target: head.target, pathEnd: head.pathEnd,
      host: head.authority ?? head.host ?? "", minorVersion: head.minorVersion,
      fields: head.takeFields(), framing: framing, keepsAlive: keepsAlive,
      // RFC 9110 section 10.1.1: in an HTTP/1.0 request, 100-continue is ignored.
      expectation: head.minorVersion == 0 ? .none : head.expectation,
      clientRequestID: head.requestID)
    head.requestID = nil
    consumeLines(&position)
    switch framing {
    case .none, .length(0): phase = .finished
    case .length(let length): phase = .fixedBody(remaining: length)
    case .chunked: phase = .chunkSize
    }
    return .head
  }
}

/// The known parts of a head (or of a trailer section) while its lines arrive.
struct PartialHead: Sendable {
  var method = Method.get
  /// The name of an unknown method. It is refused when the head is complete, so that the answer can contain
  /// the client's request id.
  var unknownMethod: String?
  var target: [UInt8] = []
  var pathEnd = 0
  var minorVersion = 1
  /// The authority of a target in absolute form, which replaces the `Host` field.
  var authority: String?
  var host: String?

  /// Where the first field line starts, as an offset from the start of the message.
  var fieldsStart = 0
  /// Field lines as offsets from `fieldsStart`.
  var entries: [Fields.Entry] = []
  /// The copy of the field lines, once they are complete.
  var bytes: [UInt8] = []

  var contentLength: Int?
  var hasTransferEncoding = false
  var isChunked = false
  var unknownCoding: String?

  /// The client's `X-Request-Id`, if it is well formed.
  var requestID: String?
  var saysClose = false
  var saysKeepAlive = false
  var expectation = Request.Expectation.none

  mutating func takeFields() -> Fields {
    guard !entries.isEmpty else { return Fields() }
    let fields = Fields(bytes: bytes, entries: entries)
    bytes = []
    entries = []
    return fields
  }
}
