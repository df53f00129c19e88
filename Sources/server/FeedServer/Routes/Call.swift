import HTTP
import HTTPServer
import Logging
import Observability
import Sockets
import Synchronization
import System

/// The result of reading a request's head.
struct RequestHead: Sendable {
  /// The next step for the request.
  enum Outcome: Sendable {
    case endpoint(Endpoint)
    /// Answers OPTIONS for a path with these methods.
    case options(allowed: [Method])
    case refusal(any Error)
  }

  /// The route that answers; `nil` while it is unknown.
  let route: Route?
  /// The decoded segments of the path, by the names in the route's pattern.
  let path: [String: String]
  let parameters: Parameters
  /// The token that a write presents, or the reason why it is not accepted; `nil` for a read.
  let writer: Result<WriteToken, Problem>?
  let outcome: Outcome

  init(
    _ outcome: Outcome, route: Route? = nil, path: [String: String] = [:],
    parameters: Parameters = .none, writer: Result<WriteToken, Problem>? = nil
  ) {
    self.outcome = outcome
    self.route = route
    self.path = path
    self.parameters = parameters
    self.writer = writer
  }
}

/// A request on its way through the application, with the responder for its answer.
final class Call: Sendable {
  let request: Request
  /// The part of the request that decides about a page.
  let text: RequestText
  let responder: Responder
  let head: RequestHead
  /// The times of the steps, if the client asks for them.
  let timing: Timing?
  /// The fields that pages hand out for reports, if any.
  private let handouts: PageHandouts?
  private let logger: Logger

  init(
    _ request: Request, _ text: RequestText, _ responder: Responder, _ head: consuming RequestHead,
    _ timing: Timing?, _ handouts: PageHandouts?, _ logger: Logger
  ) {
    self.request = request
    self.text = text
    self.responder = responder
    self.head = head
    self.timing = timing
    self.handouts = handouts
    self.logger = logger
  }

  var route: Route? { head.route }
  /// The parameters of the query, all known to the route.
  var parameters: Parameters { head.parameters }

  /// The segment of the path with this name, decoded.
  func segment(_ name: String) -> String { head.path[name] ?? "" }

  /// The token of the write. All tokens have been compared for it once.
  ///
  /// - Throws: `Problem`, as `WriteAccess.writer` does.
  func writer() throws(Problem) -> WriteToken {
    guard let writer = head.writer else {
      preconditionFailure("a route that writes nothing asks for no caller")
    }
    return try writer.get()
  }

  /// Answers with the result of `make`, or with the problem that it throws.
  func answer(_ make: () throws -> Response) {
    do {
      respond(try make())
    } catch {
      refuse(error)
    }
  }

  /// Runs work that answers the request; answers with the problem that it throws.
  func attempt(_ work: () throws -> Void) {
    do {
      try work()
    } catch {
      refuse(error)
    }
  }

  /// Answers with the problem, and logs the server's own faults.
  func refuse(_ error: any Error) {
    let problem = Problem(error)
    if problem.kind.isServersFault {
      logger.error(
        "\(error)", metadata: ["requestID": "\(responder.requestID)", "path": "\(request.path)"])
    }
    respond(problem.response(requestID: responder.requestID))
  }

  func respond(_ response: consuming Response) {
    response.route = route?.path ?? ""
    response.user = (try? head.writer?.get())?.name ?? ""
    timing?.describe(in: &response.fields)
    if let handouts, let feed = pageFeed, [.ok, .notModified].contains(response.status) {
      return responder.respond(handouts.handing(response, feed: feed))
    }
    responder.respond(response)
  }

  /// The feed of the requested page; `nil` for other routes.
  private var pageFeed: String? {
    switch route {
    case .compactPage: parameters["feed"]
    case .page: segment("feed")
    default: nil
    }
  }
}

// MARK: The query

/// A parameter with an invalid value, and what is wrong with it.
struct ParameterError: Error, Hashable, CustomStringConvertible {
  let parameter: String
  let problem: String

  var description: String { "The parameter \(parameter) \(problem)." }
}

/// The parameters of a query: each known, present at most once, and not empty. No parameter is silently
/// ignored.
struct Parameters {
  /// The parameters of an empty query.
  static let none = Parameters(values: [])

