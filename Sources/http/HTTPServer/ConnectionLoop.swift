import HTTP
import Logging
import Sockets
import System

/// One event loop of a server: its listening socket, the state that its connections share, and its part of
/// the drain.
///
/// `@unchecked Sendable`: the server makes it before the loop runs and afterwards only passes it to
/// `eventLoop.execute`; all of its state is confined to the loop's thread.
final class ConnectionLoop: EventHandler, @unchecked Sendable {
  private enum Phase {
    case serving
    case grace
    case draining
    case ended
  }

  let context: ServerContext
  let eventLoop: EventLoop
  private var phase = Phase.serving
  private var listener: Listener?
  private var timer: Registration?
  private var spareBuffer: [UInt8]?
  /// The state that its connections get and share.
  var surroundings: Surroundings
  /// When the `Date` line expires.
  private var dateEndMilliseconds: UInt64 = 0
  /// The number of connections of this loop, and of those that were accepted only to be refused.
  private var connectionCount = 0
  private var refusedCount = 0
  /// The connections whose answers are ready, and since when the first of them is.
  private var ready: [Connection] = []
  private var spareReady: [Connection] = []
  private var readySinceNanoseconds: UInt64 = 0

  init(_ context: ServerContext) throws(SystemError) {
    self.context = context
    eventLoop = try EventLoop()
    surroundings = Surroundings(
      configuration: context.configuration, isObserved: context.observer != nil,
      nowMilliseconds: eventLoop.nowMilliseconds)
    eventLoop.turnEnded = { [weak self] in self?.writeAnswers() }
  }

  // MARK: What connections share

  /// Takes the loop's read buffer; the caller gives it back before another one takes it.
  func takeReadBuffer() -> [UInt8] {
    assert(eventLoop.isConfined, "not on the event loop's thread")
    defer { spareBuffer = nil }
    return spareBuffer
      ?? [UInt8](repeating: 0, count: context.configuration.readBufferBytes)
  }

  func giveBack(_ buffer: [UInt8]) { spareBuffer = buffer }

  /// Updates the surroundings, which every step of a connection starts from; `finely` also updates the
  /// nanoseconds, for a request that begins now.
  func refresh(finely: Bool = false) {
    surroundings.nowMilliseconds = eventLoop.nowMilliseconds
    if finely { surroundings.nowNanoseconds = MonotonicClock.nanoseconds }
    if eventLoop.nowMilliseconds >= dateEndMilliseconds { refreshDate() }
  }

  private func refreshDate() {
    let now = WallClock.now
    surroundings.dateLine = ResponseHead.dateLine(secondsSince1970: now.secondsSince1970)
    dateEndMilliseconds =
      MonotonicClock.milliseconds + UInt64(1000 - now.nanoseconds / 1_000_000)
  }

  // MARK: Answers that leave together

  /// Writes the connection's answers soon, with those of others: a client that reads from many connections,
  /// as a proxy does, is then woken once instead of once per answer.
  func writeSoon(_ connection: Connection) {
    assert(eventLoop.isConfined, "not on the event loop's thread")
    // The time at which its requests came. The time that they took is noticed with the next connection's, or
    // the turn ends.
    let now = surroundings.nowNanoseconds
    if ready.isEmpty { readySinceNanoseconds = now }
    ready.append(connection)
    let patience = UInt64(context.configuration.answerGatheringMicroseconds) * 1000
    if now - readySinceNanoseconds >= patience { writeAnswers() }
  }

  private func writeAnswers() {
    while !ready.isEmpty {
      // Others may get ready meanwhile. The two arrays change places, so that none is made for each turn.
      var connections = spareReady
      spareReady = []
      swap(&ready, &connections)
      for connection in connections { connection.writeAnswers() }
      connections.removeAll(keepingCapacity: true)
      spareReady = connections
    }
  }

  // MARK: Connections

  /// Starts to accept connections.
  func listen(on socket: ListeningSocket) {
    do throws(SystemError) {
      listener = try Listener(self, socket)
    } catch {
      socket.close()
      context.logger.error("\(error)")
    }
  }

  /// Takes over an accepted connection.
  func accept(_ socket: Socket) {
    let isAdmitted = context.admit()
    guard isAdmitted || refusedCount < context.configuration.maximumRefusedConnections else {
      context.logger.debug("connection closed: too many connections are already being refused")
      context.observer?.noted(.refused)
      return socket.close()
    }
    do throws(SystemError) {
      let connection = try Connection(self, socket, isRefused: !isAdmitted)
      context.observer?.noted(isAdmitted ? .accepted : .refused)
      connectionCount += 1
      if !isAdmitted { refusedCount += 1 }
      connection.start()
    } catch {
      socket.close()
      if isAdmitted { context.release() }
      context.logger.warning("\(error)")
    }
  }

  /// Called once by each connection when its descriptor is closed.
  func connectionClosed(isRefused: Bool) {
    connectionCount -= 1
    if isRefused {
      refusedCount -= 1
    } else {
      context.release()
    }
    listener?.resume()
    endIfDone()
  }

  // MARK: Draining

  /// Starts the drain: after `graceMilliseconds` nothing more is accepted, idle connections end at once, and
  /// the others with their last answer, or at the time-out.
  func drain(graceMilliseconds: Int) {
    guard phase == .serving else { return }
    if graceMilliseconds > 0 {
      phase = .grace
      setTimer(afterMilliseconds: graceMilliseconds)
    } else {
      stopAccepting()
    }
  }

  func ready(for readiness: Interest) {}

  func deadlinePassed() {
    switch phase {
    case .grace: stopAccepting()
    case .draining:
      let rest = eventLoop.handlers.compactMap { $0 as? Connection }
      context.logger.warning(
        "drain timed out", metadata: ["connections": .stringConvertible(rest.count)])
      for connection in rest { connection.close() }
    case .serving, .ended: break
    }
  }

  private func stopAccepting() {
    // Connections that the kernel has accepted may have sent their requests already.
    listener?.acceptRest()
    listener = nil
    phase = .draining
    setTimer(afterMilliseconds: context.configuration.drainTimeoutMilliseconds)
    for case let connection as Connection in eventLoop.handlers { connection.drain() }
    endIfDone()
  }

  private func setTimer(afterMilliseconds delay: Int) {
    let timer = self.timer ?? eventLoop.registerTimer(self)
    self.timer = timer
    eventLoop.setDeadline(timer, atMilliseconds: eventLoop.nowMilliseconds + UInt64(delay))
  }

  private func endIfDone() {
    guard phase == .draining, connectionCount == 0 else { return }
    phase = .ended
    if let timer { eventLoop.deregister(timer) }
    eventLoop.stop()
  }
}
