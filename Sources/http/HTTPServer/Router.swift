import HTTP

/// A table of routes: a method and a pattern such as `/v1/items/{id}` to a value of any type.
///
/// A path is split into its raw segments. A literal one matches only as it is written in the pattern: who
/// spells it with percent-encoding meets no route, so that a proxy's rules for a prefix hold. A parameter
/// is percent-decoded once, so an encoded slash is a character of its segment. A trailing slash matters. Where several patterns match, the one with
/// a literal segment at the first difference wins. A route for GET serves HEAD as well.
///
/// A last segment such as `{path...}` takes the whole rest of the path, one segment or more, as it
/// was sent: whoever uses it splits and decodes it, so that an encoded slash is none.
public struct Router<Value: Sendable>: Sendable {
  /// What a path and method come to.
  public enum Match: Sendable {
    /// A route, and the decoded segments that its pattern names.
    case found(Value, parameters: [String: String])
    /// The path has routes, but none for this method; `allowed` is the `Allow` field of a 405, or
    /// of the answer to OPTIONS.
    case methodNotAllowed(allowed: [Method])
    /// No route has this path.
    case notFound
    /// The path cannot be decoded.
    case malformedPath(PercentEncodingError)
  }

  @usableFromInline var table = RouteTable()
  /// By the numbers that the table has.
  @usableFromInline var values: [Value] = []

  /// No routes.
  public init() {}

  /// Adds a route. A pattern starts with `/`; a segment in braces is a parameter.
  ///
  /// A second value for the same method and pattern is a mistake of the program.
  public mutating func add(_ method: Method, _ pattern: String, _ value: Value) {
    table.add(method, pattern, values.count)
    values.append(value)
  }

  /// The route of a raw path.
  @inlinable public func match(_ method: Method, path: String) -> Match {
    switch table.match(method, path: path) {
    case .found(let number, let parameters): .found(values[number], parameters: parameters)
    case .methodNotAllowed(let allowed): .methodNotAllowed(allowed: allowed)
    case .notFound: .notFound
    case .malformedPath(let error): .malformedPath(error)
    }
  }

  /// The methods of every route, for `OPTIONS *`.
  public var methods: [Method] { table.methods }
}

/// The application behind a server.
public protocol Handler: Sendable {
  /// Called on the event loop's thread with a complete request: its head, and its body where the
  /// body policy collects it. Where the policy is `.stream`, it is called when the head is complete,
  /// and the body is read from `responder.body`.
  ///
  /// Must not block for longer than about a millisecond. Answers by calling `responder.respond(_:)`
  /// exactly once, at once or later, from any thread.
  func handle(_ request: Request, _ responder: Responder)

  /// Called on the event loop's thread when a head is complete that announces a body: what to do
  /// with that body.
  func bodyPolicy(for request: Request) -> BodyPolicy

  /// Renders the answer to a message that the server itself refuses: the application owns the one
  /// mapping of errors to documents. `error.status` is the status that the error stands for.
  func response(to error: ProtocolError, requestID: String) -> Response
}

/// What is done with the body of a request.
public enum BodyPolicy: Sendable, Hashable {
  /// Read it and throw it away: the route has no use for one.
  ///
  /// Past `discardedBodyBytes` or `discardedBodyTimeoutMilliseconds`, or if the client waits for
  /// `100 Continue`, the request is answered without the rest and the connection ends
  /// (RFC 9112 section 9.3).
  case discard
  /// Collect it into `request.body`; past so many bytes the answer is 413.
  case collect(maximumBytes: Int)
  /// Hand it over as it comes, through `responder.body`; past so many bytes the answer is 413.
  ///
  /// An answer that is given before the body is complete ends the connection.
  case stream(maximumBytes: Int)
}

extension Handler {
  /// Every body is discarded.
  public func bodyPolicy(for request: Request) -> BodyPolicy { .discard }
}
