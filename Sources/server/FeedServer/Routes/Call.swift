import HTTP
import HTTPServer
import Logging

/// A request on its way through the application, and the answer that it waits for.
final class Call: Sendable {
  let request: Request
  /// What of it decides about a page.
  let text: RequestText
  let responder: Responder
  /// What answers; nil as long as that is not known.
  let route: Route?
  /// The token that a write presents, or why it is not accepted; nil if nothing is written.
  private let presented: Result<WriteToken, Problem>?
  /// What took how long, where the client asks for that.
  let timing: Timing?
  let logger: Logger

  init(
    request: Request, text: RequestText, responder: Responder, route: Route?,
    writer: Result<WriteToken, Problem>?, timing: Timing?, logger: Logger
  ) {
    self.request = request
    self.text = text
    self.responder = responder
    self.route = route
    presented = writer
    self.timing = timing
    self.logger = logger
  }

  /// Whose token the write presents. All tokens have been compared for that once.
  ///
  /// - Throws: `Problem`, as `WriteAccess.writer` has it.
  func writer() throws(Problem) -> WriteToken {
    guard let presented else { preconditionFailure("a route that writes nothing asks for nobody") }
    return try presented.get()
  }

  /// Answers with what is made, or with the problem that keeps it from being made.
  func answer(_ make: () throws -> Response) {
    do {
      respond(try make())
    } catch {
      refuse(error)
    }
  }

  /// Does what answers the request; answers with the problem that keeps it from being done.
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
    response.user = (try? presented?.get())?.name ?? ""
    timing?.describe(in: &response.fields)
    responder.respond(response)
  }
}
