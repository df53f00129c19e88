/// An error for which the server itself refuses a message or ends an exchange: what is wrong, and where.
///
/// `status` is the only mapping of these errors to statuses; the application provides the text of the answer.
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
  /// The status of the answer to this error; the only such mapping in the server.
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

/// Size limits of the parts of a request. Beyond a limit the message is refused and the connection ends.
public struct MessageLimits: Sendable, Equatable {
  /// The maximum length of the request line without its CRLF; beyond it 414.
  public var requestLineBytes: Int
  /// The maximum size of all field lines together; beyond it 431.
  public var headerBlockBytes: Int
  /// The maximum number of field lines; beyond it 431.
  public var headerFields: Int
  /// The maximum size of the body without its chunking; beyond it 413. A route may have another limit.
  public var bodyBytes: Int
  /// The maximum length of a line with a chunk's size and extensions; beyond it 400.
  public var chunkLineBytes: Int
  /// The maximum size of all chunk extensions of a body, which the server ignores; beyond it 400.
  public var chunkExtensionBytes: Int
  /// The maximum size of all trailer lines together; beyond it 431.
  public var trailerBlockBytes: Int
  /// The maximum number of trailer lines; beyond it 431.
  public var trailerFields: Int

  /// The documented defaults, or other limits.
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
