import HTTP
import Logging
import Sockets
import System

extension Connection {
  /// Takes an answer; on the loop's thread.
  func answer(_ number: UInt64, _ response: Response) {
    guard stage == .open || stage == .finishing else { return }
    let isNew = exchanges.answer(number, response)
    if isNew, receiving?.stream != nil, number == exchanges.lastExchangeNumber {
      // The application has answered without the rest of the body: nobody will read it, and so
      // nothing behind it can be read either.
      abandonBody(.disconnected)
      exchanges.update(number) { exchange in
        exchange.keepsAlive = false
        exchange.needsContinue = false
      }
      pending = []
      stage = .finishing
    }
    if isNew, !isAdvancing { resume() }
  }

  /// Answers an exchange with an error, and ends the connection after it.
  func fail(_ number: UInt64, _ error: ProtocolError) {
    guard stage == .open || stage == .finishing, let exchange = exchanges[number] else { return }
    guard exchange.response == nil else { return }
    worker.context.logger.warning(
      "request failed: \(error)", metadata: ["requestID": "\(exchange.requestID)"])
    exchanges.update(number) { $0.keepsAlive = false }
    answer(number, worker.context.handler.response(to: error, requestID: exchange.requestID))
  }

  /// Refuses the message that is being received, whatever is known of it; nothing behind it is
  /// read.
  func refuse(_ error: ProtocolError) {
    if receiving == nil {
      let known = parser.knownHead
      var exchange = Exchange(
        requestID: known?.requestID ?? worker.nextRequestID(), isHead: known?.method == .head,
        keepsOldVersion: false, keepsAlive: false)
      exchange.startNanoseconds = MonotonicClock.nanoseconds
      exchange.method = known?.method
      exchange.target = known?.target ?? []
      exchange.pathEnd = known?.pathEnd ?? 0
      _ = exchanges.append(exchange)
    }
    abandonBody(.refused(error))
    pending = []
    headStartMilliseconds = 0
    stage = .finishing
    let number = exchanges.lastExchangeNumber
    guard let requestID = exchanges[number]?.requestID else { return }
    let response = worker.context.handler.response(to: error, requestID: requestID)
    exchanges.update(number) { exchange in
      exchange.keepsAlive = false
      exchange.needsContinue = false
    }
    _ = exchanges.answer(number, response)
    worker.context.logger.debug("message refused: \(error)")
  }

  /// Has the answers that are ready written with those of other connections.
  func writeSoon() {
    guard !isWriting else { return }
    isWriting = true
    worker.writeSoon(self)
  }

  /// Called by the worker after `writeSoon`.
  func writeAnswers() {
    isWriting = false
    guard stage != .closed else { return }
    resume()
  }

  /// Writes the answers that are ready, in order, as far as the client takes them.
  func flush() {
    guard stage == .open || stage == .finishing else { return }
    repeat {
      queueAnswers()
      guard write() else { return }
    } while exchanges.isFirstAnswered && !closesAfterOutput
    if closesAfterOutput { linger() }
  }

  private func queueAnswers() {
    while !closesAfterOutput, !output.isFull {
      // While draining, the last request that is here is the connection's last.
      let isOnlyOne = exchanges.count == 1
      guard let (exchange, response) = exchanges.popFirstAnswered() else {
        if exchanges.takeNeedOfContinue() { output.append(ResponseHead.continue) }
        return
      }
      queue(response, of: exchange, isOnlyOne: isOnlyOne)
    }
  }

  private func queue(_ response: Response, of exchange: Exchange, isOnlyOne: Bool) {
    let isLast =
      !exchange.keepsAlive
      || (worker.isDraining && isOnlyOne && receiving == nil && pending.isEmpty && !hasMoreInput)
    let sendsBody = !exchange.isHead && !response.status.forbidsBody
    var bytes: [UInt8] = []
    bytes.reserveCapacity(
      ResponseHead.reservedBytes + (response.preparedHead?.count ?? 0)
        + (sendsBody ? OutputQueue.copiedBytes(of: response.body) : 0))
    writeHead(of: response, isHead: exchange.isHead, to: &bytes)
    ResponseHead.writeEnd(
      to: &bytes,
      persistence: isLast ? .closed : exchange.keepsOldVersion ? .keptExplicitly : .kept,
      dateLine: worker.currentDateLine(), requestID: exchange.requestID)
    if output.isEmpty {
      deliveryMilliseconds = loop.nowMilliseconds
      deliveredCount = output.writtenCount
    }
    let start = output.writtenCount + output.byteCount
    output.append(bytes, then: sendsBody ? response.body : [])
    if worker.context.observer != nil {
      departing.append(
        Departing(
          endsAt: output.writtenCount + output.byteCount, beginsAt: start,
          startNanoseconds: exchange.startNanoseconds,
          request: FinishedRequest(response, of: exchange, peer: peer)))
    }
    if isLast {
      closesAfterOutput = true
      stage = .finishing
    }
  }

  /// Appends the head up to what differs from one answer to the next.
  private func writeHead(of response: Response, isHead: Bool, to bytes: inout [UInt8]) {
    if let prepared = response.preparedHead {
      bytes.append(contentsOf: prepared)
      return
    }
    let saysNoLength = response.status.forbidsBody || (isHead && response.saysLength)
    let head = ResponseHead(
      status: response.status, fields: response.fields,
      contentLength: saysNoLength ? nil : response.bodyLength)
    head.writeStart(to: &bytes)
  }

  /// Writes all that is queued; false if the client does not take it, or is gone, or if it is the
  /// others' turn.
  private func write() -> Bool {
    defer { noteDepartures() }
    do throws(SystemError) {
      var written = 0
      while !output.isEmpty {
        let count = try output.write(to: socket)
        guard count > 0 else { return false }
        activeMilliseconds = loop.nowMilliseconds
        written += count
        if written >= configuration.bytesPerTurn, !output.isEmpty { return false }
      }
      return true
    } catch {
      worker.context.logger.debug("connection lost: \(error)")
      close()
      return false
    }
  }
}

extension Response {
  /// Whether the application says itself how long the body would be: an answer to HEAD may do so
  /// without having the body.
  fileprivate var saysLength: Bool { body.isEmpty && fields.contains("Content-Length") }
}

extension FinishedRequest {
  fileprivate init(_ response: Response, of exchange: Exchange, peer: IPAddress?) {
    self.init(
      method: exchange.method, target: exchange.target, pathEnd: exchange.pathEnd,
      route: response.route, status: response.status, bytes: 0, microseconds: 0,
      requestID: exchange.requestID, peer: peer, forwardedFor: exchange.forwardedFor)
  }
}
