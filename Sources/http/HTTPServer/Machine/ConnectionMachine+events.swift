import HTTP

/// What happens to a connection. Ask for `next` after each.
extension ConnectionMachine {
  /// The client has sent bytes, which `next` is given.
  mutating func received(nowMilliseconds: UInt64) {
    activeMilliseconds = nowMilliseconds
  }

  /// The client sends nothing more.
  mutating func inputEnded() { hasInputEnded = true }

  /// The client takes more.
  mutating func canWrite() { isWriteBlocked = false }

  /// The connection is gone, or is to be.
  mutating func disconnected() { close(isCutOff: false) }

  /// The loop's turn is over: gathered answers leave now.
  mutating func gatheringEnded() {
    guard case .gathering = turn else { return }
    turn = .own
    begunInTurn = 0
  }

  /// The others had their turn.
  mutating func turnCame() {
    turn = .own
    begunInTurn = 0
  }

  /// The server drains: the connection ends as soon as it has nothing to do.
  mutating func drainBegan(nowMilliseconds: UInt64) {
    drainStartMilliseconds = nowMilliseconds
  }

  /// The connection was accepted only to be refused.
  mutating func refuse(_ error: ProtocolError, _ around: inout Surroundings) {
    guard isOpen else { return }
    refuseMessage(error, &around)
  }

  // MARK: What the application does

  /// Says what is to be done with the body that `askBodyPolicy` asks about.
  mutating func decide(_ policy: BodyPolicy) {
    guard case .open(.deciding(let expectsContinue)) = stage else { return }
    stage = .open(.decided(policy, expectsContinue: expectsContinue))
  }

  /// Takes the request that `handle` is about.
  mutating func takeRequest() -> Request? { request.take() }

  /// Answers a request; a second answer, or one that comes too late, is ignored.
  mutating func answered(_ number: UInt64, _ response: consuming Response) {
    guard exchanges.answer(number, response) else { return }
    abandonStream(of: number)
  }

  /// How much of the output may wait for an interim answer to be added.
  private static let interimBytes = 4_096

  /// Tells the client of the oldest request something before its answer; leaves it out where that is not the
  /// request, for a client of HTTP/1.0, and where the client does not read.
  mutating func informed(_ number: UInt64, _ head: [UInt8], _ around: inout Surroundings) {
    guard exchanges.takesInterim(number), output.byteCount < Self.interimBytes else { return }
    beginDelivery(&around)
    output.append(head)
  }

  /// The application will not answer a request: that is an error, and ends the connection after it.
  mutating func failed(_ number: UInt64, _ error: ProtocolError) {
    guard exchanges.refuse(number, error) else { return }
    abandonStream(of: number)
  }

  /// The text of an error that `explain` asks for.
  mutating func explained(_ number: UInt64, _ response: consuming Response) {
    exchanges.explained(number, response)
  }

  /// There may be more of an answer that is made as it leaves.
  mutating func streamWoken() { isStreamWoken = isStreaming }

  /// These bytes follow, perhaps none.
  mutating func streamed(_ bytes: [UInt8], _ around: inout Surroundings) {
    guard isStreaming, !bytes.isEmpty else { return }
    beginDelivery(&around)
    output.append(bytes)
  }

  /// The piece of an answer that was asked for is here, all of it.
  mutating func pieceCame(_ bytes: [UInt8], _ around: inout Surroundings) {
    guard pieceAskedMilliseconds != nil, !isClosed else { return }
    pieceAskedMilliseconds = nil
    // While it was awaited, the client had nothing to take.
    if output.awaitsPiece { deliveryMilliseconds = around.nowMilliseconds }
    output.place(piece: bytes)
  }

  /// Nothing follows.
  mutating func streamEnded() {
    guard isStreaming else { return }
    stream = nil
    stage = .closing
    let end = output.writtenCount + output.byteCount
    if !departures.isEmpty {
      departures.withElement(at: departures.count - 1) { $0.endsAt = end }
    }
  }

  /// Whoever takes the body has got what `deliver` gave; `isFull` where it has to make room first.
  mutating func delivered(isFull: Bool) {
    guard isFull, case .open(.body(var body)) = stage else { return }
    body.pause()
    stage = .open(.body(body))
  }

  /// Whoever takes the body has made room.
  mutating func streamHasRoom(nowMilliseconds: UInt64) {
    guard case .open(.body(var body)) = stage else { return }
    body.resume(nowMilliseconds: nowMilliseconds)
    stage = .open(.body(body))
  }

  /// The application has answered without the rest of the body: that will not be read, and so nothing
  /// behind it can be read either.
  private mutating func abandonStream(of number: UInt64) {
    guard number == exchanges.lastNumber, case .open(.body(let body)) = stage, body.use == .streamed
    else { return }
    exchanges.endAfterLast()
    leaveOpen(for: .answering, .disconnected)
  }

  // MARK: What the socket does

  /// The socket took this many bytes of `output`, at least one.
  mutating func wrote(_ count: Int, _ around: inout Surroundings) {
    output.consume(count)
    activeMilliseconds = around.nowMilliseconds
    writtenInTurn += count
    // The socket stays writable, so that this goes on when the others have had their turn.
    if writtenInTurn >= around.configuration.bytesPerTurn, !output.isEmpty { isWriteBlocked = true }
  }

  /// The client takes nothing for now.
  mutating func writeBlocked() { isWriteBlocked = true }
}
