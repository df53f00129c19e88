/// A request method that this server recognises (RFC 9110 section 9, RFC 5789, and
/// draft-ietf-httpbis-safe-method-w-body).
///
/// Method names are case-sensitive. The parser answers a well-formed name that is not listed here with 501
/// (RFC 9110 section 9.1), so the set is closed and needs no allocation.
public enum Method: String, Sendable, Hashable, CaseIterable {
  case get = "GET"
  case head = "HEAD"
  case post = "POST"
  case put = "PUT"
  case patch = "PATCH"
  case delete = "DELETE"
  case options = "OPTIONS"
  case trace = "TRACE"
  case connect = "CONNECT"
  case query = "QUERY"
}

extension Method {
  /// Whether the method is safe, which means that it only reads (RFC 9110 section 9.2.1).
  public var isSafe: Bool {
    switch self {
    case .get, .head, .options, .trace, .query: true
    case .post, .put, .patch, .delete, .connect: false
    }
  }
}

extension Method: CustomStringConvertible {
  /// The name as it is written in a request line.
  public var description: String { rawValue }
}

extension Method {
  /// The method that these bytes name; nil if it is not listed.
  init?(_ bytes: Span<UInt8>, _ range: Range<Int>) {
    let candidate: Method
    switch bytes[range.lowerBound] {
    case UInt8(ascii: "G"): candidate = .get
    case UInt8(ascii: "H"): candidate = .head
    case UInt8(ascii: "D"): candidate = .delete
    case UInt8(ascii: "O"): candidate = .options
    case UInt8(ascii: "T"): candidate = .trace
    case UInt8(ascii: "C"): candidate = .connect
    case UInt8(ascii: "Q"): candidate = .query
    case UInt8(ascii: "P"):
      switch range.count {
      case 3: candidate = .put
      case 4: candidate = .post
      default: candidate = .patch
      }
    default: return nil
    }
    guard bytes.equals(range, candidate.name) else { return nil }
    self = candidate
  }

  private var name: StaticString {
    switch self {
    case .get: "GET"
    case .head: "HEAD"
    case .post: "POST"
    case .put: "PUT"
    case .patch: "PATCH"
    case .delete: "DELETE"
    case .options: "OPTIONS"
    case .trace: "TRACE"
    case .connect: "CONNECT"
    case .query: "QUERY"
    }
  }
}
