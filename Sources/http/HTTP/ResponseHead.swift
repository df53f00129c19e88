/// The head of a response in wire format (RFC 9112 section 4).
public struct ResponseHead: Sendable {
  /// The response's indication of whether the connection is kept (RFC 9112 section 9.3).
  public enum Persistence: Sendable {
    /// It is kept, which is the default of HTTP/1.1.
    case kept
    /// It is kept, which HTTP/1.0 needs to be told.
    case keptExplicitly
    /// `Connection: close`
    case closed
  }

  /// The status.
  public var status: Status
  /// The application's fields.
  public var fields: Fields
  /// The value of `Content-Length`; nil if the response must not have one.
  public var contentLength: Int?

  /// A head.
  public init(status: Status, fields: Fields, contentLength: Int?) {
    self.status = status
    self.fields = fields
    self.contentLength = contentLength
  }

  /// The interim answer to `Expect: 100-continue` (RFC 9110 section 15.2.1).
  public static let `continue` = Array("HTTP/1.1 100 Continue\r\n\r\n".utf8)

  /// A complete interim answer (RFC 9110 section 15.2).
  public static func interim(_ status: Status, _ fields: Fields) -> [UInt8] {
    var bytes: [UInt8] = []
    ResponseHead(status: status, fields: fields, contentLength: nil).writeStart(to: &bytes)
    bytes.write("\r\n")
    return bytes
  }

  /// The maximum number of bytes of a head without the application's fields.
  public static let reservedBytes = 256

  /// Appends the status line, the fields and `Content-Length`: the part that is the same each time the
  /// response is sent.
  public func writeStart(to bytes: inout [UInt8]) {
    bytes.reserveCapacity(bytes.count + fields.byteCount + Self.reservedBytes)
    bytes.write("HTTP/1.1 ")
    bytes.write(status.code)
    bytes.write(" ")
    bytes.append(contentsOf: status.reason.utf8)
    bytes.write("\r\n")
    fields.write(to: &bytes)
    if let contentLength {
      bytes.write("Content-Length: ")
      bytes.write(contentLength)
      bytes.write("\r\n")
    }
  }

  /// Appends the part that differs between answers, and the empty line.
  ///
  /// - Parameter dateLine: the `Date` line, with its CRLF.
  public static func writeEnd(
    to bytes: inout [UInt8], persistence: Persistence, dateLine: [UInt8], requestID: String
  ) {
    switch persistence {
    case .kept: break
    case .keptExplicitly: bytes.write("Connection: keep-alive\r\n")
    case .closed: bytes.write("Connection: close\r\n")
    }
    bytes.append(contentsOf: dateLine)
    bytes.write("X-Request-Id: ")
    bytes.append(text: requestID)
    bytes.write("\r\n\r\n")
  }

  /// The `Date` line (RFC 9110 section 6.6.1).
  public static func dateLine(secondsSince1970: Int) -> [UInt8] {
    Array("Date: \(HTTPDate.format(secondsSince1970: secondsSince1970))\r\n".utf8)
  }
}

extension [UInt8] {
  @inline(__always)
  fileprivate mutating func write(_ text: StaticString) {
    text.withUTF8Buffer { append(contentsOf: $0) }
  }

  /// Appends a non-negative number in decimal.
  fileprivate mutating func write(_ number: Int) {
    let start = count
    var rest = number
    repeat {
      append(UInt8(0x30 + rest % 10))
      rest /= 10
    } while rest > 0
    var (low, high) = (start, count - 1)
    while low < high {
      swapAt(low, high)
      (low, high) = (low + 1, high - 1)
    }
  }
}
