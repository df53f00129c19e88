import HTTP
import TestSupport
import Testing

@testable import HTTPServer

/// Random walks over everything that may happen to a connection, in any order and at any pace.
struct MachineWalkTests {
  /// Messages of which each is answered by itself, and keeps the connection.
  static let messages = MachineMessage.served.filter { $0.answers.count == 1 }

  static func world(_ random: inout TestRandom) -> MachineWorld {
    let depth = random.number(1...4)
    let perTurn = random.number(1...4)
    let perWrite = random.one(of: [50, 500, 1 << 20])
    let readBytes = random.one(of: [20, 100, 4096])
    var world = MachineWorld {
      $0.pipeliningDepth = depth
      $0.requestsPerTurn = perTurn
      $0.bytesPerTurn = perWrite
      $0.readBufferBytes = readBytes
      $0.streamBufferBytes = 16
    }
    world.answersAtOnce = random.chance(30)
    if random.chance(50) { world.window = random.number(0...300) }
    return world
  }

  /// One thing that may happen.
  static func happen(
    _ world: inout MachineWorld, _ unsent: inout ArraySlice<UInt8>, _ random: inout TestRandom
  ) {
    switch random.number(0...9) {
    case 0, 1:
      let count = random.number(1...60)
      world.send(Array(unsent.prefix(count)))
      unsent = unsent.dropFirst(count)
    case 2, 3: world.read()
    case 4:
      guard !world.calls.isEmpty else { return }
      let index = random.number(0...world.calls.count - 1)
      let call = world.calls[index]
      // A body that is taken as it comes is answered when it has come.
      if call.streamsBody, world.streams.last(where: { $0.exchange == call.exchange })?.end == nil {
        return
      }
      world.takeBody()
      world.answer(index)
    case 5: world.takeBody()
    case 6: world.take(random.one(of: [0, 10, 100, 1000]))
    case 7: world.gatheringEnds()
    case 8: world.turnComes()
    default: world.pass(milliseconds: UInt64(random.number(0...3)))
    }
  }

  @Test(arguments: TestRandom.seeds)
  func `whatever the order and the pace, each request has its answer`(_ seed: UInt64) {
    var random = TestRandom(seed)
    for _ in 0..<400 {
      var world = Self.world(&random)
      let messages = (0..<random.number(1...12)).map { _ in random.one(of: Self.messages) }
      var unsent = messages.flatMap(\.bytes)[...]
      for _ in 0..<random.number(0...300) { Self.happen(&world, &unsent, &random) }
      world.send(Array(unsent))
      world.window = .max
      world.settleDebts()
      #expect(world.answers == messages.flatMap(\.answers), TestRandom.replay)
      #expect(world.machine.waiting == .request && world.pending.isEmpty, TestRandom.replay)
      world.finish()
      #expect(world.isClosed, TestRandom.replay)
    }
  }

  @Test(arguments: TestRandom.seeds)
  func `whatever happens, and whoever stops then, a connection ends`(_ seed: UInt64) {
    var random = TestRandom(seed)
    for _ in 0..<600 {
      var world = Self.world(&random)
      let messages = (0..<random.number(1...6)).map { _ in random.one(of: MachineMessage.all) }
      var unsent = messages.flatMap(\.bytes)[...]
      for _ in 0..<random.number(0...200) where !world.isClosed {
        switch random.number(0...60) {
        case 0:
          world.machine.drainBegan(nowMilliseconds: world.around.nowMilliseconds)
          world.run()
        case 1: world.clientHasFinished = true
        case 2:
          world.machine.disconnected()
          world.run()
        case 3: world.pass(milliseconds: UInt64(random.number(100...30_000)))
        case 4:
          // A responder that was dropped.
          guard let index = world.calls.indices.randomElement(using: &random) else { break }
          guard !world.calls[index].isAnswered else { break }
          world.calls[index].isAnswered = true
          world.machine.failed(world.calls[index].exchange, .unanswered)
          world.run()
        default: Self.happen(&world, &unsent, &random)
        }
      }
      #expect(world.expire(within: 40) != nil, TestRandom.replay)
    }
  }
}
