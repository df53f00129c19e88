import Testing

@testable import Sockets

struct TimerWheelTests {
  static func registration(_ number: UInt32) -> Registration {
    Registration(slot: number, generation: 0)
  }

  @Test func `an entry comes out once, not before its time and at most a tick after it`() {
    var wheel = TimerWheel(nowMilliseconds: 1000)
    _ = wheel.insert(Self.registration(1), atMilliseconds: 1100)
    #expect(wheel.advance(toMilliseconds: 1100).isEmpty)
    let due = wheel.advance(toMilliseconds: 1100 + TimerWheel.tickMilliseconds)
    #expect(due.map(\.entry) == [Self.registration(1)])
    #expect(wheel.advance(toMilliseconds: 100_000).isEmpty)
  }

  @Test func `the wait ends when the first entry is due`() throws {
    var wheel = TimerWheel(nowMilliseconds: 0)
    #expect(wheel.waitMilliseconds(nowMilliseconds: 0) == nil)
    _ = wheel.insert(Self.registration(1), atMilliseconds: 5000)
    _ = wheel.insert(Self.registration(2), atMilliseconds: 200)
    let wait = try #require(wheel.waitMilliseconds(nowMilliseconds: 0))
    #expect(wait > 200 && wait <= 200 + TimerWheel.tickMilliseconds)
    #expect(wheel.advance(toMilliseconds: wait).map(\.entry) == [Self.registration(2)])
    #expect(try #require(wheel.waitMilliseconds(nowMilliseconds: wait)) > 4500)
  }

  @Test func `what lies beyond the span comes out early, to be put in again`() {
    var wheel = TimerWheel(nowMilliseconds: 0)
    let far: UInt64 = 10_000_000
    var tick = wheel.insert(Self.registration(1), atMilliseconds: far)
    var now: UInt64 = 0
    var rounds = 0
    while now <= far {
      now = tick * TimerWheel.tickMilliseconds
      let due = wheel.advance(toMilliseconds: now)
      #expect(due.count == 1)
      if now <= far { tick = wheel.insert(Self.registration(1), atMilliseconds: far) }
      rounds += 1
    }
    #expect(rounds > 100 && now <= far + 2 * TimerWheel.tickMilliseconds)
  }

  @Test func `a long sleep brings out everything at once, in order`() {
    var wheel = TimerWheel(nowMilliseconds: 0)
    for number in 1...50 {
      _ = wheel.insert(Self.registration(UInt32(number)), atMilliseconds: UInt64(number) * 1000)
    }
    let due = wheel.advance(toMilliseconds: 1_000_000).map(\.entry.slot)
    #expect(due == Array(1...50))
  }
}
