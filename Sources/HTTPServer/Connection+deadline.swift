import HTTP
import Logging
import Sockets
import System

extension Connection {
  /// What the connection waits for, which decides what happens when that takes too long.
  private enum Waiting {
    case lingering
    case clientToRead
    case body
    case bodyReader
    case head
    case application
    case request
  }

  private var waiting: Waiting {
    if stage == .lingering { return .lingering }
    if !output.isEmpty { return .clientToRead }
    if let receiving { return receiving.isPaused ? .bodyReader : .body }
    if stage == .open, !isBlocked, parser.isInsideMessage { return .head }
    return exchanges.isEmpty ? .request : .application
  }

  /// Derives from the state what is watched for and how long; the end of every event.
  func settle() {
    guard stage != .closed else { return }
    account()
    if !isYielding { begunInTurn = 0 }
    if worker.isDraining, isIdle, isSilent { return close() }
    var wanted: Interest = []
    if !inputEnded, stage == .lingering || (stage == .open && !isBlocked) {
      wanted.insert(.readable)
    }
    if !output.isEmpty { wanted.insert(.writable) }
    if wanted != interest {
      interest = wanted
      do throws(SystemError) {
        try loop.watch(registration, for: wanted)
      } catch {
        return close()
      }
    }
    loop.setDeadline(registration, atMilliseconds: deadline())
  }

  /// Whether the client has had nothing to say for a while, so that most likely no request of it is
  /// on its way.
  private var isSilent: Bool {
    activeMilliseconds + UInt64(configuration.drainSilenceMilliseconds) <= loop.nowMilliseconds
  }

  private func deadline() -> UInt64 {
    switch waiting {
    case .lingering:
      return lingerEndMilliseconds
    case .clientToRead:
      return deliveryMilliseconds + UInt64(configuration.writeStallTimeoutMilliseconds)
    case .body:
      return bodyDeadline()
    case .bodyReader:
      let last = receiving?.lastMilliseconds ?? loop.nowMilliseconds
      return last + UInt64(configuration.answerTimeoutMilliseconds)
    case .head:
      if headStartMilliseconds == 0 { headStartMilliseconds = loop.nowMilliseconds }
      return headStartMilliseconds + UInt64(configuration.headerReadTimeoutMilliseconds)
    case .application:
      let start = exchanges.firstHandedOverMilliseconds ?? loop.nowMilliseconds
      return start + UInt64(configuration.answerTimeoutMilliseconds)
    case .request:
      if worker.isDraining {
        return worker.drainStartMilliseconds + UInt64(configuration.drainSilenceMilliseconds)
      }
      return activeMilliseconds + UInt64(configuration.idleTimeoutMilliseconds)
    }
  }

  /// A body must not pause for too long, and must come at a minimum rate on the whole.
  private func bodyDeadline() -> UInt64 {
    guard let receiving else { return loop.nowMilliseconds }
    let timeout = UInt64(configuration.bodyReadTimeoutMilliseconds)
    let earned =
      UInt64(receiving.bytes) * 1000 / UInt64(max(1, configuration.minimumBodyBytesPerSecond))
    let needed = min(
      receiving.lastMilliseconds + timeout,
      receiving.startMilliseconds + receiving.excusedMilliseconds + timeout + earned)
    guard receiving.isDiscarded else { return needed }
    let patience = UInt64(configuration.discardedBodyTimeoutMilliseconds)
    return min(needed, receiving.startMilliseconds + patience)
  }

  func deadlinePassed() {
    switch waiting {
    case .lingering, .request:
      close()
    case .clientToRead:
      if takesEnough() { return settle() }
      worker.context.logger.debug("connection cut: the client takes too little")
      worker.context.observer?.noted(.cutOff)
      close()
    case .body where receiving?.isDiscarded == true:
      answerWithoutRest()
      resume()
    case .body:
      refuse(.bodyTimedOut)
      resume()
    case .head:
      refuse(.headerTimedOut)
      resume()
    case .application:
      fail(exchanges.firstExchangeNumber, .answerTimedOut)
      settle()
    case .bodyReader:
      refuse(.answerTimedOut)
      resume()
    }
  }

  /// Whether the client has taken enough of the output since that was last looked at; looks again
  /// from now on.
  ///
  /// What counts is what the client has acknowledged: a socket is writable again only when a good
  /// part of its buffer is free, which for a slow client takes longer than any time-out.
  private func takesEnough() -> Bool {
    let taken = output.writtenCount - socket.unacknowledgedBytes
    let needed =
      configuration.minimumAnswerBytesPerSecond * configuration.writeStallTimeoutMilliseconds / 1000
    defer {
      deliveredCount = taken
      deliveryMilliseconds = loop.nowMilliseconds
    }
    return taken - deliveredCount >= max(1, needed)
  }
}

extension Connection.Receiving {
  /// Whether the application has to take something before more is read.
  var isPaused: Bool { stream?.isFull ?? false }
}
