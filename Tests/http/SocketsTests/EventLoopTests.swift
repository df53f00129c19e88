import CLinux
import Glibc
import Synchronization
import System
import Testing

@testable import Sockets

/// Calls closures: what a loop tells it.
final class RecordingHandler: EventHandler {
  let onReady: (Interest) -> Void
  let onDeadline: () -> Void

  init(onReady: @escaping (Interest) -> Void = { _ in }, onDeadline: @escaping () -> Void = {}) {
    self.onReady = onReady
    self.onDeadline = onDeadline
  }

  func ready(for readiness: Interest) { onReady(readiness) }
  func deadlinePassed() { onDeadline() }
}

struct EventLoopTests {
  /// Runs a loop for as long as the body takes to call what it is given.
  func withLoop(
    _ body: @escaping @Sendable (EventLoop, _ done: @escaping @Sendable () -> Void) -> Void
  ) async throws {
    let loop = try EventLoop()
    await withCheckedContinuation { continuation in
      do throws(SystemError) {
        try loop.start { continuation.resume() }
      } catch {
        Issue.record(error)
        continuation.resume()
      }
      loop.execute { body(loop) { loop.stop() } }
    }
  }

  /// Linux 6.12 is the first that lets a thread choose.
  private static var systemHasTimeSlices: Bool {
    var name = utsname()
    uname(&name)
    let release = withUnsafeBytes(of: name.release) { String(decoding: $0, as: UTF8.self) }
    let numbers = release.split(separator: ".").prefix(2).compactMap { Int($0) }
    return !numbers.lexicographicallyPrecedes([6, 12])
  }

  @Test(.enabled(if: systemHasTimeSlices))
  func `a loop works in short slices, threads that it starts do not`() async throws {
    let slices = Mutex<[UInt64]>([])
    try await withLoop { loop, done in
      slices.withLock { $0.append(lookahead_get_scheduling().runtime) }
      do throws(SystemError) {
        try startThread {
          slices.withLock { $0.append(lookahead_get_scheduling().runtime) }
          loop.execute(done)
        }
      } catch {
        Issue.record(error)
        done()
      }
    }
    // What is usual here is not asked of this thread: another test may have worked on it and changed that.
    let (own, started) = try slices.withLock { (try #require($0.first), try #require($0.last)) }
    #expect(own == Scheduling.prompt.sliceNanoseconds)
    #expect(started > Scheduling.prompt.sliceNanoseconds)
  }

  @Test func `work from other threads runs in order on the loop's thread`() async throws {
    let loop = try EventLoop()
    let order = Mutex<[Int]>([])
    await withCheckedContinuation { continuation in
      try? loop.start { continuation.resume() }
      for number in 0..<1000 {
        loop.execute {
          if loop.isCurrent { order.withLock { $0.append(number) } }
        }
      }
      loop.stop()
    }
    #expect(!loop.isCurrent)
    #expect(order.withLock { $0 } == Array(0..<1000))
    loop.execute { Issue.record("work ran after the loop's end") }
  }

  @Test func `a deadline that is moved later passes once, at the later time`() async throws {
    try await withLoop { loop, done in
      let start = loop.nowMilliseconds
      var registration = Registration.none
      var passes = 0
      let handler = RecordingHandler(onDeadline: {
        passes += 1
        #expect(passes == 1 && loop.nowMilliseconds >= start + 120)
        done()
      })
      registration = loop.registerTimer(handler)
      loop.setDeadline(registration, atMilliseconds: start + 40)
      loop.setDeadline(registration, atMilliseconds: start + 120)
    }
  }

  @Test func `a deadline that is moved earlier passes early, and one that is unset never`()
    async throws
  {
    try await withLoop { loop, done in
      let unset = loop.registerTimer(
        RecordingHandler(onDeadline: { Issue.record("unset deadline passed") }))
      loop.setDeadline(unset, atMilliseconds: loop.nowMilliseconds + 10)
      loop.setDeadline(unset, atMilliseconds: nil)
      let moved = loop.registerTimer(RecordingHandler(onDeadline: { done() }))
      loop.setDeadline(moved, atMilliseconds: loop.nowMilliseconds + 3_600_000)
      loop.setDeadline(moved, atMilliseconds: loop.nowMilliseconds + 60)
    }
  }

  @Test func `an event that waits for a closed descriptor never reaches the next one`()
    async throws
  {
    try await withLoop { loop, done in
      // Two descriptors are ready in the same wake-up; the first handler replaces the second.
      var pairs: [[Int32]] = []
      for _ in 0..<2 {
        var pair: [Int32] = [0, 0]
        #expect(socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0, &pair) == 0)
        pairs.append(pair)
      }
      var registrations: [Registration] = []
      var isReplaced = false
      let newcomer = RecordingHandler(onReady: { _ in Issue.record("a stale event") })
      func replace(_ index: Int) {
        #expect(!isReplaced, "an event after deregistration")
        isReplaced = true
        loop.deregister(registrations[index])
        var pair: [Int32] = [0, 0]
        #expect(socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0, &pair) == 0)
        // Closes the old descriptor and gives its number to the new one.
        #expect(dup2(pair[0], pairs[index][0]) == pairs[index][0])
        let registration = try! loop.register(pairs[index][0], for: .readable, newcomer)
        #expect(registration.slot == registrations[index].slot)
        loop.execute { done() }
        loop.deregister(registrations[1 - index])
      }
      for index in 0..<2 {
        let handler = RecordingHandler(onReady: { _ in replace(1 - index) })
        registrations.append(try! loop.register(pairs[index][0], for: .readable, handler))
      }
      for pair in pairs { write(pair[1], "x", 1) }
    }
  }
}
