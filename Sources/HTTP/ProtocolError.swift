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
