import HTTP
import Testing

@testable import HTTPServer

/// How a connection fits in with the others of its loop: turns, memory, draining, errors of its neighbours.
struct MachineTurnTests {
  static let get = "GET /a HTTP/1.1\r\nHost: a\r\n\r\n"

  @Test func `answers wait for those of other connections, and leave when the turn ends`() {
    var world = MachineWorld()
    world.send(Self.get)
    world.read()
    #expect(world.calls.count == 1 && world.owesGathering && world.written.isEmpty)
    world.gatheringEnds()
    #expect(world.answers == ["200 GET /a "] && !world.owesGathering)
  }

  @Test func `an answer that comes later, or ends the connection, waits for nobody`() {
    var world = MachineWorld()
    world.answersAtOnce = false
    world.send(Self.get)
    world.read()
    world.answer(0)
    #expect(world.answers == ["200 GET /a "] && !world.owesGathering)
    world.answersAtOnce = true
    world.send("GET /a HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")
    world.read()
    #expect(world.answers.count == 2 && !world.owesGathering && world.hasFinishedSending)
  }

  @Test func `after its share of requests the others have their turn`() {
    var world = MachineWorld { $0.requestsPerTurn = 2 }
    world.send(String(repeating: Self.get, count: 5))
    world.read()
    for count in [2, 4] {
      #expect(world.calls.count == count && world.answers.count == count && world.owesTurn)
      #expect(world.lastWait?.reads == false)
      world.turnComes()
    }
    world.gatheringEnds()
    #expect(world.calls.count == 5 && world.answers.count == 5 && !world.owesTurn)
  }

  @Test func `after its share of bytes the others have their turn`() {
    var world = MachineWorld { $0.bytesPerTurn = 1000 }
    world.answersAtOnce = false
    world.send(Self.get)
    world.read()
    let parts = (0..<5).map { _ in Response.Part.bytes([UInt8](repeating: 0x61, count: 3000)) }
    world.machine.answered(0, Response(.ok, body: parts))
    world.run()
    var turns = 0
    while world.lastWait?.writes == true {
      turns += 1
      world.take(.max)
    }
    #expect(turns == 4 && world.written.count > 15_000)
  }

  @Test func `while too much waits for other clients, a request is refused`() {
    var world = MachineWorld { $0.heldAnswerBytes = 10_000 }
    world.foreignBytes = 10_000
    world.send(Self.get)
    world.readAll()
    #expect(world.answers == ["503"] && world.calls.isEmpty && world.hasFinishedSending)
    world.finish()
    #expect(world.isClosed)
  }

  @Test func `a connection that is only refused is told so`() {
    var world = MachineWorld()
    world.machine.refuse(.tooManyConnections, &world.around)
    world.run()
    world.send(Self.get)
    world.readAll()
    #expect(world.answers == ["503"] && world.calls.isEmpty)
    world.finish()
    #expect(world.isClosed)
  }

  @Test func `while draining the last request that is here is the connection's last`() {
    for isCut in [false, true] {
      var world = MachineWorld()
      world.answersAtOnce = false
      world.send(Self.get + Self.get + (isCut ? "GET /b" : ""))
      world.read()
      world.machine.drainBegan(nowMilliseconds: world.around.nowMilliseconds)
      world.run()
      world.answer(0)
      #expect(world.answers.count == 1 && !world.hasFinishedSending)
      world.answer(1)
      #expect(world.answers.count == 2 && world.hasFinishedSending == !isCut)
      guard isCut else { continue }
      world.send(" HTTP/1.1\r\nHost: a\r\n\r\n")
      world.readAll()
      world.answer(2)
      #expect(world.answers.count == 3 && world.hasFinishedSending)
    }
  }

  @Test func `when an earlier request fails, whoever takes a later body hears of the end`() {
    var world = MachineWorld()
    world.answersAtOnce = false
    world.send(Self.get + "PUT /stream HTTP/1.1\r\nHost: a\r\nContent-Length: 9\r\n\r\nabc")
    world.readAll()
    #expect(world.calls.count == 2)
    world.calls[0].isAnswered = true
    world.machine.failed(0, .unanswered)
    world.run()
    #expect(world.answers == ["500"] && world.hasFinishedSending)
    #expect(world.bodies == ["abc! \(BodyStreamError.disconnected)"])
    // The answer to the second goes nowhere.
    world.answer(1)
    world.finish()
    #expect(world.answers == ["500"] && world.isClosed)
  }

  @Test func `a request is answered once`() {
    var world = MachineWorld()
    world.answersAtOnce = false
    world.send(Self.get)
    world.read()
    world.answer(0)
    world.machine.answered(0, Response(.ok))
    world.machine.failed(0, .unanswered)
    world.run()
    #expect(world.answers == ["200 GET /a "] && world.machine.waiting == .request)
  }
}
