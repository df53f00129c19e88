/// A final response (RFC 9110 section 15).
///
/// The server adds `Content-Length`, `Connection`, `Date` and `X-Request-Id`: an application leaves
/// those out.
public struct Response: Sendable {
  /// The status.
  public var status: Status
  /// The header fields, without those that the server adds.
  public var fields: Fields
  /// The body's parts, in order; large ones are written with `writev` from where they are.
  ///
  /// The answer to a HEAD is given its body like that to a GET: the server counts and drops it.
  public var body: [[UInt8]]

  /// A response.
  public init(_ status: Status, fields: Fields = Fields(), body: [[UInt8]] = []) {
    self.status = status
    self.fields = fields
    self.body = body
  }

  /// A response with one part of text.
  public init(_ status: Status, fields: Fields = Fields(), text: String) {
    self.init(status, fields: fields, body: [Array(text.utf8)])
  }

  /// How many bytes the body has.
  public var bodyLength: Int {
    var length = 0
    for part in body { length += part.count }
    return length
  }
}
