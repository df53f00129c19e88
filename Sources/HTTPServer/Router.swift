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

  private enum Segment: Sendable, Hashable {
    case literal(String)
    case parameter(String)
    case rest(String)

    var isLiteral: Bool {
      if case .literal = self { true } else { false }
    }
  }

  private final class Route: Sendable {
    let segments: [Segment]
    /// A few: looked through faster than hashed. Each has the value at its index.
    let methods: [Method]
    let values: [Value]

    init(_ segments: [Segment], _ methods: [Method] = [], _ values: [Value] = []) {
      self.segments = segments
      self.methods = methods
      self.values = values
    }

    func allowed() -> [Method] {
      var methods = Set(methods)
      if methods.contains(.get) { methods.insert(.head) }
      methods.insert(.options)
      return Method.allCases.filter(methods.contains)
    }
  }

  /// Routes without parameters, by their path as it is sent when nothing in it is encoded.
  private var literals: [String: Route] = [:]
  /// Every route, the more literal ones first.
  private var routes: [Route] = []

  /// No routes.
  public init() {}

  /// Adds a route. A pattern starts with `/`; a segment in braces is a parameter.
  ///
  /// A second value for the same method and pattern is a mistake of the program.
  public mutating func add(_ method: Method, _ pattern: String, _ value: Value) {
    precondition(pattern.hasPrefix("/"), "a pattern starts with a slash: \(pattern)")
    let segments = pattern.dropFirst().split(separator: "/", omittingEmptySubsequences: false)
      .map { piece -> Segment in
        guard piece.hasPrefix("{"), piece.hasSuffix("}") else { return .literal(String(piece)) }
        let name = piece.dropFirst().dropLast()
        return name.hasSuffix("...")
          ? .rest(String(name.dropLast(3))) : Segment.parameter(String(name))
      }
    let index: Int
    if let known = routes.firstIndex(where: { $0.segments == segments }) {
      index = known
    } else {
      index = routes.firstIndex { isMoreLiteral(segments, $0.segments) } ?? routes.count
      routes.insert(Route(segments), at: index)
    }
    let known = routes[index]
    precondition(!known.methods.contains(method), "a second route for \(method) \(pattern)")
    routes[index] = Route(segments, known.methods + [method], known.values + [value])
    if segments.allSatisfy(\.isLiteral) { literals[pattern] = routes[index] }
  }

  /// The route of a raw path.
  public func match(_ method: Method, path: String) -> Match {
    if let route = literals[path] { return result(route, method, [:]) }
    let segments: [String]
    do throws(PercentEncodingError) {
      segments = try PathSegments.split(path)
    } catch {
      return .malformedPath(error)
    }
    guard path.utf8.first == UInt8(ascii: "/") else { return .notFound }
    // Where nothing is encoded, the segments are as they were sent.
    let raw =
      path.utf8.contains(UInt8(ascii: "%"))
      ? path.dropFirst().split(separator: "/", omittingEmptySubsequences: false).map(String.init)
      : segments
    for route in routes {
      if let parameters = parameters(route, segments, raw, path) {
        return result(route, method, parameters)
      }
    }
    return .notFound
  }

  /// The methods of every route, for `OPTIONS *`.
  public var methods: [Method] {
    let all = Set(routes.flatMap { $0.allowed() })
    return Method.allCases.filter(all.contains)
  }

  private func result(_ route: Route, _ method: Method, _ parameters: [String: String]) -> Match {
    let own = route.methods.firstIndex(of: method)
    if let index = own ?? (method == .head ? route.methods.firstIndex(of: .get) : nil) {
      return .found(route.values[index], parameters: parameters)
    }
    return .methodNotAllowed(allowed: route.allowed())
  }

  private func parameters(
    _ route: Route, _ segments: [String], _ raw: [String], _ path: String
  ) -> [String: String]? {
    let takesRest = if case .rest = route.segments.last { true } else { false }
    guard
      takesRest
        ? route.segments.count <= segments.count : route.segments.count == segments.count
    else { return nil }
    var parameters: [String: String] = [:]
    for (index, (pattern, segment)) in zip(route.segments, segments).enumerated() {
      switch pattern {
      case .literal(let literal):
        guard literal.utf8.elementsEqual(raw[index].utf8) else { return nil }
      case .parameter(let name):
        guard !segment.isEmpty else { return nil }
        parameters[name] = segment
      case .rest(let name):
        let pieces = path.split(
          separator: "/", maxSplits: route.segments.count, omittingEmptySubsequences: false)
        parameters[name] = String(pieces[route.segments.count])
      }
    }
    return parameters
  }

  private func isMoreLiteral(_ left: [Segment], _ right: [Segment]) -> Bool {
    for (left, right) in zip(left, right) where left.isLiteral != right.isLiteral {
      return left.isLiteral
    }
    return false
  }
}
