import HTTP
import Testing

@testable import HTTPServer

/// What happens when nobody does anything any more, at each place of each message.
struct MachineDeadlineTests {
  typealias Waiting = ConnectionMachine.Waiting

  static let get = "GET /a HTTP/1.1\r\nHost: a\r\n\r\n"
  static func put(_ path: String, _ length: Int) -> String {
    "PUT \(path) HTTP/1.1\r\nHost: a\r\nContent-Length: \(length)\r\n\r\n"
  }

  struct Case: Sendable, CustomTestStringConvertible {
    let name: String
    let waiting: Waiting
    let milliseconds: UInt64
    /// The answers there are when it has passed.
    let answers: [String]
    var isCutOff = false
    let reach: @Sendable (inout MachineWorld) -> Void
    var testDescription: String { name }
  }

  static let cases = [
    Case(name: "a new connection", waiting: .request, milliseconds: 60_000, answers: []) { _ in },
    Case(name: "a kept one", waiting: .request, milliseconds: 60_000, answers: ["200 GET /a "]) {
      $0.feed([Array(get.utf8)])
    },
    Case(name: "an empty line is no request", waiting: .request, milliseconds: 60_000, answers: [])
    {
      $0.feed([[13, 10]])
    },
    Case(name: "a part of a head", waiting: .head, milliseconds: 10_000, answers: ["408"]) {
      $0.feed([Array(get.utf8.dropLast(3))])
    },
    Case(name: "a collected body", waiting: .body, milliseconds: 20_000, answers: ["408"]) {
      $0.feed([Array((put("/a", 5) + "he").utf8)])
    },
    Case(name: "a streamed body", waiting: .body, milliseconds: 20_000, answers: ["408"]) {
      $0.feed([Array((put("/stream", 5) + "he").utf8)])
    },
    Case(
      name: "a body that nobody wants", waiting: .body, milliseconds: 500,
      answers: ["200 PUT /discard "]
    ) { $0.feed([Array((put("/discard", 5) + "he").utf8)]) },
    Case(
      name: "a client that waits to be told", waiting: .body, milliseconds: 20_000,
      answers: ["408"]
    ) {
      $0.send("PUT /a HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\nContent-Length: 5\r\n\r\n")
      $0.settleDebts()
    },
    Case(name: "a stream that nobody reads", waiting: .room, milliseconds: 60_000, answers: ["503"])
    {
      $0.send(put("/stream", 40) + "0123456789abcdef")
      $0.read()
    },
    Case(
      name: "an application that does not answer", waiting: .answer, milliseconds: 60_000,
      answers: ["503"]
    ) {
      $0.answersAtOnce = false
      $0.send(get + get)
      $0.read()
    },
    Case(
      name: "a client that takes nothing", waiting: .delivery, milliseconds: 30_000,
      answers: [], isCutOff: true
    ) {
      $0.window = 0
      $0.send(get)
      $0.read()
      $0.gatheringEnds()
    },
    Case(
      name: "a client that does not end its side", waiting: .end, milliseconds: 2_000,
      answers: ["200 GET /a "]
    ) {
      $0.send("GET /a HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")
      $0.read()
    },
    Case(name: "silence while draining", waiting: .request, milliseconds: 250, answers: []) {
      $0.machine.drainBegan(nowMilliseconds: $0.around.nowMilliseconds)
      $0.run()
    },
    Case(
      name: "a part of a head while draining", waiting: .head, milliseconds: 10_000,
      answers: ["408"]
    ) {
      $0.feed([Array(get.utf8.dropLast(3))])
      $0.machine.drainBegan(nowMilliseconds: $0.around.nowMilliseconds)
      $0.run()
    },
  ]

  @Test(arguments: cases)
  func `each wait has its deadline, and what comes of it`(_ item: Case) throws {
    var world = MachineWorld()
    item.reach(&world)
    #expect(world.machine.waiting == item.waiting)
    let wait = try #require(world.lastWait)
    #expect(wait.deadlineMilliseconds == world.around.nowMilliseconds + item.milliseconds)
    let before = world.answers
    world.pass(milliseconds: item.milliseconds - 1)
    // A timer that comes too early says nothing.
    world.machine.deadlinePassed(unacknowledgedBytes: 0, &world.around)
    world.run()
    #expect(world.answers == before && world.lastWait == wait && !world.isClosed)
    world.pass(milliseconds: 1)
    #expect(world.answers == item.answers)
    #expect(world.isClosed || world.hasFinishedSending)
    #expect(world.closing.isCutOff == item.isCutOff)
    #expect(world.expire() != nil)
  }

