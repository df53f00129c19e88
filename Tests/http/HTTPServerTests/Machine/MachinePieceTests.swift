import HTTP
import Testing

@testable import HTTPServer

/// Bodies that lie somewhere else: asked for one piece ahead, and no more.
struct MachinePieceTests {
  private struct Somewhere: PieceSource {
    let pieceBytes: Int
    func read(_ range: Range<Int>, _ completion: @escaping @Sendable ([UInt8]?) -> Void) {
      completion(nil)
    }
  }

  private static func answer(_ ranges: [Range<Int>], pieceBytes: Int) -> Response {
    var body: [Response.Part] = []
    for range in ranges {
      body += [.bytes(Array("<".utf8)), .pieces(Somewhere(pieceBytes: pieceBytes), range)]
    }
    return Response(.ok, body: body + [.bytes(Array(">".utf8))])
  }

  private static func body(_ ranges: [Range<Int>]) -> [UInt8] {
    ranges.flatMap { Array("<".utf8) + $0.map { UInt8(truncatingIfNeeded: $0) } }
      + Array(">".utf8)
  }

  /// A connection with a request that is answered so.
  private static func world(_ response: Response) -> MachineWorld {
    var world = MachineWorld()
    world.answersAtOnce = false
    world.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n")
    world.read()
    world.calls[0].isAnswered = true
    world.machine.answered(world.calls[0].exchange, response)
    world.run()
    return world
  }

  @Test(arguments: [1, 3, 10, 4096], [[0..<1], [5..<25], [0..<10, 3..<4, 100..<5_000]])
  func `all bytes leave in their order, and the connection stays`(
    _ pieceBytes: Int, _ ranges: [Range<Int>]
  ) {
    var world = Self.world(Self.answer(ranges, pieceBytes: pieceBytes))
    world.settleDebts()
    let body = Self.body(ranges)
    #expect(world.written.suffix(body.count).elementsEqual(body))
    #expect(!world.isClosed && world.machine.output.isEmpty)
    world.send("GET /next HTTP/1.1\r\nHost: a\r\n\r\n")
    world.settleDebts()
    #expect(String(decoding: world.written, as: UTF8.self).hasSuffix("GET /next "))
  }

  @Test func `a client that takes nothing has one piece ahead, and holds that much`() {
    var world = Self.world(Self.answer([0..<1_000_000], pieceBytes: 1_000))
    world.window = 0
    for _ in 0..<5 { world.bringPiece() }
    #expect(world.asked == nil)
    #expect(world.machine.output.heldBytes <= 3_000 + 1_000)
    world.take(.max)
    #expect(world.asked != nil)
  }

  @Test
  func `a piece that does not come ends the connection, and one that comes then does nothing`() {
    var world = Self.world(Self.answer([0..<100], pieceBytes: 10))
    #expect(world.machine.waiting == .piece)
    world.pass(
      milliseconds: UInt64(world.around.configuration.answerTimeoutMilliseconds) - 1)
    #expect(!world.isClosed)
    world.pass(milliseconds: 1)
    #expect(world.isClosed)
    world.machine.pieceCame(Array(0..<10), &world.around)
    #expect(world.machine.output.isEmpty)
  }

  @Test func `time in which pieces are awaited is not the client's`() {
    var world = Self.world(Self.answer([0..<30], pieceBytes: 10))
    let stall = UInt64(world.around.configuration.writeStallTimeoutMilliseconds)
    let late = min(stall, UInt64(world.around.configuration.answerTimeoutMilliseconds)) - 1
    for _ in 0..<3 {
      world.pass(milliseconds: late)
      #expect(!world.isClosed)
      world.bringPiece()
    }
    #expect(world.written.last == UInt8(ascii: ">"))
  }

  @Test func `HEAD asks for nothing`() {
    var world = MachineWorld()
    world.answersAtOnce = false
    world.send("HEAD / HTTP/1.1\r\nHost: a\r\n\r\n")
    world.read()
    world.calls[0].isAnswered = true
    world.machine.answered(world.calls[0].exchange, Self.answer([0..<77], pieceBytes: 10))
    world.run()
    world.settleDebts()
    #expect(world.asked == nil)
    #expect(String(decoding: world.written, as: UTF8.self).contains("Content-Length: 79\r\n"))
  }
}
