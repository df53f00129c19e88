/// The log line of one request.
public struct RequestLine: Sendable {
  /// The maximum length of a text in bytes of UTF-8; a text that was cut ends in `…`.
  public static let maximumTextBytes = 200

  /// The method, as it was sent.
  public var method: String
  /// The path as it was sent, without the query.
  public var path: String
  /// The pattern of the route that answered.
  public var route: String
  /// The status of the answer.
  public var status: Int
  /// The number of bytes that were sent of the answer, including its head.
  public var bytes: Int
  /// The time from the end of the request's head to the last byte of the answer.
  public var microseconds: Int
  /// The `X-Request-Id` of request and answer.
  public var requestID: String
  /// The address of the client.
  public var client: String
  /// The name of the token that a write presented; empty without one.
  public var user: String

  /// A line with these values.
  public init(
    method: String, path: String, route: String, status: Int, bytes: Int, microseconds: Int,
    requestID: String, client: String, user: String = ""
  ) {
    self.method = method
    self.path = path
    self.route = route
    self.status = status
    self.bytes = bytes
    self.microseconds = microseconds
    self.requestID = requestID
    self.client = client
    self.user = user
  }
}

extension LogSink {
  /// Writes the line of a request. It is built directly, without metadata, since there is one for each
  /// request.
  ///
  /// As text: `2026-11-21T05:19:46.123Z info  GET /rp/ 200 18432 B 412 µs route=/rp/
  /// client=127.0.0.1 requestID=abc`. As JSON: an object with `time`, `level`, `logger` and
  /// `message` like any other line, and the members of `RequestLine` by their names.
  public func append(_ line: RequestLine, nanosecondsSince1970: Int) {
    var writer = LineWriter()
    switch format {
    case .text: writer.requestText(line, nanosecondsSince1970)
    case .json: writer.requestJSON(line, nanosecondsSince1970)
    }
    append(writer.bytes)
  }
}

extension LineWriter {
  fileprivate mutating func requestText(_ line: RequestLine, _ nanosecondsSince1970: Int) {
    let limit = RequestLine.maximumTextBytes
    time(nanosecondsSince1970)
    word(line.method, after: " info  ", atMostBytes: limit)
    word(line.path, after: " ", atMostBytes: limit)
    integer(line.status, after: " ")
    integer(line.bytes, after: " ")
    integer(line.microseconds, after: " B ")
    word(line.route, after: " µs route=", atMostBytes: limit)
    word(line.client, after: " client=", atMostBytes: limit)
    word(line.requestID, after: " requestID=", atMostBytes: limit)
    if !line.user.isEmpty { word(line.user, after: " user=", atMostBytes: limit) }
  }

  fileprivate mutating func requestJSON(_ line: RequestLine, _ nanosecondsSince1970: Int) {
    let limit = RequestLine.maximumTextBytes
    syntax("{\"time\":\"")
    time(nanosecondsSince1970)
    quoted(
      line.method,
      after: "\",\"level\":\"info\",\"logger\":\"lookahead\",\"message\":\"request\",\"method\":",
      atMostBytes: limit)
    quoted(line.path, after: ",\"path\":", atMostBytes: limit)
    quoted(line.route, after: ",\"route\":", atMostBytes: limit)
    integer(line.status, after: ",\"status\":")
    integer(line.bytes, after: ",\"bytes\":")
    integer(line.microseconds, after: ",\"microseconds\":")
    quoted(line.client, after: ",\"client\":", atMostBytes: limit)
    quoted(line.requestID, after: ",\"requestID\":", atMostBytes: limit)
    if !line.user.isEmpty { quoted(line.user, after: ",\"user\":", atMostBytes: limit) }
    syntax("}")
  }
}