  /// Who has stopped to act.
  enum Stopped: CaseIterable { case client, application, reader, taker, all }

  @Test(arguments: MachineMessage.some, Stopped.allCases)
  func `whoever stops, and wherever, the connection ends`(
    _ message: MachineMessage, _ stopped: Stopped
  ) {
    var start = MachineWorld()
    if stopped == .application || stopped == .all { start.answersAtOnce = false }
    if stopped == .taker || stopped == .all { start.window = 0 }
    let bytes = message.bytes
    // Long messages are long for one byte at the end.
    let skipped = bytes.count < 500 ? 0 : bytes.count - 20
    var trickling = start
    for count in 0...bytes.count {
      if count > 0 { Self.send(bytes[count - 1...count - 1], to: &trickling, stopped) }
      guard count >= skipped else { continue }
      // A world is a value: what would come of it is tried on a copy.
      var world = trickling
      #expect(world.expire() != nil, "byte \(count), waits for \(world.machine.waiting)")
      world = start
      Self.send(bytes[..<count], to: &world, stopped)
      #expect(world.expire() != nil, "cut at \(count), waits for \(world.machine.waiting)")
    }
  }

  private static func send(
    _ bytes: ArraySlice<UInt8>, to world: inout MachineWorld, _ stopped: Stopped
  ) {
    world.send(Array(bytes))
    if stopped == .client { world.settleDebts() } else { world.read() }
    world.gatheringEnds()
  }

  @Test(arguments: MachineMessage.all)
  func `a connection that is lost anywhere owes nobody anything`(_ message: MachineMessage) {
    let bytes = message.bytes
    for cut in 0...bytes.count where bytes.count < 500 || cut > bytes.count - 20 {
      var world = MachineWorld()
      world.answersAtOnce = cut.isMultiple(of: 2)
      world.send(Array(bytes[..<cut]))
      world.read()
      world.machine.disconnected()
      world.run()
      #expect(world.isClosed && world.streams.allSatisfy { $0.end != nil })
      for index in world.calls.indices { world.answer(index) }
    }
  }

  @Test func `a head's time does not run while it is not read`() {
    var world = MachineWorld()
    world.window = 0
    // The answer before is not taken, so that the rest of the head is not read.
    world.send(Self.get + "GET /b HTTP/1.1\r\n")
    world.read()
    world.gatheringEnds()
    #expect(world.machine.waiting == .delivery)
    world.pass(milliseconds: 29_000)
    world.take(.max)
    #expect(world.machine.waiting == .head)
    world.pass(milliseconds: 9_999)
    world.send("Host: a\r\n\r\n")
    world.settleDebts()
    #expect(world.answers == ["200 GET /a ", "200 GET /b "])
  }

  @Test func `a slow client is kept as long as it takes enough`() {
    var world = MachineWorld()
    world.answersAtOnce = false
    world.window = 0
    world.send(Self.get)
    world.read()
    world.machine.answered(0, Response(.ok, bytes: [UInt8](repeating: 1, count: 100_000)))
    world.run()
    for _ in 0..<5 {
      world.take(15_000)
      world.pass(milliseconds: 30_000)
      #expect(!world.isClosed)
    }
    world.take(14_999)
    world.pass(milliseconds: 30_000)
    #expect(world.closing.isCutOff)
  }

  @Test func `a body must come at its minimum rate, but for the time that its reader takes`() {
    for (readerTakes, isRefused) in [(UInt64(0), true), (10_000, false)] {
      var world = MachineWorld { $0.minimumBodyBytesPerSecond = 10 }
      world.send(Self.put("/stream", 1000))
      world.settleDebts()
      // 16 bytes in 5 s are too few; with the reader's 10 s left out they are enough.
      for _ in 0..<8 where !world.isClosed {
        world.send([UInt8](repeating: 0x61, count: 16))
        world.read()
        let pause = min(readerTakes, 4_000)
        world.pass(milliseconds: pause)
        world.takeBody()
        world.pass(milliseconds: 5_000 - pause)
      }
      #expect(world.errors == (isRefused ? [.bodyTimedOut] : []), "\(readerTakes)")
    }
  }
}
