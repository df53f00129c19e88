import HTTP
import Logging
import Sockets
import System

/// One connection: tells its machine what the socket, the clock and the application do, and does what
/// that wants done. It decides nothing itself: see `ConnectionMachine`.
///
/// Bytes that could not be used yet are copied to `pending`; a connection without any holds no buffer.
///
/// `@unchecked Sendable`: all state is confined to the event loop's thread. Other threads hold a
/// reference (through a `Responder`) only to pass it to `loop.execute`, and read nothing but
/// `loop` and `peer`, constants.
final class Connection: EventHandler, @unchecked Sendable {
  let owner: ConnectionLoop
  let loop: EventLoop
  let peer: IPAddress?
  private let socket: Socket
  private let isRefused: Bool
  private var registration = Registration.none
  private var interest = Interest.readable
  private var machine: ConnectionMachine
  /// Bytes that came and were not consumed: a partial head, or requests that have to wait.
  private var pending: [UInt8] = []
  /// Where the body goes that the application takes as it comes.
  private var stream: BodyStream?
  /// Handles the request whose body is being read; nil if none is.
  private var handleWithBody: (@Sendable (Request, Responder) -> Void)?
  /// Whether the machine is being asked: what the application does meanwhile is found by that.
  private var isRunning = false
  private var isClosed = false

  /// Takes over a socket and watches it; it still belongs to the caller if this fails.
  init(_ owner: ConnectionLoop, _ socket: Socket, isRefused: Bool) throws(SystemError) {
    self.owner = owner
    self.socket = socket
    self.isRefused = isRefused
    loop = owner.eventLoop
    machine = ConnectionMachine(
      limits: owner.context.configuration.limits, nowMilliseconds: loop.nowMilliseconds)
    peer = socket.peer
    try socket.disableDelay()
    try socket.limitUnsent(toBytes: owner.context.configuration.unsentBytes)
    registration = try owner.eventLoop.register(socket.descriptor, for: interest, self)
  }

  /// The server's own address that the client reached.
  var localAddress: IPAddress? { isClosed ? nil : socket.local }

  // MARK: What happens

  /// Begins to serve, or refuses.
  func start() {
    assert(loop.isConfined, "not on the event loop's thread")
    if isRefused {
      owner.refresh(finely: true)
      machine.refuse(.tooManyConnections, &owner.surroundings)
    }
    run()
  }

  func ready(for readiness: Interest) {
    assert(loop.isConfined, "not on the event loop's thread")
    // While lingering, a hangup is only the client's end: what it sent before is read first, since
    // a close with bytes unread would reset the connection.
    let isEndOfLingering = machine.isLingering && readiness.contains(.readable)
    if readiness.contains(.hangup), !isEndOfLingering { return close() }
    if readiness.contains(.writable) {
      machine.canWrite()
      run()
    }
    if readiness.contains(.readable) { read() }
  }

  func deadlinePassed() {
    assert(loop.isConfined, "not on the event loop's thread")
    owner.refresh(finely: true)
    machine.deadlinePassed(
      unacknowledgedBytes: socket.unacknowledgedBytes, &owner.surroundings)
    run()
  }

  /// Called when the server begins to drain. What the client has sent by now is served.
  func drain() {
    assert(loop.isConfined, "not on the event loop's thread")
    machine.drainBegan(nowMilliseconds: loop.nowMilliseconds)
    read()
  }

  /// Closes at once and forgets everything; answers that come later go nowhere.
  func close() {
    assert(loop.isConfined, "not on the event loop's thread")
    machine.disconnected()
    run()
  }

  /// Called by the owner after `writeSoon`.
  func writeAnswers() {
    machine.gatheringEnded()
    run()
  }

  /// Takes an answer; on the loop's thread.
  func answer(_ exchange: UInt64, _ response: consuming Response) {
    machine.answered(exchange, response)
    run()
  }

  /// Takes an interim answer; on the loop's thread.
  func inform(_ exchange: UInt64, _ head: [UInt8]) {
    owner.refresh(finely: false)
    machine.informed(exchange, head, &owner.surroundings)
    run()
  }

  /// Answers an exchange with an error, and ends the connection after it.
  func fail(_ exchange: UInt64, _ error: ProtocolError) {
    machine.failed(exchange, error)
    run()
  }

  /// Reads once; what is left comes with the next event.
  private func read() {
    // An event of this turn may be older than what blocks the connection since.
    guard !isClosed, machine.wantsInput(&owner.surroundings) else { return run() }
    var buffer = owner.takeReadBuffer()
    var count = 0
    do throws(SystemError) {
      switch try socket.read(into: &buffer) {
      case .wouldBlock: break
      case .done(0): machine.inputEnded()
      case .done(let readCount):
        count = readCount
        machine.received(nowMilliseconds: loop.nowMilliseconds)
      }
    } catch {
      machine.disconnected()
    }
    guard pending.isEmpty else {
      pending.append(contentsOf: buffer[..<count])
      owner.giveBack(buffer)
      return run()
    }
    let gathers = run(on: buffer, count)
    owner.giveBack(buffer)
    if gathers { owner.writeSoon(self) }
  }

  // MARK: What is to be done

  /// Asks the machine what to do, and does it, until it has to wait.
  private func run() {
    assert(loop.isConfined, "not on the event loop's thread")
    // Whoever answers within `handle` is within a run that will find the answer.
    guard !isRunning, !isClosed else { return }
    let bytes = pending
    pending = []
    if run(on: bytes, bytes.count) { owner.writeSoon(self) }
  }

