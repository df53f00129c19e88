import CLinux
import Glibc
import Synchronization
import System

/// A thread that waits for descriptors, deadlines and work from other threads.
///
/// Theory of operation. `epoll` is used level-triggered: unread bytes stay ready, so a handler may stop after
/// one call of `read`, and all connections get their turn. Handlers are in a table of slots; a slot's number
/// and generation are the poll data (see `Registration`). A handler has one deadline. Moving a deadline
/// later, which every request does, only stores a number: when the earlier time comes, the timer wheel looks
/// at the stored deadline, and the entry is inserted again.
///
/// `@unchecked Sendable`: `execute`, `stop` and `isCurrent` may be called from any thread and touch only
/// `submitted` (a mutex), `thread` (an atomic) and constants. Everything else is confined to the loop's own
/// thread once `start` was called: each method that touches it checks that in debug builds. Before `start`,
/// only the thread that makes the loop has it.
public final class EventLoop: @unchecked Sendable {
  /// Work for the loop's thread.
  public typealias Work = @Sendable () -> Void

  private struct Slot {
    var handler: (any EventHandler)?
    var descriptor: Int32 = -1
    var generation: UInt32 = 0
    /// The deadline of the handler, in milliseconds; 0 for never.
    var deadline: UInt64 = 0
    /// The tick of the wheel's earliest entry for this slot; 0 if no entry counts.
    var scheduledTick: UInt64 = 0
  }

  private struct Submitted: Sendable {
    var work: [Work] = []
    var isStopping = false
  }

  private static let wakeData = UInt64.max
  private static let eventsAtOnce = 256

  private let poll: Int32
  private let wake: Int32
  private let submitted = Monitor(Submitted())
  private let thread = Atomic<UInt>(0)

  private var slots: [Slot] = []
  private var freeSlots: [UInt32] = []
  private var wheel: TimerWheel
  /// Called after each turn's events, on the loop's thread; set before the loop starts.
  public var turnEnded: () -> Void = {}
  /// The milliseconds of the monotonic clock when the loop last woke.
  public private(set) var nowMilliseconds: UInt64

  /// A loop that does not run yet.
  public init() throws(SystemError) {
    let poll = try retrying("epoll_create1", "make an event loop") {
      epoll_create1(Int32(EPOLL_CLOEXEC))
    }
    do throws(SystemError) {
      wake = try retrying("eventfd", "make an event loop") {
        eventfd(0, Int32(EFD_CLOEXEC | EFD_NONBLOCK))
      }
    } catch {
      close(poll)
      throw error
    }
    self.poll = poll
    nowMilliseconds = MonotonicClock.milliseconds
    wheel = TimerWheel(nowMilliseconds: nowMilliseconds)
    _ = lookahead_epoll_control(poll, EPOLL_CTL_ADD, wake, lookahead_epoll_in, Self.wakeData)
  }

  deinit {
    close(wake)
    close(poll)
  }

  // MARK: From any thread

  /// Whether the calling thread is this loop's.
  public var isCurrent: Bool { thread.load(ordering: .relaxed) == UInt(pthread_self()) }

  /// Runs the loop on a thread of its own, and calls `ended` there when the loop has stopped.
  public func start(ended: @escaping Work) throws(SystemError) {
    try startThread(scheduling: .prompt) { [self] in
      thread.store(UInt(pthread_self()), ordering: .relaxed)
      run()
      ended()
    }
  }

  /// Runs `work` on the loop's thread, after the work that waits there. Once the loop has stopped, work is
  /// dropped.
  public func execute(_ work: @escaping Work) {
    let isFirst = submitted.withLock { submitted in
      if submitted.isStopping { return false }
      submitted.work.append(work)
      return submitted.work.count == 1
    }
    if isFirst { signal() }
  }

  /// Ends the loop after the work that was submitted before.
  public func stop() {
    submitted.withLock { $0.isStopping = true }
    signal()
  }

  // MARK: On the loop's thread

