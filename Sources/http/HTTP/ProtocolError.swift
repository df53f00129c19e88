/// Why the server itself refuses a message or ends an exchange: what is wrong, and where.
///
/// `status` is the one place that maps these to statuses; the text of the answer is the
/// application's.
public enum ProtocolError: Error, Sendable, Hashable {
  // The request line (RFC 9112 section 3).
  case requestLineTooLong(limitBytes: Int)
  case malformedRequestLine
  case malformedMethod
  case unknownMethod(String)
  case malformedVersion
  case unsupportedVersion(major: Int, minor: Int)
  case malformedTarget(String)
  case connectRefused

  // Field lines (RFC 9112 section 5).
  case bareLineFeed
  case headerBlockTooLarge(limitBytes: Int)
  case tooManyFields(limit: Int)
  case obsoleteLineFolding
  case missingColon
  case malformedFieldName
  case spaceBeforeColon(field: String)
  case malformedFieldValue(field: String, byte: UInt8)
  case missingHost
  case repeatedHost
  case malformedHost(String)

  // Framing (RFC 9112 sections 6 and 7).
  case malformedContentLength(String)
  case repeatedContentLength
  case contentLengthWithTransferEncoding
  case malformedTransferEncoding(String)
  case unknownTransferCoding(String)
  case transferEncodingInOldVersion
  case bodyTooLarge(limitBytes: Int)
  case malformedChunkSize
  case malformedChunkExtension
  case chunkLineTooLong(limitBytes: Int)
  case chunkNotEnded
  case forbiddenTrailer(String)
  case unexpectedEnd

  // The exchange (RFC 9110 sections 10.1.1 and 15).
  case expectationFailed
  case headerTimedOut
  case bodyTimedOut
  case tooManyConnections
  case tooManyAnswersWait
  case answerTimedOut
  case unanswered
}

extension ProtocolError {
  /// The status that this is answered with; the only such mapping in the server.
  public var status: Status {
    switch self {
    case .requestLineTooLong: .uriTooLong
    case .headerBlockTooLarge, .tooManyFields: .requestHeaderFieldsTooLarge
    case .bodyTooLarge: .contentTooLarge
    case .unsupportedVersion: .httpVersionNotSupported
    case .unknownMethod, .connectRefused, .unknownTransferCoding: .notImplemented
    case .expectationFailed: .expectationFailed
    case .headerTimedOut, .bodyTimedOut: .requestTimeout
    case .tooManyConnections, .tooManyAnswersWait, .answerTimedOut: .serviceUnavailable
    case .unanswered: .internalServerError
    case .malformedRequestLine, .malformedMethod, .malformedVersion, .malformedTarget,
      .bareLineFeed, .obsoleteLineFolding, .missingColon, .malformedFieldName, .spaceBeforeColon,
      .malformedFieldValue, .missingHost, .repeatedHost, .malformedHost, .malformedContentLength,
      .repeatedContentLength, .contentLengthWithTransferEncoding, .malformedTransferEncoding,
      .transferEncodingInOldVersion, .malformedChunkSize, .malformedChunkExtension,
      .chunkLineTooLong, .chunkNotEnded, .forbiddenTrailer, .unexpectedEnd:
      .badRequest
    }
  }
}

