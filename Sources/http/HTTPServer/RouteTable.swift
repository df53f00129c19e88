import HTTP

/// The table in which a `Router` finds routes: maps methods and patterns to numbers. It is not generic, so
/// that it is compiled once for all routers.
@usableFromInline struct RouteTable: Sendable {
  /// Like `Router.Match`, with the route's number.
  @usableFromInline enum Match: Sendable {
    case found(Int, parameters: [String: String])
    case methodNotAllowed(allowed: [Method])
    case notFound
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
    /// So few that a linear search is faster than hashing. The number of each is at the same index.
    let methods: [Method]
    let numbers: [Int]

    init(_ segments: [Segment], _ methods: [Method] = [], _ numbers: [Int] = []) {
      self.segments = segments
      self.methods = methods
      self.numbers = numbers
    }

    func allowed() -> [Method] {
      var methods = Set(methods)
      if methods.contains(.get) { methods.insert(.head) }
      methods.insert(.options)
      return Method.allCases.filter(methods.contains)
    }
  }

  private struct Literal: Sendable {
    let path: String
    let route: Route
  }

  /// Routes without parameters, by their path in the form without any encoding. They are so few that a linear
  /// search is faster than hashing.
  private var literals: [Literal] = []
  /// All routes, the more literal ones first.
  private var routes: [Route] = []

  /// Adds a route: see `Router.add`.
  mutating func add(_ method: Method, _ pattern: String, _ number: Int) {
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
    routes[index] = Route(segments, known.methods + [method], known.numbers + [number])
    guard segments.allSatisfy(\.isLiteral) else { return }
    literals.removeAll { $0.path == pattern }
    literals.append(Literal(path: pattern, route: routes[index]))
  }

  /// The route of a raw path.
  @usableFromInline func match(_ method: Method, path: String) -> Match {
    for index in literals.indices where literals[index].path == path {
      return result(literals[index].route, method, [:])
    }
    let segments: [String]
    do throws(PercentEncodingError) {
      segments = try PathSegments.split(path)
    } catch {
      return .malformedPath(error)
    }
    guard path.utf8.first == UInt8(ascii: "/") else { return .notFound }
    // Without encoding, the segments are the same as sent.
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

  /// The methods of all routes.
  var methods: [Method] {
    let all = Set(routes.flatMap { $0.allowed() })
    return Method.allCases.filter(all.contains)
  }

  private func result(_ route: Route, _ method: Method, _ parameters: [String: String]) -> Match {
    let own = route.methods.firstIndex(of: method)
    if let index = own ?? (method == .head ? route.methods.firstIndex(of: .get) : nil) {
      return .found(route.numbers[index], parameters: parameters)
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
