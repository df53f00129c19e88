import Glibc
import HTTP
import Logging
import Synchronization
import System

@testable import HTTPServer

/// A handler made of closures; errors are answered with their description.
struct ClosureHandler: Handler {
  var policy: @Sendable (Request) -> BodyPolicy = { _ in .collect(maximumBytes: 1000) }
  let answer: @Sendable (Request, Responder) -> Void

  func handle(_ request: Request, _ responder: Responder) { answer(request, responder) }

  func decide(_ head: Request) -> BodyDecision { BodyDecision(policy(head), handle: answer) }

  func response(to error: ProtocolError, requestID: String) -> Response {
    Response(error.status, fields: ["X-Error-Of": requestID], text: "\(error)")
  }
}

/// Answers with the method, the path and the body.
let echo = ClosureHandler { request, responder in
  let body = String(decoding: request.body, as: UTF8.self)
  responder.respond(Response(.ok, text: "\(request.method) \(request.path) \(body)"))
}

/// Responders that a handler keeps until the test answers.
final class Kept: Sendable {
  let responders = Mutex<[(path: String, responder: Responder)]>([])

  var handler: ClosureHandler {
    ClosureHandler { [self] request, responder in
      responders.withLock { $0.append((request.path, responder)) }
    }
  }

  var count: Int { responders.withLock { $0.count } }

  /// Takes what is there.
  func take() -> [(path: String, responder: Responder)] {
    responders.withLock { responders in
      defer { responders = [] }
      return responders
    }
  }
}

/// Lets accepting fail as it does when the process has no descriptors left.
final class Exhaustion: Sendable {
  let isOn: Atomic<Bool>
  let failures = Atomic<Int>(0)

  init(isOn: Bool) { self.isOn = Atomic(isOn) }

  var accept: ServerContext.Accept {
    { [self] socket throws(SystemError) in
      guard isOn.load(ordering: .relaxed) else { return try socket.accept() }
      failures.add(1, ordering: .relaxed)
      throw SystemError(call: "accept4", purpose: "accept a connection", code: EMFILE)
    }
  }
}

/// Serves on a free port while the body runs, then drains.
func withServer(
  _ handler: any Handler = echo, exhaustion: Exhaustion? = nil,
  observer: (any ServerObserver)? = nil,
  _ configure: (inout ServerConfiguration) -> Void = { _ in },
  _ body: (_ server: Server, _ port: UInt16) throws -> Void
) throws {
  var configuration = ServerConfiguration()
  configuration.port = 0
  // However busy the machine is.
  configuration.headerReadTimeoutMilliseconds = 600_000
  configuration.bodyReadTimeoutMilliseconds = 600_000
  configuration.idleTimeoutMilliseconds = 600_000
  configuration.writeStallTimeoutMilliseconds = 600_000
  configuration.answerTimeoutMilliseconds = 600_000
  configuration.drainTimeoutMilliseconds = 5_000
  configuration.lingerTimeoutMilliseconds = 500
  configure(&configuration)
  var logger = Logger(label: "test")
  logger.logLevel = .critical
  let context =
    if let exhaustion {
      ServerContext(configuration, handler, logger, observer: observer, accept: exhaustion.accept)
    } else {
      ServerContext(configuration, handler, logger, observer: observer)
    }
  let server = Server(context)
  let port = try server.start()
  defer {
    server.drain()
    server.wait()
  }
  try body(server, port)
}
