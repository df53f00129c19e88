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
      "The value of \(field) holds the byte 0x\(String(byte, radix: 16))."
    case .missingHost: "The Host field is missing."
    case .repeatedHost: "The Host field comes more than once."
    case .malformedHost(let host): "The Host field is not a host with an optional port: \(host)"
    case .malformedContentLength(let value): "Content-Length is not a number: \(value)"
    case .repeatedContentLength: "Content-Length comes more than once."
    case .contentLengthWithTransferEncoding:
      "Content-Length and Transfer-Encoding cannot come together."
    case .malformedTransferEncoding(let value):
      "Transfer-Encoding must end in one `chunked`: \(value)"
    case .unknownTransferCoding(let name): "The transfer coding \(name) is not known."
    case .transferEncodingInOldVersion: "Transfer-Encoding came in an HTTP/1.0 message."
    case .bodyTooLarge(let limit): "The body is larger than \(limit) bytes."
    case .malformedChunkSize: "A chunk's size is not a hexadecimal number."
    case .malformedChunkExtension: "A chunk's extensions are malformed."
    case .chunkLineTooLong(let limit): "A chunk's size line is longer than \(limit) bytes."
    case .chunkNotEnded: "A chunk's data is not followed by CRLF."
    case .forbiddenTrailer(let field): "\(field) cannot be a trailer."
    case .unexpectedEnd: "The message ends too early."
    case .expectationFailed: "Only the expectation 100-continue can be met."
    case .headerTimedOut: "The request's head took too long."
    case .bodyTimedOut: "The request's body took too long."
    case .tooManyConnections: "There are too many connections."
    case .tooManyAnswersWait: "Too many answers wait for their clients to read them."
    case .answerTimedOut: "The answer took too long."
    case .unanswered: "The request was not answered."
    }
  }
}
