import HTTP

/// The events of a connection. Call `next` after each.
extension ConnectionMachine {
  /// The client has sent bytes, which `next` gets.
  mutating func received(nowMilliseconds: UInt64) {
    activeMilliseconds = nowMilliseconds
  }

  /// The client sends nothing more.
  mutating func inputEnded() { hasInputEnded = true }

  /// The client accepts more bytes.
  mutating func canWrite() { isWriteBlocked = false }

  /// The connection is closed, or has to be.
  mutating func disconnected() { close(isCutOff: false) }

  /// The loop's turn has ended: gathered answers leave now.
  mutating func gatheringEnded() {
    guard case .gathering = turn else { return }
    turn = .own
    begunInTurn = 0
  }

  /// Other connections had their turn.
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

  /// Sets what to do with the body that `askBodyPolicy` asked about.
  mutating func decide(_ policy: BodyPolicy) {
    guard case .open(.deciding(let expectsContinue)) = stage else { return }
    stage = .open(.decided(policy, expectsContinue: expectsContinue))
  }

  /// Takes the request of the action `handle`.
  mutating func takeRequest() -> Request? { request.take() }

  /// Answers a request; ignores a second answer, or one that comes too late.
  mutating func answered(_ number: UInt64, _ response: consuming Response) {
    guard exchanges.answer(number, response) else { return }
    abandonStream(of: number)
  }

  /// The maximum number of bytes in the output to which an interim answer is added.
  private static let interimBytes = 4_096

  /// Sends an interim answer to the oldest request. It is dropped for any other request, for a client of
  /// HTTP/1.0, and if the client does not read.
  mutating func informed(_ number: UInt64, _ head: [UInt8], _ around: inout Surroundings) {
    guard exchanges.takesInterim(number), output.byteCount < Self.interimBytes else { return }
    beginDelivery(&around)
    output.append(head)
  }

  /// The application will not answer a request: this is an error, after which the connection ends.
  mutating func failed(_ number: UInt64, _ error: ProtocolError) {
    guard exchanges.refuse(number, error) else { return }
    abandonStream(of: number)
  }

  /// Sets the answer for an error, which `explain` asked for.
  mutating func explained(_ number: UInt64, _ response: consuming Response) {
    exchanges.explained(number, response)
  }

  /// There may be more bytes of a streamed answer.
  mutating func streamWoken() { isStreamWoken = isStreaming }

  /// The next bytes of a streamed answer, perhaps none.
  mutating func streamed(_ bytes: [UInt8], _ around: inout Surroundings) {
    guard isStreaming, !bytes.isEmpty else { return }
    beginDelivery(&around)
    output.append(bytes)
  }

  /// The requested piece of an answer is here, complete.
  mutating func pieceCame(_ bytes: [UInt8], _ around: inout Surroundings) {
    guard pieceAskedMilliseconds != nil, !isClosed else { return }
    pieceAskedMilliseconds = nil
    // While the piece was awaited, the client had nothing to read.
    if output.awaitsPiece { deliveryMilliseconds = around.nowMilliseconds }
    output.place(piece: bytes)
  }

  /// The streamed answer is at its end.
  mutating func streamEnded() {
    guard isStreaming else { return }
    stream = nil
    stage = .closing
    let end = output.writtenCount + output.byteCount
    if !departures.isEmpty {
      departures.withElement(at: departures.count - 1) { $0.endsAt = end }
    }
  }

  /// The reader of the body got the bytes of `deliver`; with `isFull` it has to make room first.
  mutating func delivered(isFull: Bool) {
    guard isFull, case .open(.body(var body)) = stage else { return }
    body.pause()
    stage = .open(.body(body))
  }

  /// The reader of the body has made room.
  mutating func streamHasRoom(nowMilliseconds: UInt64) {
    guard case .open(.body(var body)) = stage else { return }
    body.resume(nowMilliseconds: nowMilliseconds)
    stage = .open(.body(body))
  }

  /// The application has answered without the rest of the body. That will not be read, so nothing behind it
  /// can be read either.
  private mutating func abandonStream(of number: UInt64) {
    guard number == exchanges.lastNumber, case .open(.body(let body)) = stage, body.use == .streamed
    else { return }
    exchanges.endAfterLast()
    leaveOpen(for: .answering, .disconnected)
  }

  // MARK: What the socket does

  /// The socket accepted this number of bytes of `output`, at least one.
  mutating func wrote(_ count: Int, _ around: inout Surroundings) {
    output.consume(count)
    activeMilliseconds = around.nowMilliseconds
    writtenInTurn += count
    // The socket stays writable, so this continues when the others have had their turn.
    if writtenInTurn >= around.configuration.bytesPerTurn, !output.isEmpty { isWriteBlocked = true }
  }

  /// The client accepts nothing for now.
  mutating func writeBlocked() { isWriteBlocked = true }
}