  /// Watches a descriptor. `epoll` forgets a descriptor when it is closed, the slot does not: call
  /// `deregister` before closing.
  public func register(
    _ descriptor: Int32, for interest: Interest, _ handler: any EventHandler
  ) throws(SystemError) -> Registration {
    assert(isConfined, "not on the event loop's thread")
    let index = freeSlots.popLast() ?? UInt32(slots.count)
    if Int(index) == slots.count { slots.append(Slot()) }
    let registration = Registration(slot: index, generation: slots[Int(index)].generation)
    do throws(SystemError) {
      try control(EPOLL_CTL_ADD, descriptor, interest, registration)
    } catch {
      freeSlots.append(index)
      throw error
    }
    slots[Int(index)].handler = handler
    slots[Int(index)].descriptor = descriptor
    return registration
  }

  /// Registers a handler that has a deadline and no descriptor.
  public func registerTimer(_ handler: any EventHandler) -> Registration {
    assert(isConfined, "not on the event loop's thread")
    let index = freeSlots.popLast() ?? UInt32(slots.count)
    if Int(index) == slots.count { slots.append(Slot()) }
    slots[Int(index)].handler = handler
    return Registration(slot: index, generation: slots[Int(index)].generation)
  }

  /// Changes the events for which a descriptor is watched.
  public func watch(_ registration: Registration, for interest: Interest) throws(SystemError) {
    assert(isConfined, "not on the event loop's thread")
    guard isCurrent(registration) else { return }
    try control(
      EPOLL_CTL_MOD, slots[Int(registration.slot)].descriptor, interest, registration)
  }

  /// Ends a registration: its handler is released and gets no more events.
  public func deregister(_ registration: Registration) {
    assert(isConfined, "not on the event loop's thread")
    guard isCurrent(registration) else { return }
    let index = Int(registration.slot)
    if slots[index].descriptor >= 0 {
      _ = lookahead_epoll_control(poll, EPOLL_CTL_DEL, slots[index].descriptor, 0, 0)
    }
    // One generation is left out, so that no registration has the poll data of `wake`.
    let next = slots[index].generation &+ 1
    slots[index] = Slot(generation: next == .max ? 0 : next)
    freeSlots.append(registration.slot)
  }

  /// Sets the deadline of the handler, on the clock of `nowMilliseconds`; nil for never.
  public func setDeadline(_ registration: Registration, atMilliseconds deadline: UInt64?) {
    assert(isConfined, "not on the event loop's thread")
    guard isCurrent(registration) else { return }
    slots[Int(registration.slot)].deadline = deadline ?? 0
    guard let deadline else { return }
    let scheduled = slots[Int(registration.slot)].scheduledTick
    if scheduled == 0 || deadline / TimerWheel.tickMilliseconds + 1 < scheduled {
      slots[Int(registration.slot)].scheduledTick = wheel.insert(
        registration, atMilliseconds: deadline)
    }
  }

  /// All handlers that are registered now.
  public var handlers: [any EventHandler] {
    assert(isConfined, "not on the event loop's thread")
    return slots.compactMap(\.handler)
  }

  // MARK: The loop

  private func run() {
    let events = UnsafeMutablePointer<epoll_event>.allocate(capacity: Self.eventsAtOnce)
    defer { events.deallocate() }
    while true {
      let count = epoll_wait(poll, events, Int32(Self.eventsAtOnce), waitMilliseconds())
      nowMilliseconds = MonotonicClock.milliseconds
      var isWoken = false
      // -1 is EINTR: the other errors of epoll_wait(2) are programming errors.
      for index in 0..<max(0, Int(count)) {
        let data = lookahead_epoll_data(events + index)
        if data == Self.wakeData {
          isWoken = true
          continue
        }
        let registration = Registration(pollData: data)
        guard isCurrent(registration), let handler = slots[Int(registration.slot)].handler else {
          continue
        }
        handler.ready(for: Interest(rawValue: lookahead_epoll_events(events + index)))
      }
      if isWoken, !runSubmitted() { break }
      passDeadlines()
      turnEnded()
    }
    for index in slots.indices { slots[index].handler = nil }
    // Thread numbers are reused, so no thread is this loop's from now on.
    thread.store(.max, ordering: .relaxed)
  }

