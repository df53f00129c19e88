/// A response status: its code and reason phrase (RFC 9110 section 15).
public struct Status: Sendable, Hashable {
  /// The three digits of the code.
  public let code: Int
  /// The reason phrase: ASCII, for people only.
  public let reason: String

  /// A custom status; those that the server uses are constants of this type.
  public init(code: Int, reason: String) {
    self.code = code
    self.reason = reason
  }

  /// Whether a response with this status never has a body (RFC 9110 section 6.4.1).
  public var forbidsBody: Bool { code < 200 || code == 204 || code == 304 }
}

extension Status {
  /// 104, draft-ietf-httpbis-resumable-upload-12 section 5
  public static let uploadResumptionSupported = Status(
    code: 104, reason: "Upload Resumption Supported")
  /// 200
  public static let ok = Status(code: 200, reason: "OK")
  /// 201
  public static let created = Status(code: 201, reason: "Created")
  /// 202
  public static let accepted = Status(code: 202, reason: "Accepted")
  /// 204
  public static let noContent = Status(code: 204, reason: "No Content")
  /// 206
  public static let partialContent = Status(code: 206, reason: "Partial Content")
  /// 301
  public static let movedPermanently = Status(code: 301, reason: "Moved Permanently")
  /// 304
  public static let notModified = Status(code: 304, reason: "Not Modified")
  /// 307
  public static let temporaryRedirect = Status(code: 307, reason: "Temporary Redirect")
  /// 308
  public static let permanentRedirect = Status(code: 308, reason: "Permanent Redirect")
  /// 400
  public static let badRequest = Status(code: 400, reason: "Bad Request")
  /// 401
  public static let unauthorized = Status(code: 401, reason: "Unauthorized")
  /// 403
  public static let forbidden = Status(code: 403, reason: "Forbidden")
  /// 404
  public static let notFound = Status(code: 404, reason: "Not Found")
  /// 405
  public static let methodNotAllowed = Status(code: 405, reason: "Method Not Allowed")
  /// 406
  public static let notAcceptable = Status(code: 406, reason: "Not Acceptable")
  /// 408
  public static let requestTimeout = Status(code: 408, reason: "Request Timeout")
  /// 409
  public static let conflict = Status(code: 409, reason: "Conflict")
  /// 410
  public static let gone = Status(code: 410, reason: "Gone")
  /// 411
  public static let lengthRequired = Status(code: 411, reason: "Length Required")
  /// 412
  public static let preconditionFailed = Status(code: 412, reason: "Precondition Failed")
  /// 413
  public static let contentTooLarge = Status(code: 413, reason: "Content Too Large")
  /// 414
  public static let uriTooLong = Status(code: 414, reason: "URI Too Long")
  /// 415
  public static let unsupportedMediaType = Status(code: 415, reason: "Unsupported Media Type")
  /// 416
  public static let rangeNotSatisfiable = Status(code: 416, reason: "Range Not Satisfiable")
  /// 417
  public static let expectationFailed = Status(code: 417, reason: "Expectation Failed")
  /// 421
  public static let misdirectedRequest = Status(code: 421, reason: "Misdirected Request")
  /// 422
  public static let unprocessableContent = Status(code: 422, reason: "Unprocessable Content")
  /// 428
  public static let preconditionRequired = Status(code: 428, reason: "Precondition Required")
  /// 429
  public static let tooManyRequests = Status(code: 429, reason: "Too Many Requests")
  /// 431
  public static let requestHeaderFieldsTooLarge = Status(
    code: 431, reason: "Request Header Fields Too Large")
  /// 500
  public static let internalServerError = Status(code: 500, reason: "Internal Server Error")
  /// 501
  public static let notImplemented = Status(code: 501, reason: "Not Implemented")
  /// 502
  public static let badGateway = Status(code: 502, reason: "Bad Gateway")
  /// 503
  public static let serviceUnavailable = Status(code: 503, reason: "Service Unavailable")
  /// 507, RFC 4918 section 11.5
  public static let insufficientStorage = Status(code: 507, reason: "Insufficient Storage")
  /// 505
  public static let httpVersionNotSupported = Status(
    code: 505, reason: "HTTP Version Not Supported")
}
