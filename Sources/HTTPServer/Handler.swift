import HTTP

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
