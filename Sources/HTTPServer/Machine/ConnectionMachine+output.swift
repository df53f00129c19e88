import HTTP

extension ConnectionMachine {
  /// Puts the answers that are ready into `output`, in order, as far as there is room.
  mutating func queueAnswers(hasMoreInput: Bool, _ around: inout Surroundings) {
    while !output.isFull {
      // While draining, the last request that is here is the connection's last.
      let mayBeLast =
        drainStartMilliseconds != nil && exchanges.count == 1 && awaitsHead && !hasMoreInput
      guard let (exchange, response) = exchanges.popFirstReady() else {
        return queueContinue(&around)
      }
      let isLast = !exchange.keepsAlive || mayBeLast
      queue(response, of: exchange, isLast: isLast, &around)
      if stream != nil {
        exchanges.removeAll()
        return leaveOpen(for: .streaming, .disconnected)
      }
      if isLast {
        exchanges.removeAll()
        return leaveOpen(for: .closing, .disconnected)
      }
    }
  }

  /// Tells a client that waits for it to send its body, once all answers before are on their way.
  private mutating func queueContinue(_ around: inout Surroundings) {
    guard case .open(.body(var body)) = stage, body.awaitsContinue, exchanges.count == 1 else {
      return
    }
    body.toldToContinue(nowMilliseconds: around.nowMilliseconds)
    stage = .open(.body(body))
    beginDelivery(&around)
    output.append(ResponseHead.continue)
  }

  private mutating func queue(
    _ response: borrowing Response, of exchange: borrowing Exchange, isLast: Bool,
    _ around: inout Surroundings
  ) {
    let sendsBody = !exchange.isHead && !response.status.forbidsBody
    stream = sendsBody ? response.stream : nil
    isStreamWoken = stream != nil
    var bytes: [UInt8] = []
    bytes.reserveCapacity(
      ResponseHead.reservedBytes + (response.preparedHead?.count ?? response.fields.byteCount)
        + (sendsBody ? OutputQueue.copiedBytes(of: response.body) : 0))
    writeHead(of: response, isHead: exchange.isHead, to: &bytes)
    ResponseHead.writeEnd(
      to: &bytes,
      persistence: isLast || stream != nil
        ? .closed : exchange.keepsOldVersion ? .keptExplicitly : .kept,
      dateLine: around.dateLine, requestID: exchange.requestID)
    beginDelivery(&around)
    let start = output.writtenCount + output.byteCount
    output.append(bytes, then: sendsBody && stream == nil ? response.body : [])
    guard around.isObserved else { return }
    departures.append(
      Departure(
        beginsAt: start,
        endsAt: stream == nil ? output.writtenCount + output.byteCount : .max,
        startNanoseconds: exchange.startNanoseconds,
        request: FinishedRequest(response, of: exchange)))
  }

  /// Appends the head up to what differs from one answer to the next.
  private func writeHead(of response: borrowing Response, isHead: Bool, to bytes: inout [UInt8]) {
    if let prepared = response.preparedHead {
      bytes.append(contentsOf: prepared)
      return
    }
    let saysNoLength =
      response.status.forbidsBody || (isHead && response.saysLength) || response.stream != nil
    let head = ResponseHead(
      status: response.status, fields: response.fields,
      contentLength: saysNoLength ? nil : response.bodyLength)
    head.writeStart(to: &bytes)
  }

  /// From now on the client is to take what waits.
  mutating func beginDelivery(_ around: inout Surroundings) {
    guard output.isEmpty else { return }
    deliveryMilliseconds = around.nowMilliseconds
    deliveredCount = output.writtenCount
  }

  /// Whether an answer has left whole, or will not any more: that of a closed connection.
  var hasDeparted: Bool {
    guard let end = departures.first?.endsAt else { return false }
    return isClosed || end <= output.writtenCount
  }

  /// Takes the oldest of the answers that have departed, where one has: what to tell of it.
  mutating func takeDeparted(nowNanoseconds: UInt64) -> FinishedRequest? {
    guard hasDeparted, var departure = departures.popFirst() else { return nil }
    departure.request.bytes = max(
      0, min(output.writtenCount, departure.endsAt) - departure.beginsAt)
    departure.request.microseconds = Int((nowNanoseconds - departure.startNanoseconds) / 1000)
    return departure.request
  }
}

extension Response {
  /// Whether the application says itself how long the body would be: an answer to HEAD may do so
  /// without having the body.
  fileprivate var saysLength: Bool { body.isEmpty && fields.contains("Content-Length") }
}

extension FinishedRequest {
  fileprivate init(_ response: borrowing Response, of exchange: borrowing Exchange) {
    self.init(
      method: exchange.method, target: exchange.target, pathEnd: exchange.pathEnd,
      route: response.route, user: response.user, status: response.status, bytes: 0,
      microseconds: 0,
      requestID: exchange.requestID, peer: nil, forwardedFor: exchange.forwardedFor)
  }
}