extension ProtocolError: CustomStringConvertible {
  /// One sentence for the person who sent the message.
  public var description: String {
    switch self {
    case .requestLineTooLong(let limit): "The request line is longer than \(limit) bytes."
    case .malformedRequestLine: "The request line is not `method SP target SP version`."
    case .malformedMethod: "The method is not a token."
    case .unknownMethod(let name): "The method \(name) is not known."
    case .malformedVersion: "The version is not `HTTP/` digit `.` digit."
    case .unsupportedVersion(let major, let minor): "HTTP/\(major).\(minor) is not supported."
    case .malformedTarget(let reason): "The request target \(reason)."
    case .connectRefused: "CONNECT is refused: this is not a proxy."
    case .bareLineFeed: "A line ends with LF alone instead of CRLF."
    case .headerBlockTooLarge(let limit): "The header fields are larger than \(limit) bytes."
    case .tooManyFields(let limit): "There are more than \(limit) header fields."
    case .obsoleteLineFolding: "A header line starts with white space."
    case .missingColon: "A header line has no colon."
    case .malformedFieldName: "A header field's name is not a token."
    case .spaceBeforeColon(let field): "There is white space between \(field) and its colon."
    case .malformedFieldValue(let field, let byte):
      "The value of \(field) contains the byte 0x\(String(byte, radix: 16))."
    case .missingHost: "The Host field is missing."
    case .repeatedHost: "The Host field occurs more than once."
    case .malformedHost(let host): "The Host field is not a host with an optional port: \(host)"
    case .malformedContentLength(let value): "Content-Length is not a number: \(value)"
    case .repeatedContentLength: "Content-Length occurs more than once."
    case .contentLengthWithTransferEncoding:
      "Content-Length and Transfer-Encoding exclude each other."
    case .malformedTransferEncoding(let value):
      "Transfer-Encoding must end in one `chunked`: \(value)"
    case .unknownTransferCoding(let name): "The transfer coding \(name) is not known."
    case .transferEncodingInOldVersion: "Transfer-Encoding is not allowed in an HTTP/1.0 message."
    case .bodyTooLarge(let limit): "The body is larger than \(limit) bytes."
    case .malformedChunkSize: "A chunk's size is not a hexadecimal number."
    case .malformedChunkExtension: "A chunk's extensions are malformed."
    case .chunkLineTooLong(let limit): "A chunk's size line is longer than \(limit) bytes."
    case .chunkNotEnded: "A chunk's data is not followed by CRLF."
    case .forbiddenTrailer(let field): "\(field) cannot be a trailer."
    case .unexpectedEnd: "The message is incomplete."
    case .expectationFailed: "Only the expectation 100-continue is supported."
    case .headerTimedOut: "The request's head took too long."
    case .bodyTimedOut: "The request's body took too long."
    case .tooManyConnections: "There are too many connections."
    case .tooManyAnswersWait: "Too many answers wait for their clients to read them."
    case .answerTimedOut: "The answer took too long."
    case .unanswered: "The request was not answered."
    }
  }
}

/// How large each part of a request may be; past it the message is refused and the connection ends.
public struct MessageLimits: Sendable, Equatable {
  /// The request line without its CRLF; past it 414.
  public var requestLineBytes: Int
  /// All field lines together; past it 431.
  public var headerBlockBytes: Int
  /// Field lines; past it 431.
  public var headerFields: Int
  /// The body after any chunking is taken off; past it 413. A route may have another limit.
  public var bodyBytes: Int
  /// One line of a chunk's size and extensions; past it 400.
  public var chunkLineBytes: Int
  /// All chunk extensions of one body together, which are ignored; past it 400.
  public var chunkExtensionBytes: Int
  /// All trailer lines together; past it 431.
  public var trailerBlockBytes: Int
  /// Trailer lines; past it 431.
  public var trailerFields: Int

  /// The documented defaults, or others.
  public init(
    requestLineBytes: Int = 8192, headerBlockBytes: Int = 16_384, headerFields: Int = 100,
    bodyBytes: Int = 1 << 20, chunkLineBytes: Int = 1024, chunkExtensionBytes: Int = 16_384,
    trailerBlockBytes: Int = 4096, trailerFields: Int = 32
  ) {
    self.requestLineBytes = requestLineBytes
    self.headerBlockBytes = headerBlockBytes
    self.headerFields = headerFields
    self.bodyBytes = bodyBytes
    self.chunkLineBytes = chunkLineBytes
    self.chunkExtensionBytes = chunkExtensionBytes
    self.trailerBlockBytes = trailerBlockBytes
    self.trailerFields = trailerFields
  }
}
