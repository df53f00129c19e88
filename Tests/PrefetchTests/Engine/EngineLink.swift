import Feed
import Prefetch
import TestSupport

/// A person who looks at one item after the other, over a link of a known bandwidth: a small simulation, which holds
/// strategies against each other on the same feed.
struct EngineLink {
  var engine: PrefetchEngine
  let items: [PrefetchItem]
  let roundTripMilliseconds: Int
  /// The link's kilobits a second, by the second.
  let kilobits: (Int) -> Int
  /// How long each item is looked at.
  let dwell: (Int) -> Int

  /// A transfer on the link.
  private struct Running {
    let transfer: PrefetchTransfer
    var next: Int
    let end: Int
    let from: Int
    var isPaused = false
    /// Bytes that came and were not told yet.
    var untold = 0
  }

  private var running: [Running] = []
  private var timer: Int?
  private var now = 0
  private var shown = 0
  private var active = -1
  private var pages = 0
  /// Milliseconds in which the person looked at an item that was not ready.
  private(set) var waitedMilliseconds = 0

  private static let tickMilliseconds = 20
  private static let pageCount = 30

  init(
    _ engine: PrefetchEngine, _ items: [PrefetchItem], roundTripMilliseconds: Int = 200,
    kilobits: @escaping (Int) -> Int = { _ in 780 }, dwell: @escaping (Int) -> Int = { _ in 1_000 }
  ) {
    self.engine = engine
    self.items = items
    self.roundTripMilliseconds = roundTripMilliseconds
    self.kilobits = kilobits
    self.dwell = dwell
  }

  /// Goes through all items.
  mutating func run() {
    page(.anew)
    var until = now
    var due: [(at: Int, place: PrefetchPlace)] = []
    while active < items.count - 1 || now < until {
      if now >= until, active + 1 < shown {
        active += 1
        until = now + dwell(active)
        tell(.activeChanged(items[active].id))
      }
      while let place = asked.popLast() { due.append((now + 2 * roundTripMilliseconds, place)) }
      for index in due.indices.reversed() where due[index].at <= now {
        page(due.remove(at: index).place)
      }
      if let timer, timer <= now {
        self.timer = nil
        tell(.timerFired)
      }
      if active >= 0, !engine.isReady(items[active].id) {
        waitedMilliseconds += Self.tickMilliseconds
      }
      now += Self.tickMilliseconds
      carry()
    }
  }

  private var asked: [PrefetchPlace] = []

  private mutating func page(_ place: PrefetchPlace) {
    let end = min(shown + Self.pageCount, items.count)
    let new = Array(items[shown..<end])
    shown = end
    tell(
      .pageArrived(place, items: new, hasPrevious: false, hasNext: shown < items.count))
  }

  /// What the link carries in a tick: to what the person waits for first, else to all alike.
  private mutating func carry() {
    let kilobits = kilobits(now / 1_000)
    var ready = running.indices.filter { !running[$0].isPaused && running[$0].from <= now }
    guard !ready.isEmpty else { return }
    let urgent = ready.filter { running[$0].transfer.priority == .urgent }
    if !urgent.isEmpty { ready = urgent }
    let share = kilobits * Self.tickMilliseconds / 8 / ready.count
    for index in ready {
      let bytes = min(share, running[index].end - running[index].next)
      running[index].next += bytes
      running[index].untold += bytes
    }
    var told: [(PrefetchTransfer, Range<Int>)] = []
    for index in ready
    where running[index].untold >= 16_384 || running[index].next == running[index].end {
      let one = running[index]
      told.append((one.transfer, one.next - one.untold..<one.next))
      running[index].untold = 0
    }
    running.removeAll { $0.next == $0.end && $0.untold == 0 }
    for (transfer, range) in told {
      tell(.bytesArrived(transfer: transfer.id, key: transfer.key, range))
    }
    if now % 500 == 0 {
      tell(
        .bandwidthMeasured(
          kilobitsPerSecond: kilobits, roundTripMilliseconds: roundTripMilliseconds))
    }
  }

  private mutating func tell(_ event: PrefetchEvent) {
    for action in engine.handle(event, atMilliseconds: now) {
      switch action.kind {
      case .fetch(let transfer):
        running.append(
          Running(
            transfer: transfer, next: transfer.start,
            end: transfer.end ?? transfer.start + 200_000, from: now + roundTripMilliseconds))
      case .cancel(let id): running.removeAll { $0.transfer.id == id }
      case .pause(let id): set(id, isPaused: true)
      case .resume(let id): set(id, isPaused: false)
      case .askForPage(let place): asked.append(place)
      case .waitUntil(let time): timer = time
      case .showPlaceholder, .ready, .showFrame, .evict: break
      }
    }
  }

  private mutating func set(_ id: Int, isPaused: Bool) {
    guard let index = running.firstIndex(where: { $0.transfer.id == id }) else { return }
    running[index].isPaused = isPaused
  }

  /// A feed as the article's: pictures, and clips whose bytes are known to the second.
  static func feed(_ count: Int, _ random: inout TestRandom) -> [PrefetchItem] {
    (0..<count).map { number in
      guard random.once(in: 3) else {
        let bytes = 15_000 << random.number(0...3)
        return EngineSamples.image(number, bytes: bytes + random.number(0...bytes))
      }
      return clip(number, kilobits: 300 << random.number(0...2), &random)
    }
  }

  private static func clip(
    _ number: Int, kilobits: Int, _ random: inout TestRandom
  ) -> PrefetchItem {
    let seconds = random.number(4...15)
    let head = random.number(10_000...40_000)
    func bytes(_ second: Int) -> Int { head + second * kilobits * 125 }
    let lead = [250, 500, 780, 1_000, 2_000, 5_000].map { bandwidth in
      MediaTiming.Lead(
        kilobitsPerSecond: bandwidth,
        bytes: max(head, bytes(seconds) - seconds * bandwidth * 125))
    }
    let curve = [1, 2, 3, 5, 10].filter { $0 < seconds }.map {
      MediaTiming.Point(milliseconds: $0 * 1_000, bytes: bytes($0))
    }
    return EngineSamples.item(
      number, .video,
      MediaLoad(
        kind: .video, bytes: bytes(seconds), durationMilliseconds: seconds * 1_000,
        timing: MediaTiming(
          headBytes: head,
          curve: curve + [.init(milliseconds: seconds * 1_000, bytes: bytes(seconds))], lead: lead))
    )
  }
}
