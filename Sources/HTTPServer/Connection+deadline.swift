import HTTP
import Logging
import Sockets

extension Connection {
  /// What the connection waits for, which decides what happens when that takes too long.
  private enum Waiting {
    case lingering
    case clientToRead
    case body
    case head
    case application
    case request
  }

  private var waiting: Waiting {
    if stage == .lingering { return .lingering }
    if !output.isEmpty { return .clientToRead }
    if receiving != nil { return .body }
    if stage == .open, !isBlocked, parser.isInsideMessage { return .head }
    return exchanges.isEmpty ? .request : .application
  }

  /// Derives from the state what is watched for and how long; the end of every event.
  func settle() {
    guard stage != .closed else { return }
    if worker.isDraining, isIdle, isSilent { return close() }
    var wanted: Interest = []
    if !inputEnded, stage == .lingering || (stage == .open && !isBlocked) {
      wanted.insert(.readable)
    }
    if !output.isEmpty { wanted.insert(.writable) }
    if wanted != interest {
      interest = wanted
      do throws(SocketError) {
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
      return writtenMilliseconds + UInt64(configuration.writeStallTimeoutMilliseconds)
    case .body:
      return bodyDeadline()
    case .head:
      if headStartMilliseconds == 0 { headStartMilliseconds = loop.nowMilliseconds }
      return headStartMilliseconds + UInt64(configuration.headerReadTimeoutMilliseconds)
    case .application:
      let start = exchanges.first?.handedOverMilliseconds ?? loop.nowMilliseconds
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
      receiving.lastMilliseconds + timeout, receiving.startMilliseconds + timeout + earned)
    guard receiving.isDiscarded else { return needed }
    let patience = UInt64(configuration.discardedBodyTimeoutMilliseconds)
    return min(needed, receiving.startMilliseconds + patience)
  }

  func deadlinePassed() {
    switch waiting {
    case .lingering, .request:
      close()
    case .clientToRead:
      worker.context.logger.debug("connection cut: the client takes nothing")
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
    }
  }
}
