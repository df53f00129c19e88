import Synchronization

/// An answer on its way from whoever receives it, on any thread, to whoever asked: what transports are made of.
public final class AnswerPipe: TransportBody {
  /// What is known before the body.
  public struct Head: Sendable {
    package let status: Int
    package let fields: TransportFields

    /// A head of these parts.
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
    /// Set at the end, with what went wrong.
    var end: Result<Void, TransportError>?
    var isResting = false
    var waitingForHead: CheckedContinuation<Result<Head, TransportError>, Never>?
    var waiting: Waiting?
  }

  private let state: Mutex<State> = Mutex(State())
  private let stop: @Sendable () -> Void
  private let resume: @Sendable () -> Void

  /// With this many unread bytes, whoever receives should rest.
  private static let restingBytes = 1_048_576

  /// A pipe into which nothing has come yet.
  ///
  /// - Parameters:
  ///   - stop: ends the request; called when it is cancelled, and when the pipe is released.
  ///   - resume: called once after `receive` has said that more should wait, when there is room again.
  public init(stop: @escaping @Sendable () -> Void, resume: @escaping @Sendable () -> Void) {
    self.stop = stop
    self.resume = resume
  }

  deinit { stop() }

  // MARK: Whoever asks

  /// The answer, as soon as its head is there.
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

  /// The next bytes; `nil` behind the last.
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

  /// The rest is not wanted.
  public func cancel() {
    // First, lest what comes of the stop is taken for the reason.
    finish(.cancelled)
    stop()
  }

  // MARK: Whoever receives

  /// The head is there.
  public func receive(_ head: Head) {
    let waiting = state.withLock { state in
      state.head = head
      return state.waitingForHead.take()
    }
    waiting?.resume(returning: .success(head))
  }

  /// Bytes of the body are there.
  ///
  /// - Returns: whether more should wait until `resume` is called.
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

  /// The body is whole, or will not be. Only the first such call counts.
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
  /// What the next call is answered with; `nil` where nothing has come.
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
