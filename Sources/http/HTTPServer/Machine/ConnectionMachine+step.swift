import HTTP

extension ConnectionMachine {
  /// The next action; `bytes` from `position` on are all that arrived and was not consumed.
  mutating func next(
    _ bytes: Span<UInt8>, _ position: inout Int, _ around: inout Surroundings
  ) -> ConnectionAction {
    while true {
      var isStarved = false
      if isOpen {
        if let action = read(bytes, &position, &around, &isStarved) { return action }
      } else {
        throwAway(bytes.count - position, &around)
        position = bytes.count
      }
      if let end = streamEnd.take() { return .endStream(end) }
      if let refusal = exchanges.takeRefusal() {
        return .explain(refusal.error, exchange: refusal.number, requestID: refusal.requestID)
      }
      if case .closed(let isCutOff) = stage {
        account(&around)
        return .close(isCutOff: isCutOff)
      }
      if hasInputEnded, isStarved || isLingering || isStreaming {
        concludeInput(&around)
        continue
      }
      if isStarved, mayGather {
        turn = .gathering
        return .gather
      }
      if !isWriteBlocked {
        queueAnswers(hasMoreInput: position < bytes.count, &around)
      }
      if pieceAskedMilliseconds == nil, let piece = output.nextPiece {
        pieceAskedMilliseconds = around.nowMilliseconds
        return .askPiece(piece.source, piece.range)
      }
      if !isWriteBlocked, !output.isEmpty, !output.awaitsPiece { return .write }
      if isStreaming {
        if drainStartMilliseconds != nil {
          streamEnded()
          continue
        }
        if output.isEmpty, isStreamWoken, let stream {
          let isIdle = isStreamIdle
          (isStreamWoken, isStreamIdle) = (false, false)
          return .askStream(stream, isIdle: isIdle)
        }
      }
      if case .closing = stage, output.isEmpty {
        if hasInputEnded {
          close(isCutOff: false)
          continue
        }
        linger(&around)
        return .finishSending
      }
      if case .ending = turn {
        turn = .others
        return .yield
      }
      if isDrained(hasMoreInput: position < bytes.count, &around) {
        close(isCutOff: false)
        continue
      }
      return .wait(settle(&around))
    }
  }

  /// Whether answers are ready that may wait for those of other connections, which came with them, and none
  /// is leaving already.
  private var mayGather: Bool {
    guard begunInTurn > 0, output.isEmpty, exchanges.isFirstReady else { return false }
    if case .own = turn { return true }
    return false
  }

  /// The client sends nothing more, and what it sent was read. If that has to wait, so does this.
  private mutating func concludeInput(_ around: inout Surroundings) {
    // A client that ends its side during a streamed answer is gone.
    if isLingering || isStreaming {
      close(isCutOff: false)
    } else if !awaitsHead || parser.isInsideMessage {
      refuseMessage(.unexpectedEnd, &around)
    } else if exchanges.isEmpty {
      close(isCutOff: false)
    } else {
      // A client that has finished sending still gets its answers.
      exchanges.endAfterLast()
      leaveOpen(for: .answering, .disconnected)
    }
  }

  /// Discards what arrives while lingering, or during a streamed answer, and counts it, as there is a limit.
  private mutating func throwAway(_ count: Int, _ around: inout Surroundings) {
    guard count > 0 else { return }
    if isStreaming {
      unreadBytes += count
      if unreadBytes > around.configuration.lingerBytes { close(isCutOff: false) }
      return
    }
    guard case .lingering(let end, let bytesLeft) = stage else { return }
    if count > bytesLeft {
      close(isCutOff: false)
    } else {
      stage = .lingering(untilMilliseconds: end, bytesLeft: bytesLeft - count)
    }
  }

  /// Lingers after everything was sent: the client has a while to close first. A close with unread bytes
  /// would let the kernel reset the connection, and the client lose the last answer (RFC 9112 section 9.6).
  private mutating func linger(_ around: inout Surroundings) {
    stage = .lingering(
      untilMilliseconds:
        around.nowMilliseconds + UInt64(around.configuration.lingerTimeoutMilliseconds),
      bytesLeft: around.configuration.lingerBytes)
  }

  /// Whether the server drains, no request is here, not even a part of one, and the client has been silent
  /// for so long that most likely none is on its way.
  private func isDrained(hasMoreInput: Bool, _ around: inout Surroundings) -> Bool {
    guard drainStartMilliseconds != nil, awaitsHead, !hasMoreInput, !parser.isInsideMessage,
      exchanges.isEmpty, output.isEmpty
    else { return false }
    let silence = UInt64(around.configuration.drainSilenceMilliseconds)
    return activeMilliseconds + silence <= around.nowMilliseconds
  }

  /// Ends the connection; later answers are dropped.
  mutating func close(isCutOff: Bool) {
    guard !isClosed else { return }
    leaveOpen(for: .closed(isCutOff: isCutOff), .disconnected)
    stream = nil
    exchanges.removeAll()
    output.removeAll()
  }

  /// Derives from the state what the connection waits for, and for how long.
  private mutating func settle(_ around: inout Surroundings) -> ConnectionWait {
    if case .own = turn { begunInTurn = 0 }
    writtenInTurn = 0
    account(&around)
    let reads = wantsInput(&around)
    noteHead(reads: reads, &around)
    return ConnectionWait(
      reads: reads, writes: !output.isEmpty && !output.awaitsPiece,
      deadlineMilliseconds: deadlineMilliseconds(&around))
  }

  /// Updates the loop's count of the memory that answers hold.
  private mutating func account(_ around: inout Surroundings) {
    let held = exchanges.heldBytes + output.heldBytes
    guard held != accountedBytes else { return }
    around.heldBytes += held - accountedBytes
    accountedBytes = held
  }

  /// Starts or stops the time of a head, which runs while the head is incomplete and is being read.
  private mutating func noteHead(reads: Bool, _ around: inout Surroundings) {
    guard case .open(.head(let since)) = stage else { return }
    let isTimed = reads && parser.isInsideMessage
    if isTimed, since == nil {
      stage = .open(.head(sinceMilliseconds: around.nowMilliseconds))
    } else if !isTimed, since != nil {
      stage = .open(.head(sinceMilliseconds: nil))
    }
  }
}