  private func waitMilliseconds() -> Int32 {
    guard let wait = wheel.waitMilliseconds(nowMilliseconds: nowMilliseconds) else { return -1 }
    return Int32(min(wait, 60_000))
  }

  /// Runs the work that other threads submitted; false if the loop has to end.
  private func runSubmitted() -> Bool {
    var count: UInt64 = 0
    _ = read(wake, &count, MemoryLayout<UInt64>.size)
    let (work, isStopping) = submitted.withLock { submitted in
      defer { submitted.work = [] }
      return (submitted.work, submitted.isStopping)
    }
    for item in work { item() }
    return !isStopping
  }

  private func passDeadlines() {
    for (registration, tick) in wheel.advance(toMilliseconds: nowMilliseconds) {
      let index = Int(registration.slot)
      // An entry that was replaced by an earlier one has no effect.
      guard isCurrent(registration), slots[index].scheduledTick == tick else { continue }
      slots[index].scheduledTick = 0
      let deadline = slots[index].deadline
      guard deadline > 0 else { continue }
      if deadline > nowMilliseconds {
        slots[index].scheduledTick = wheel.insert(registration, atMilliseconds: deadline)
      } else {
        slots[index].deadline = 0
        slots[index].handler?.deadlinePassed()
      }
    }
  }

  private func isCurrent(_ registration: Registration) -> Bool {
    let index = Int(registration.slot)
    return index < slots.count && slots[index].generation == registration.generation
      && slots[index].handler != nil
  }

  private func control(
    _ operation: Int32, _ descriptor: Int32, _ interest: Interest, _ registration: Registration
  ) throws(SystemError) {
    try retrying("epoll_ctl", "watch a descriptor") {
      lookahead_epoll_control(
        poll, operation, descriptor, interest.rawValue, registration.pollData)
    }
  }

  private func signal() {
    var one: UInt64 = 1
    _ = write(wake, &one, MemoryLayout<UInt64>.size)
  }

  /// Whether the caller is confined to this loop: on its thread, or on any thread before the loop runs. For
  /// assertions.
  package var isConfined: Bool { isCurrent || thread.load(ordering: .relaxed) == 0 }
}

/// The events for which a descriptor is watched, or for which it is ready.
public struct Interest: OptionSet, Sendable, Hashable {
  /// The bits, as in `epoll_ctl(2)`.
  public let rawValue: UInt32

  /// Events with these bits.
  public init(rawValue: UInt32) { self.rawValue = rawValue }

  /// There are bytes to read, or the end, or a connection to accept.
  public static let readable = Interest(rawValue: lookahead_epoll_in)
  /// There is room to write.
  public static let writable = Interest(rawValue: lookahead_epoll_out)
  /// Both directions are closed, or there is an error; always watched.
  public static let hangup = Interest(rawValue: lookahead_epoll_hangup)
}

/// The handler of a descriptor at an event loop. Called only on the loop's thread.
public protocol EventHandler: AnyObject {
  /// Called when the descriptor is ready, as long as it is (level-triggered).
  func ready(for readiness: Interest)
  /// Called when the deadline has passed that `EventLoop.setDeadline` set last.
  func deadlinePassed()
}

/// Identifies a registration at an event loop; a later one in the same slot has another generation.
///
/// It is the poll data of the descriptor, so that an event that was waiting when its descriptor was closed
/// never reaches the connection that got the same number.
public struct Registration: Sendable, Hashable {
  let slot: UInt32
  let generation: UInt32

  /// No registration.
  public static let none = Registration(slot: .max, generation: 0)

  init(slot: UInt32, generation: UInt32) {
    self.slot = slot
    self.generation = generation
  }

  init(pollData: UInt64) {
    slot = UInt32(truncatingIfNeeded: pollData)
    generation = UInt32(truncatingIfNeeded: pollData >> 32)
  }

  var pollData: UInt64 { UInt64(generation) << 32 | UInt64(slot) }
}
