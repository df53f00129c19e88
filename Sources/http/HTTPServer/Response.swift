import HTTP
import System

/// A final response (RFC 9110 section 15).
///
/// The server adds `Content-Length`, `Connection`, `Date` and `X-Request-Id`: an application leaves
/// those out.
public struct Response: Sendable {
  /// A piece of a body.
  public enum Part: Sendable {
    /// Bytes; large ones are written with `writev` from where they are.
    case bytes([UInt8])
    /// Bytes of a file, which never pass through this process (`sendfile(2)`).
    case file(OpenFile, Range<Int>)
    /// Bytes that lie somewhere else, and are brought as they leave. Indirect: every other part would be copied as the
    /// largest one is.
    indirect case pieces(any PieceSource, Range<Int>)
    /// What is made as it leaves: the whole body of the last answer of its connection.
    case stream(ResponseStream)

    /// How much memory it holds until it has left: a file takes a descriptor, which counts as well.
    var heldBytes: Int {
      switch self {
      case .bytes(let bytes): bytes.count
      case .file: Self.fileHeldBytes
      case .pieces(let source, let range): source.piece(of: range).count
      case .stream: 0
      }
    }

    /// What an open file counts as.
    private static let fileHeldBytes = 32_768

    /// Whether its bytes are not here yet.
    var isElsewhere: Bool { if case .pieces = self { true } else { false } }

    /// How many bytes it has; unknown for a stream.
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
  /// The answer to a HEAD is given its body like that to a GET: the server counts and drops it.
  public var body: [Part] { didSet { preparedHead = nil } }
  /// What answered, for the log and the figures: a route's pattern, and so one of a few.
  public var route = ""
  /// Who asked, as far as the application knows, for the log.
  public var user = ""
  /// The head as far as it is the same in each answer to a GET: see `prepared()`.
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

  /// A response whose head was written by `prepared()` before; its fields are there and nowhere else.
  public init(_ status: Status, preparedHead: [UInt8], body: [Part], route: String) {
    self.init(status, body: body)
    self.route = route
    self.preparedHead = preparedHead
  }

  /// The same response with its head written beforehand, for one that is sent again and again.
  public func prepared() -> Response {
    let head = ResponseHead(
      status: status, fields: fields, contentLength: status.forbidsBody ? nil : bodyLength)
    var bytes: [UInt8] = []
    head.writeStart(to: &bytes)
    var response = self
    response.preparedHead = bytes
    return response
  }

  /// What makes its body as it leaves, where something does.
  var stream: ResponseStream? {
    if case .stream(let stream)? = body.first { stream } else { nil }
  }

  /// Whether it holds a file open until it has left.
  var holdsFile: Bool {
    body.contains { if case .file = $0 { true } else { false } }
  }

  /// How much memory it holds until it has left.
  var heldBytes: Int {
    var held = 512
    for part in body { held += part.heldBytes }
    return held
  }

  /// How many bytes the body has.
  public var bodyLength: Int {
    var length = 0
    for part in body { length += part.count }
    return length
  }
}