  /// An array, because linear search over a few values is faster than hashing.
  private let values: [Query.Parameter]

  private init(values: [Query.Parameter]) { self.values = values }

  /// - Parameter known: the names that the route has.
  /// - Throws: `ParameterError`, `Query.Malformed`.
  init(_ request: borrowing Request, known: [String]) throws {
    values = try request.queryBytes.map { try Query.parse($0) } ?? []
    for (index, parameter) in values.enumerated() {
      let name = parameter.name
      guard known.contains(where: parameter.isNamed) else {
        let names = known.isEmpty ? "none" : known.joined(separator: ", ")
        throw ParameterError(
          parameter: String(name.prefix(100)), problem: "is unknown; known parameters: \(names)")
      }
      // An unknown parameter ends the loop: it compares at most the route's parameters and one more.
      guard !values[..<index].contains(where: { $0.isNamed(name) }) else {
        throw ParameterError(parameter: name, problem: "occurs more than once")
      }
      guard !parameter.value.isEmpty else {
        throw ParameterError(parameter: name, problem: "is empty")
      }
    }
  }

  subscript(name: String) -> String? {
    for index in values.indices where values[index].isNamed(name) { return values[index].value }
    return nil
  }

  /// A whole number, in decimal digits without sign or leading zeros.
  func number(_ name: String, in range: ClosedRange<Int>) throws(ParameterError) -> Int? {
    guard let text = self[name] else { return nil }
    guard let number = Int(digits: text) else {
      throw ParameterError(
        parameter: name, problem: "is not a whole number: \"\(text.prefix(40))\"")
    }
    guard range.contains(number) else {
      throw ParameterError(
        parameter: name,
        problem: "is \(number), which is not in \(range.lowerBound)…\(range.upperBound)")
    }
    return number
  }

  /// Parses `true`, `on` or `1`, or their opposites.
  func boolean(_ name: String) throws(ParameterError) -> Bool? {
    switch self[name] {
    case nil: return nil
    case "true", "on", "1": return true
    case "false", "off", "0": return false
    case let text?:
      throw ParameterError(
        parameter: name, problem: "is neither true nor false: \"\(text.prefix(40))\"")
    }
  }
}

extension Query.Parameter {
  /// Whether the parameter has this name. Names usually differ in length already.
  fileprivate func isNamed(_ name: String) -> Bool {
    self.name.utf8.count == name.utf8.count && self.name == name
  }
}

extension Int {
  /// Parses decimal digits without sign or leading zeros.
  init?(digits text: some StringProtocol) {
    guard text.utf8.allSatisfy({ (48...57).contains($0) }),
      text.utf8.count == 1 || text.utf8.first != 48, let number = Int(text)
    else { return nil }
    self = number
  }
}

// MARK: Times

/// The times of the steps of an answer, for a client that asks with `Prefer: server-timing` (RFC 7240); sent
/// in `Server-Timing` (W3C Server Timing, section 4).
final class Timing: Sendable {
  /// The measured steps of an answer.
  enum Step: String {
    case cut, read, encode, compress
  }

  private let start = MonotonicClock.nanoseconds
  private let steps = Mutex<[(step: Step, nanoseconds: UInt64)]>([])

  private init() {}

  /// `nil` unless the client asks.
  static func asked(by fields: borrowing Fields) -> Timing? {
    guard let preferences = fields.combined("Prefer"),
      preferences.split(separator: ",").contains(where: {
        $0.prefix { $0 != ";" }.filter { $0 != " " && $0 != "\t" }.asciiLowercased
          == "server-timing"
      })
    else { return nil }
    return Timing()
  }

  func measure<Result>(_ step: Step, _ body: () throws -> Result) rethrows -> Result {
    let start = MonotonicClock.nanoseconds
    defer { end(step, start) }
    return try body()
  }

  fileprivate func end(_ step: Step, _ start: UInt64) {
    let taken = MonotonicClock.nanoseconds - start
    steps.withLock { steps in
      // A repeated step counts as one longer step, such as when a page was not fully in memory.
      if let index = steps.firstIndex(where: { $0.step == step }) {
        steps[index].nanoseconds += taken
      } else {
        steps.append((step, taken))
      }
    }
  }

