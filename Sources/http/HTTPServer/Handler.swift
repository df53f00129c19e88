import HTTP

/// The application behind a server.
public protocol Handler: Sendable {
  /// Handles a request that has no body. Called on the event loop's thread.
  ///
  /// Must not block for longer than about a millisecond. Must call `responder.respond(_:)` exactly once, at
  /// once or later, from any thread.
  func handle(_ request: Request, _ responder: Responder)

  /// Decides what to do with the body that a complete head announces, and what handles the request then.
  /// Called on the event loop's thread.
  func decide(_ head: Request) -> BodyDecision

  /// The answer to a message that the server itself refuses: the application owns the only mapping of errors
  /// to documents. `error.status` is the status that the error stands for.
  func response(to error: ProtocolError, requestID: String) -> Response
}

/// A handler's decision about a head that announces a body.
public struct BodyDecision: Sendable {
  /// What to do with the body.
  public let policy: BodyPolicy
  /// Handles the request in place of `Handler.handle`, and keeps what was found in the head. Called on the
  /// event loop's thread when the body is complete, or, with the policy `.stream`, when the head is.
  public let handle: @Sendable (Request, Responder) -> Void

  /// A decision.
  public init(
    _ policy: BodyPolicy, handle: @escaping @Sendable (Request, Responder) -> Void
  ) {
    self.policy = policy
    self.handle = handle
  }
}

/// What to do with the body of a request.
public enum BodyPolicy: Sendable, Hashable {
  /// Read it and discard it: the route does not use it.
  ///
  /// Past `discardedBodyBytes` or `discardedBodyTimeoutMilliseconds`, or if the client waits for
  /// `100 Continue`, the request is answered without the rest and the connection ends (RFC 9112 section 9.3).
  case discard
  /// Collect it into `request.body`; past this many bytes the answer is 413.
  case collect(maximumBytes: Int)
  /// Pass it on as it arrives, through `responder.body`; past this many bytes the answer is 413.
  ///
  /// An answer before the body is complete ends the connection.
  case stream(maximumBytes: Int)
}

extension Handler {
  /// Discards every body.
  public func decide(_ head: Request) -> BodyDecision { BodyDecision(.discard, handle: handle) }
}
