import HTTP
import Logging
import Sockets
import System

/// One connection: tells its machine what the socket, the clock and the application do, and performs the
/// machine's actions. It decides nothing itself: see `ConnectionMachine`.
///
/// Bytes that cannot be used yet are copied to `pending`; a connection without such bytes holds no buffer.
///
/// `@unchecked Sendable`: all state is confined to the event loop's thread. Other threads hold a reference
/// (through a `Responder`) only to pass it to `loop.execute`, and read only `loop` and `peer`, which are
/// constants.
final class Connection: EventHandler, @unchecked Sendable {
  let owner: ConnectionLoop
  let loop: EventLoop
  let peer: IPAddress?
  private let socket: Socket
  private let isRefused: Bool
  private var registration = Registration.none
  private var interest = Interest.readable
  private var machine: ConnectionMachine
  /// Bytes that arrived and were not consumed: a partial head, or requests that have to wait.
  private var pending: [UInt8] = []
  /// The stream of a body that the application reads as it arrives.
  private var stream: BodyStream?
  /// The handler of the request whose body is being read; nil if there is none.
  private var handleWithBody: (@Sendable (Request, Responder) -> Void)?
  /// Whether the machine is being asked, which will find what the application does meanwhile.
  private var isRunning = false
  private var isClosed = false

  /// Takes over a socket and watches it; the caller keeps the socket if this fails.
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

  /// Starts to serve the connection, or refuses it.
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
    // While lingering, a hangup is only the client's end. What it sent before is read first, since a close
    // with unread bytes would reset the connection.
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

  /// Called when the server begins to drain. Serves what the client has sent by now.
  func drain() {
    assert(loop.isConfined, "not on the event loop's thread")
    machine.drainBegan(nowMilliseconds: loop.nowMilliseconds)
    read()
  }

  /// Closes at once and discards everything; later answers are dropped.
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

  /// Accepts an answer; on the loop's thread.
  func answer(_ exchange: UInt64, _ response: consuming Response) {
    machine.answered(exchange, response)
    run()
  }

  /// Accepts an interim answer; on the loop's thread.
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

  /// Reads once; the rest comes with the next event.
  private func read() {
    // An event of this turn may be older than what has blocked the connection since then.
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

  /// Performs the machine's actions until the machine has to wait.
  private func run() {
    assert(loop.isConfined, "not on the event loop's thread")
    // An answer within `handle` comes within a run, which will find it.
    guard !isRunning, !isClosed else { return }
    let bytes = pending
    pending = []
    if run(on: bytes, bytes.count) { owner.writeSoon(self) }
  }

  /// The same, for the first bytes of a buffer, which are all that arrived and was not consumed; keeps the
  /// rest of them. Returns whether to call `owner.writeSoon`.
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
      // The length was promised: only the end of the connection tells the client that the answer is not
      // complete.
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

  /// Watches the socket for what the machine waits for; returns whether that succeeded.
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

  /// Tells the observer which answers have left, and at the end which ones will not.
  private func noteDepartures() {
    guard machine.hasDeparted, let observer = owner.context.observer else { return }
    let now = MonotonicClock.nanoseconds
    while var request = machine.takeDeparted(nowNanoseconds: now) {
      request.peer = peer
      observer.finished(request)
    }
  }
}
