import HTTP

/// The application behind a server.
public protocol Handler: Sendable {
  /// Called on the event loop's thread with a request that has no body.
  ///
  /// Must not block for longer than about a millisecond. Answers by calling `responder.respond(_:)`
  /// exactly once, at once or later, from any thread.
  func handle(_ request: Request, _ responder: Responder)

  /// Called on the event loop's thread when a head is complete that announces a body: what to do
  /// with that body, and what then handles the request.
  func decide(_ head: Request) -> BodyDecision

  /// Renders the answer to a message that the server itself refuses: the application owns the one
  /// mapping of errors to documents. `error.status` is the status that the error stands for.
  func response(to error: ProtocolError, requestID: String) -> Response
}

/// What a handler makes of a head that announces a body.
public struct BodyDecision: Sendable {
  /// What to do with the body.
  public let policy: BodyPolicy
  /// Handles the request in place of `Handler.handle`, and keeps what was found in the head: called on the event
  /// loop's thread when the body is complete, or, if the policy is `.stream`, when the head is.
  public let handle: @Sendable (Request, Responder) -> Void

  /// A decision.
  public init(
    _ policy: BodyPolicy, handle: @escaping @Sendable (Request, Responder) -> Void
  ) {
    self.policy = policy
    self.handle = handle
  }
}

/// What is done with the body of a request.
public enum BodyPolicy: Sendable, Hashable {
  /// Read it and throw it away: the route has no use for one.
  ///
  /// Past `discardedBodyBytes` or `discardedBodyTimeoutMilliseconds`, or if the client waits for
  /// `100 Continue`, the request is answered without the rest and the connection ends
  /// (RFC 9112 section 9.3).
  case discard
  /// Collect it into `request.body`; past this many bytes the answer is 413.
  case collect(maximumBytes: Int)
  /// Hand it over as it comes, through `responder.body`; past this many bytes the answer is 413.
  ///
  /// An answer that is given before the body is complete ends the connection.
  case stream(maximumBytes: Int)
}

extension Handler {
  /// Every body is discarded.
  public func decide(_ head: Request) -> BodyDecision { BodyDecision(.discard, handle: handle) }
}
