import HTTP

/// A table of routes, which maps a method and a pattern such as `/v1/items/{id}` to a value of any type.
///
/// A path is split into its raw segments. A literal segment matches only as it is written in the pattern, and
/// not if it is percent-encoded, so that a proxy's rules for a prefix hold. A parameter is percent-decoded
/// once, so an encoded slash is a character of its segment. A trailing slash matters. If several patterns
/// match, the one with a literal segment at the first difference wins. A route for GET serves HEAD as well.
///
/// A last segment such as `{path...}` matches the whole rest of the path, one segment or more, as it was
/// sent: its user splits and decodes it, so that an encoded slash is not a separator.
public struct Router<Value: Sendable>: Sendable {
  /// The result for a path and a method.
  public enum Match: Sendable {
    /// A route, and the decoded segments that its pattern names.
    case found(Value, parameters: [String: String])
    /// The path has routes, but none for this method; `allowed` is the value of the `Allow` field of a 405,
    /// or of the answer to OPTIONS.
    case methodNotAllowed(allowed: [Method])
    /// No route has this path.
    case notFound
    /// The path cannot be decoded.
    case malformedPath(PercentEncodingError)
  }

  @usableFromInline var table = RouteTable()
  /// The values, by the numbers of their routes in the table.
  @usableFromInline var values: [Value] = []

  /// A router without routes.
  public init() {}

  /// Adds a route. A pattern starts with `/`; a segment in braces is a parameter.
  ///
  /// A second value for the same method and pattern is a programming error.
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

  /// The methods of all routes, for `OPTIONS *`.
  public var methods: [Method] { table.methods }
}
