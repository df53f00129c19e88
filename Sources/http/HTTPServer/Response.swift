import HTTP
import System

/// A final response (RFC 9110 section 15).
///
/// The server adds `Content-Length`, `Connection`, `Date` and `X-Request-Id`; an application leaves them out.
public struct Response: Sendable {
  /// A part of a body.
  public enum Part: Sendable {
    /// Bytes; large ones are sent from their own array, without a copy (`sendmsg(2)`).
    case bytes([UInt8])
    /// Bytes of a file, which do not pass through this process (`sendfile(2)`).
    case file(OpenFile, Range<Int>)
    /// Bytes that lie elsewhere, and are fetched as they leave. Indirect, since every other part would be
    /// copied at the size of the largest one.
    indirect case pieces(any PieceSource, Range<Int>)
    /// Bytes that are made as they leave: the whole body of the last answer of its connection.
    case stream(ResponseStream)

    /// The number of bytes of memory that it holds until it has left; for a file, a number that accounts for
    /// its descriptor.
    var heldBytes: Int {
      switch self {
      case .bytes(let bytes): bytes.count
      case .file: Self.fileHeldBytes
      case .pieces(let source, let range): source.piece(of: range).count
      case .stream: 0
      }
    }

    /// The number of bytes that an open file counts as.
    private static let fileHeldBytes = 32_768

    /// Whether its bytes have to be fetched first.
    var isElsewhere: Bool { if case .pieces = self { true } else { false } }

    /// The number of its bytes; 0 for a stream, where it is unknown.
    public var count: Int {
      switch self {
      case .bytes(let bytes): bytes.count
      case .file(_, let range), .pieces(_, let range): range.count
      case .stream: 0
      }
    }
  }

  /// The status.
  public var status: Status { didSet { preparedHead = nil } }
  /// The header fields, without those that the server adds.
  public var fields: Fields { didSet { preparedHead = nil } }
  /// The body's parts, in order.
  ///
  /// The answer to a HEAD gets the same body as that to a GET: the server counts and drops it.
  public var body: [Part] { didSet { preparedHead = nil } }
  /// The pattern of the route that answered, for the log and the figures: one of a few.
  public var route = ""
  /// The user who sent the request, if the application knows, for the log.
  public var user = ""
  /// The part of the head that is the same in each answer to a GET: see `prepared()`.
  public private(set) var preparedHead: [UInt8]?

  /// A response.
  public init(_ status: Status, fields: Fields = Fields(), body: [Part] = []) {
    self.status = status
    self.fields = fields
    self.body = body
  }

  /// A response with one part of bytes.
  public init(_ status: Status, fields: Fields = Fields(), bytes: [UInt8]) {
    self.init(status, fields: fields, body: [.bytes(bytes)])
  }

  /// A response with one part of text.
  public init(_ status: Status, fields: Fields = Fields(), text: String) {
    self.init(status, fields: fields, bytes: Array(text.utf8))
  }

  /// A response whose head `prepared()` has written before; only that head contains its fields.
  public init(_ status: Status, preparedHead: [UInt8], body: [Part], route: String) {
    self.init(status, body: body)
    self.route = route
    self.preparedHead = preparedHead
  }

  /// The same response with its head already written, for a response that is sent repeatedly.
  public func prepared() -> Response {
    let head = ResponseHead(
      status: status, fields: fields, contentLength: status.forbidsBody ? nil : bodyLength)
    var bytes: [UInt8] = []
    head.writeStart(to: &bytes)
    var response = self
    response.preparedHead = bytes
    return response
  }

  /// The stream that makes its body as it leaves; nil if there is none.
  var stream: ResponseStream? {
    if case .stream(let stream)? = body.first { stream } else { nil }
  }

  /// Whether it holds a file open until it has left.
  var holdsFile: Bool {
    body.contains { if case .file = $0 { true } else { false } }
  }

  /// The number of bytes of memory that it holds until it has left.
  var heldBytes: Int {
    var held = 512
    for part in body { held += part.heldBytes }
    return held
  }

  /// The number of bytes of the body.
  public var bodyLength: Int {
    var length = 0
    for part in body { length += part.count }
    return length
  }
}
