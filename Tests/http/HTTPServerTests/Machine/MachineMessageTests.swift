import HTTP
import TestSupport
import Testing

@testable import HTTPServer

/// What comes of each message, whichever pieces it comes in and whatever is behind it.
struct MachineMessageTests {
  static let next = Array("GET /next HTTP/1.1\r\nHost: a\r\n\r\n".utf8)

  /// Feeds the pieces, lets everybody do what is owed, and compares.
  static func check(
    _ message: MachineMessage, _ pieces: [[UInt8]], hasNext: Bool, _ world: MachineWorld,
    _ comment: Comment? = nil
  ) {
    var world = world
    world.feed(pieces)
    world.settleDebts()
    let more = hasNext && message.isKept ? ["200 GET /next "] : []
    #expect(world.answers == message.answers + more, comment)
    #expect(world.machine.isOpen == message.isKept, comment)
    #expect(world.hasFinishedSending == !message.isKept, comment)
    world.finish()
    #expect(world.isClosed && !world.closing.isCutOff, comment)
    #expect(world.answers == message.answers + more, comment)
  }

  /// Every pace of the application and of the loop that a message may meet.
  static var worlds: [MachineWorld] {
    [true, false].flatMap { answersAtOnce in
      [1, 8].flatMap { requestsPerTurn in
        [1, 64].map { depth in
          var world = MachineWorld {
            $0.requestsPerTurn = requestsPerTurn
            $0.pipeliningDepth = depth
          }
          world.answersAtOnce = answersAtOnce
          return world
        }
      }
    }
  }

  @Test(arguments: MachineMessage.some)
  func `a message comes to the same whole, byte by byte, and with a request behind it`(
    _ message: MachineMessage
  ) {
    let bytes = message.bytes
    // What is long is refused before anybody's pace could matter.
    for world in bytes.count < 500 ? Self.worlds : [MachineWorld()] {
      for hasNext in [false, true] {
        let all = bytes + (hasNext ? Self.next : [])
        Self.check(message, [all], hasNext: hasNext, world)
        Self.check(message, all.map { [$0] }, hasNext: hasNext, world)
      }
    }
  }

  @Test(arguments: MachineMessage.some)
  func `a message comes to the same wherever it is cut in two`(_ message: MachineMessage) {
    let all = message.bytes + Self.next
    // Long messages are long for one byte at the end.
    for cut in all.indices where all.count < 500 || cut > all.count - 100 {
      Self.check(
        message, [Array(all[..<cut]), Array(all[cut...])], hasNext: true, MachineWorld(),
        "cut at \(cut)")
    }
  }

  @Test(arguments: MachineMessage.all, TestRandom.seeds)
  func `a message comes to the same in random pieces`(_ message: MachineMessage, _ seed: UInt64) {
    var random = TestRandom(seed)
    let all = message.bytes + Self.next
    for _ in 0..<10 {
      var pieces: [[UInt8]] = []
      var rest = all[...]
      while !rest.isEmpty {
        let count = random.number(1...random.one(of: [3, 30, 300]))
        pieces.append(Array(rest.prefix(count)))
        rest = rest.dropFirst(count)
      }
      let world = random.one(of: Self.worlds)
      Self.check(message, pieces, hasNext: true, world, TestRandom.replay)
    }
  }

  @Test(arguments: MachineMessage.all)
  func `a client that ends its side anywhere has its answers, and the connection ends`(
    _ message: MachineMessage
  ) {
    let bytes = message.bytes
    for cut in bytes.indices where bytes.count < 500 || cut > bytes.count - 20 {
      var world = MachineWorld()
      world.clientHasFinished = true
      world.send(Array(bytes[..<cut]))
      world.settleDebts()
      #expect(world.isClosed, "cut at \(cut)")
      // A part of a message is refused, and what was whole before is answered.
      let whole = message.answers.prefix { $0.hasPrefix("200") }
      #expect(
        world.answers.allSatisfy { whole.contains($0) || $0.hasPrefix("4") || $0.hasPrefix("5") })
      #expect(world.calls.count <= world.answers.count)
    }
  }

  @Test func `a client that waits to be told is told once, behind the answers before`() {
    for path in ["/a", "/stream"] {
      var world = MachineWorld()
      world.answersAtOnce = false
      world.send("GET /1 HTTP/1.1\r\nHost: a\r\n\r\n")
      world.send(
        "PUT \(path) HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\nContent-Length: 2\r\n\r\n")
      world.settleDebts(answering: false)
      #expect(world.written.isEmpty)
      // The client cannot be blamed for what it waits for: it is the application's time that runs.
      #expect(world.machine.waiting == .answer)
      world.pass(milliseconds: 50_000)
      world.answer(0)
      world.settleDebts(answering: false)
      #expect(world.answers == ["200 GET /1 "] && world.continueCount == 1)
      #expect(world.machine.waiting == .body)
      // It has its whole time from now.
      world.pass(milliseconds: 19_999)
      world.send("hi")
      world.settleDebts()
      #expect(world.answers == ["200 GET /1 ", "200 PUT \(path) hi"] && world.continueCount == 1)
    }
  }

  @Test func `a client whose body is not wanted, or too long, is not told to send it`() {
    let cases = [
      ("/discard", 5, "200 PUT /discard "), ("/a", 1001, "413"), ("/stream", 1001, "413"),
    ]
    for (path, length, answer) in cases {
      var world = MachineWorld()
      world.send(
        "PUT \(path) HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\nContent-Length: \(length)\r\n\r\n"
      )
      world.settleDebts()
      #expect(world.answers == [answer] && world.continueCount == 0 && world.hasFinishedSending)
    }
  }

  @Test func `whoever takes a body hears why it is not whole`() {
    let head = "PUT /stream HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nab\r\n"
    let cases: [(sent: String, ends: Bool, body: String)] = [
      ("x\r\n", false, "ab! \(BodyStreamError.refused(.malformedChunkSize))"),
      ("", true, "ab! \(BodyStreamError.refused(.unexpectedEnd))"),
      ("400\r\n", false, "ab! \(BodyStreamError.refused(.bodyTooLarge(limitBytes: 1000)))"),
    ]
    for (sent, ends, body) in cases {
      var world = MachineWorld()
      world.send(head + sent)
      world.clientHasFinished = ends
      world.settleDebts()
      #expect(world.bodies == [body])
    }
    var world = MachineWorld()
    world.send(head)
    world.settleDebts()
    world.machine.disconnected()
    world.run()
    #expect(world.bodies == ["ab! \(BodyStreamError.disconnected)"] && world.isClosed)
  }
}