  /// The same, on the first bytes of a buffer that are all that came and was not consumed; keeps what is
  /// left of them. Says whether `owner.writeSoon` is to be called.
  private func run(on bytes: [UInt8], _ count: Int) -> Bool {
    owner.refresh(finely: count > 0)
    isRunning = true
    defer { isRunning = false }
    var position = 0
    let gathers = perform(bytes.span.extracting(0..<count), &position)
    if !isClosed, position < count {
      pending = position == 0 && count == bytes.count ? bytes : Array(bytes[position..<count])
    }
    return gathers
  }

  private func perform(_ bytes: Span<UInt8>, _ position: inout Int) -> Bool {
    while true {
      switch machine.next(bytes, &position, &owner.surroundings) {
      case .askBodyPolicy:
        guard let request = machine.request else { break }
        let decision = owner.context.handler.decide(request)
        handleWithBody = decision.handle
        machine.decide(decision.policy)
      case .handle(let exchange, let requestID, let streamsBody):
        guard let request = machine.takeRequest() else { break }
        if streamsBody { stream = makeStream() }
        let responder = Responder(self, exchange: exchange, requestID: requestID, body: stream)
        if let handle = handleWithBody {
          handleWithBody = nil
          handle(request, responder)
        } else {
          owner.context.handler.handle(request, responder)
        }
      case .deliver(let body):
        stream?.append(body)
        machine.delivered(isFull: stream?.isFull ?? false)
      case .endStream(let end):
        stream?.end(end)
        stream = nil
      case .explain(let error, let exchange, let requestID):
        note(error, requestID: requestID)
        machine.explained(
          exchange, owner.context.handler.response(to: error, requestID: requestID))
      case .write:
        write()
      case .finishSending:
        do throws(SystemError) { try socket.finishSending() } catch { machine.disconnected() }
      case .askStream(let stream, let isIdle): ask(stream, isIdle: isIdle)
      case .askPiece(let source, let range): ask(source, range)
      case .yield:
        loop.execute { [self] in
          machine.turnCame()
          run()
        }
      case .gather:
        return true
      case .wait(let wait):
        if watch(wait) { return false }
        machine.disconnected()
      case .close(let isCutOff):
        end(isCutOff: isCutOff)
        return false
      }
    }
  }

  private func ask(_ stream: ResponseStream, isIdle: Bool) {
    stream.begin { [weak self] in
      self?.loop.execute { [weak self] in
        self?.machine.streamWoken()
        self?.run()
      }
    }
    if let bytes = stream.next(isIdle: isIdle) {
      machine.streamed(bytes, &owner.surroundings)
    } else {
      machine.streamEnded()
    }
  }

  private func ask(_ source: any PieceSource, _ range: Range<Int>) {
    source.read(range) { [weak self] bytes in
      self?.loop.execute { [weak self] in self?.pieceCame(bytes, range) }
    }
  }

  private func pieceCame(_ bytes: [UInt8]?, _ range: Range<Int>) {
    guard !isClosed else { return }
    owner.refresh(finely: false)
    if let bytes, bytes.count == range.count {
      machine.pieceCame(bytes, &owner.surroundings)
    } else {
      // Its length was promised: only the end of the connection says that it is not whole.
      owner.context.logger.debug("connection closed: cannot read a part of an answer")
      machine.disconnected()
    }
    run()
  }

  private func makeStream() -> BodyStream {
    BodyStream(bufferBytes: owner.context.configuration.streamBufferBytes) { [self] in
      loop.execute { [self] in
        machine.streamHasRoom(nowMilliseconds: loop.nowMilliseconds)
        run()
      }
    }
  }

  private func write() {
    do throws(SystemError) {
      switch try machine.output.write(to: socket) {
      case .done(let count): machine.wrote(count, &owner.surroundings)
      case .wouldBlock: machine.writeBlocked()
      }
    } catch {
      owner.context.logger.debug("connection lost: \(error)")
      machine.disconnected()
    }
    noteDepartures()
  }

  /// Whether it could be done.
  private func watch(_ wait: ConnectionWait) -> Bool {
    var wanted: Interest = []
    if wait.reads { wanted.insert(.readable) }
    if wait.writes { wanted.insert(.writable) }
    if wanted != interest {
      interest = wanted
      do throws(SystemError) {
        try loop.watch(registration, for: wanted)
      } catch {
        return false
      }
    }
    loop.setDeadline(registration, atMilliseconds: wait.deadlineMilliseconds)
    return true
  }

  private func end(isCutOff: Bool) {
    isClosed = true
    loop.deregister(registration)
    socket.close()
    if isCutOff {
      owner.context.logger.debug("connection closed: the client reads too slowly")
      owner.context.observer?.noted(.cutOff)
    }
    noteDepartures()
    owner.connectionClosed(isRefused: isRefused)
  }

  private func note(_ error: ProtocolError, requestID: String) {
    switch error {
    case .answerTimedOut, .unanswered:
      owner.context.logger.warning(
        "request failed: \(error)", metadata: ["requestID": "\(requestID)"])
    default:
      owner.context.logger.debug("message refused: \(error)")
    }
  }

  /// Tells the observer of the answers that have left, and at the end of those that will not.
  private func noteDepartures() {
    guard machine.hasDeparted, let observer = owner.context.observer else { return }
    let now = MonotonicClock.nanoseconds
    while var request = machine.takeDeparted(nowNanoseconds: now) {
      request.peer = peer
      observer.finished(request)
    }
  }
}
