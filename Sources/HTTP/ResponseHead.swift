/// The head of a response as it goes over the wire (RFC 9112 section 4).
public struct ResponseHead: Sendable {
  /// What the response says about the connection (RFC 9112 section 9.3).
  public enum Persistence: Sendable {
    /// HTTP/1.1 keeps a connection without saying so.
    case kept
    /// HTTP/1.0 is told that it is kept.
    case keptExplicitly
    /// `Connection: close`
    case closed
  }

  /// The status.
  public var status: Status
  /// The application's fields.
  public var fields: Fields
  /// `Content-Length`; nil where there must be none.
  public var contentLength: Int?
  /// What it says about the connection.
  public var persistence: Persistence

  /// A head.
  public init(
    status: Status, fields: Fields, contentLength: Int?, persistence: Persistence
  ) {
    self.status = status
    self.fields = fields
    self.contentLength = contentLength
    self.persistence = persistence
  }

  /// The interim answer to `Expect: 100-continue` (RFC 9110 section 15.2.1).
  public static let `continue` = Array("HTTP/1.1 100 Continue\r\n\r\n".utf8)

  /// Appends the head to `bytes`, with `Date` and `X-Request-Id` and the empty line.
  public func write(to bytes: inout [UInt8], date: some Sequence<UInt8>, requestID: String) {
    bytes.reserveCapacity(bytes.count + fields.bytes.count + 4 * fields.count + 256)
    bytes.write("HTTP/1.1 ")
    bytes.write(status.code)
    bytes.write(" ")
    bytes.append(contentsOf: status.reason.utf8)
    bytes.write("\r\n")
    for entry in fields.entries {
      bytes.append(
        contentsOf: fields.bytes[Int(entry.name.lowerBound)..<Int(entry.name.upperBound)])
      bytes.write(": ")
      bytes.append(
        contentsOf: fields.bytes[Int(entry.value.lowerBound)..<Int(entry.value.upperBound)])
      bytes.write("\r\n")
    }
    if let contentLength {
      bytes.write("Content-Length: ")
      bytes.write(contentLength)
      bytes.write("\r\n")
    }
    switch persistence {
    case .kept: break
    case .keptExplicitly: bytes.write("Connection: keep-alive\r\n")
    case .closed: bytes.write("Connection: close\r\n")
    }
    bytes.write("Date: ")
    bytes.append(contentsOf: date)
    bytes.write("\r\nX-Request-Id: ")
    bytes.append(contentsOf: requestID.utf8)
    bytes.write("\r\n\r\n")
  }
}

extension [UInt8] {
  @inline(__always)
  fileprivate mutating func write(_ text: StaticString) {
    text.withUTF8Buffer { append(contentsOf: $0) }
  }

  /// Appends a number that is not negative, in decimal.
  fileprivate mutating func write(_ number: Int) {
    let start = count
    var rest = number
    repeat {
      append(UInt8(0x30 + rest % 10))
      rest /= 10
    } while rest > 0
    self[start...].reverse()
  }
}
