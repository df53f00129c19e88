import HTTP
import Testing

@testable import HTTPServer

/// A connection waits only for what somebody can still send: this says who, after every step.
enum ConnectionInvariant {
  static func check(_ world: MachineWorld, unconsumed: ArraySlice<UInt8>) {
    let machine = world.machine
    let held = machine.exchanges.heldBytes + machine.output.heldBytes
    if world.isClosed {
      // Nothing is held, and nobody waits for a body.
      #expect(held == 0 && world.around.heldBytes == world.foreignBytes)
      #expect(world.streams.allSatisfy { $0.end != nil })
      #expect(machine.stream == nil)
      return
    }
    #expect(!machine.isWriteBlocked || !machine.output.isEmpty)
    #expect(machine.streamEnd == nil)
    // The loop calls, whatever else happens.
    if world.owesGathering, case .gathering = machine.turn { return }
    guard let wait = world.lastWait else {
      Issue.record("neither waits nor ends")
      return
    }
    #expect(world.around.heldBytes == held + world.foreignBytes)
    #expect(wait.writes == (!machine.output.isEmpty && !machine.output.awaitsPiece))
    var around = world.around
    #expect(wait.reads == machine.wantsInput(&around))
    checkDebtor(world, wait)
    checkRest(world, wait, unconsumed)
  }

  /// Whoever is waited for can act, and what is waited for has a deadline.
  private static func checkDebtor(_ world: MachineWorld, _ wait: ConnectionWait) {
    let machine = world.machine
    let clientMaySend = wait.reads && !machine.hasInputEnded
    switch machine.waiting {
    case .nothing, .turn:
      Issue.record("waits for \(machine.waiting)")
    case .end, .head:
      #expect(clientMaySend)
    case .request:
      #expect(clientMaySend || world.owesTurn)
    case .body:
      #expect(clientMaySend)
      // The client is not waiting for the server itself.
      if case .open(.body(let body)) = machine.stage { #expect(!body.awaitsContinue) }
    case .delivery:
      #expect(wait.writes)
    case .piece:
      // Whoever brings it was asked.
      #expect(world.asked != nil && machine.pieceAskedMilliseconds != nil)
    case .stream:
      // The client may go, and whoever makes the answer is asked again.
      #expect(clientMaySend && machine.stream != nil && !machine.isStreamWoken)
    case .room:
      // What is full can be taken, and is then told.
      let waiting = world.streams.last?.waiting.count ?? 0
      #expect(waiting >= world.around.configuration.streamBufferBytes)
    case .answer:
      let number = machine.exchanges.firstNumber
      #expect(world.calls.contains { $0.exchange == number && !$0.isAnswered })
    }
    if case .others = machine.turn { #expect(world.owesTurn) }
    if case .ending = machine.turn { Issue.record("a turn that does not end") }
  }

  /// Nothing is left to do: asked again, the machine says the same, and consumes nothing.
  private static func checkRest(
    _ world: MachineWorld, _ wait: ConnectionWait, _ unconsumed: ArraySlice<UInt8>
  ) {
    var machine = world.machine
    var around = world.around
    var position = 0
    let bytes = Array(unconsumed)
    guard case .wait(let again) = machine.next(bytes.span, &position, &around) else {
      Issue.record("something was left to do while waiting for \(world.machine.waiting)")
      return
    }
    #expect(again == wait && position == 0)
  }
}