  func describe(in fields: inout Fields) {
    let total = MonotonicClock.nanoseconds - start
    let steps = steps.withLock { $0 }.map { ($0.step.rawValue, $0.nanoseconds) }
    let values = (steps + [("total", total)]).map { name, nanoseconds in
      "\(name);dur=\(Self.milliseconds(nanoseconds))"
    }
    fields.append("Server-Timing", values.joined(separator: ", "))
    fields.append("Timing-Allow-Origin", "*")
    fields.append("Preference-Applied", "server-timing")
  }

  /// A time with three decimals: whole microseconds.
  private static func milliseconds(_ nanoseconds: UInt64) -> String {
    let micros = nanoseconds / 1000
    let rest = String(micros % 1000)
    return "\(micros / 1000).\(String(repeating: "0", count: 3 - rest.count))\(rest)"
  }
}

extension Timing? {
  /// Measures the step if the client asks for times.
  func measure<Result>(_ step: Timing.Step, _ body: () throws -> Result) rethrows -> Result {
    guard let self else { return try body() }
    return try self.measure(step, body)
  }

  /// The start of a step that ends elsewhere.
  func begin() -> UInt64 { self == nil ? 0 : MonotonicClock.nanoseconds }

  /// Ends the step that began at `start`.
  func end(_ step: Timing.Step, _ start: UInt64) { self?.end(step, start) }
}

// MARK: Turns

/// Threads for requests that take longer than an event loop may wait. Waiting requests take turns by their
/// kind and client, so that none waits for all requests of another client.
struct RequestWorkers: Sendable {
  /// The kinds of requests that take turns.
  enum Kind: Int, CaseIterable {
    case page, document, plan, other
  }

  private let pool: WorkerPool
  private let clients: ClientAddresses

  /// - Parameters:
  ///   - threads: the number of requests that run at once, plus one for each kind of which none runs.
  ///   - limit: the maximum number of requests that run or wait.
  init(threads: Int, limit: Int, clients: ClientAddresses) {
    pool = WorkerPool(threads: threads, limit: limit, kinds: Kind.allCases.count)
    self.clients = clients
  }

  /// Runs the work for the call when it is its turn.
  ///
  /// - Parameter resource: what requests wait for, as the problem names it.
  /// - Throws: `Problem` 503 if too much waits already.
  func run(
    for call: Call, of resource: String = "the database", _ work: @escaping WorkerPool.Work
  ) throws(Problem) {
    guard runIfFree(for: call, work) else {
      throw Problem(.overloaded, .serviceUnavailable, "Too many requests wait for \(resource).")
    }
  }

  /// Runs the work likewise; returns `false` if too much waits already.
  func runIfFree(for call: Call, _ work: @escaping WorkerPool.Work) -> Bool {
    let address = clients.address(call.request.fields, peer: call.responder.peer)
    // Two clients with the same hash share their turns.
    return pool.run(
      Turn(kind: (call.route?.turn ?? .other).rawValue, client: address?.client.hashValue ?? 0),
      work)
  }

  func register(in registry: PrometheusRegistry) {
    registry.gauge(
      "lookahead_workers", help: "Requests of workers, running or waiting."
    ) { [pool] in pool.count }
  }
}

/// Finds a client's address behind trusted proxies.
struct ClientAddresses: Sendable {
  let trustedProxies: [IPAddressBlock]

  /// The address at the other end of the connection; if that is a trusted proxy, the last untrusted address
  /// in `X-Forwarded-For`: any client could have written those before it.
  func address(_ fields: Fields, peer: IPAddress?) -> IPAddress? {
    guard let peer, isTrusted(peer) else { return peer }
    return address(forwardedFor: fields.combined("X-Forwarded-For"), peer: peer)
  }

  /// The client's address, with the field already extracted.
  func address(forwardedFor field: String?, peer: IPAddress?) -> IPAddress? {
    guard let peer, isTrusted(peer), let field else { return peer }
    var address = peer
    for member in field.split(separator: ",").reversed() {
      let text = member.drop { $0 == " " || $0 == "\t" }.prefix { $0 != " " && $0 != "\t" }
      guard let next = IPAddress(text) else { return address }
      address = next
      if !isTrusted(address) { break }
    }
    return address
  }

  private func isTrusted(_ address: IPAddress) -> Bool {
    trustedProxies.contains { $0.contains(address) }
  }
}
