import Synchronization

/// Carries an answer from a receiver, on any thread, to the task that asked. Transports are built on it.
public final class AnswerPipe: TransportBody {
  /// The part of an answer that precedes the body.
  public struct Head: Sendable {
    package let status: Int
    package let fields: TransportFields

    /// Creates a head.
    public init(status: Int, fields: TransportFields) {
      self.status = status
      self.fields = fields
    }
  }

  fileprivate struct State {
    typealias Waiting = CheckedContinuation<Result<[UInt8]?, TransportError>, Never>

    var head: Head?
    var pieces: [[UInt8]] = []
    var bytes = 0
    /// The end of the answer, with the error if there is one; nil before it.
    var end: Result<Void, TransportError>?
    var isResting = false
    var waitingForHead: CheckedContinuation<Result<Head, TransportError>, Never>?
    var waiting: Waiting?
  }

  private let state: Mutex<State> = Mutex(State())
  private let stop: @Sendable () -> Void
  private let resume: @Sendable () -> Void

  /// The number of unread bytes at which the receiver should pause.
  private static let restingBytes = 1_048_576

  /// Creates an empty pipe.
  ///
  /// - Parameters:
  ///   - stop: ends the request. It is called when the request is cancelled, and when the pipe is released.
  ///   - resume: lets the receiver continue. It is called once after `receive` has returned true, when there
  ///     is room again.
  public init(stop: @escaping @Sendable () -> Void, resume: @escaping @Sendable () -> Void) {
    self.stop = stop
    self.resume = resume
  }

  deinit { stop() }

  // MARK: The asking side

  /// The answer, as soon as its head has arrived.
  public func answer() async throws(TransportError) -> TransportAnswer {
    let outcome = await withTaskCancellationHandler {
      await withCheckedContinuation { waiting in
        let known = state.withLock { state -> Result<Head, TransportError>? in
          if let head = state.head { return .success(head) }
          if let end = state.end { return .failure(end.error ?? .cut("no answer")) }
          state.waitingForHead = waiting
          return nil
        }
        if let known { waiting.resume(returning: known) }
      }
    } onCancel: {
      cancel()
    }
    let head = try outcome.get()
    return TransportAnswer(status: head.status, fields: head.fields, body: self)
  }

  /// The next bytes; `nil` after the last.
  public func next() async throws(TransportError) -> [UInt8]? {
    let result = await withTaskCancellationHandler {
      await withCheckedContinuation { waiting in
        let (known, resumes) = state.withLock { state in
          let known = state.take()
          if known == nil { state.waiting = waiting }
          let resumes = state.isResting
          state.isResting = false
          return (known, resumes)
        }
        if let known { waiting.resume(returning: known) }
        if resumes { resume() }
      }
    } onCancel: {
      cancel()
    }
    return try result.get()
  }

  /// Cancels the rest of the answer.
  public func cancel() {
    // First, so that an error caused by `stop` is not taken for the reason.
    finish(.cancelled)
    stop()
  }

  // MARK: The receiving side

  /// Takes the head of the answer.
  public func receive(_ head: Head) {
    let waiting = state.withLock { state in
      state.head = head
      return state.waitingForHead.take()
    }
    waiting?.resume(returning: .success(head))
  }

  /// Takes bytes of the body.
  ///
  /// - Returns: whether the receiver should pause until `resume` is called.
  @discardableResult
  public func receive(_ bytes: [UInt8]) -> Bool {
    guard !bytes.isEmpty else { return false }
    let (waiting, rests) = state.withLock { state -> (State.Waiting?, Bool) in
      guard state.end == nil else { return (nil, false) }
      if let waiting = state.waiting.take() { return (waiting, false) }
      state.pieces.append(bytes)
      state.bytes += bytes.count
      guard state.bytes >= Self.restingBytes, !state.isResting else { return (nil, false) }
      state.isResting = true
      return (nil, true)
    }
    waiting?.resume(returning: .success(bytes))
    return rests
  }

  /// Ends the body, with an error if it is incomplete. Only the first call counts.
  public func finish(_ error: TransportError?) {
    let end: Result<Void, TransportError> = error.map { .failure($0) } ?? .success(())
    let (head, waiting, resumes) = state.withLock { state in
      if state.end == nil { state.end = end }
      let resumes = state.isResting
      state.isResting = false
      return (state.waitingForHead.take(), state.waiting.take(), resumes)
    }
    head?.resume(returning: .failure(error ?? .cut("no answer")))
    waiting?.resume(returning: error.map { .failure($0) } ?? .success(nil))
    if resumes { resume() }
  }
}

extension AnswerPipe.State {
  /// The result of the next call of `next`; `nil` if nothing has arrived.
  fileprivate mutating func take() -> Result<[UInt8]?, TransportError>? {
    if !pieces.isEmpty {
      bytes = 0
      defer { pieces = [] }
      return .success(pieces.count == 1 ? pieces[0] : Array(pieces.joined()))
    }
    return end.map { $0.map { nil } }
  }
}

extension Result<Void, TransportError> {
  fileprivate var error: TransportError? {
    if case .failure(let error) = self { error } else { nil }
  }
}
