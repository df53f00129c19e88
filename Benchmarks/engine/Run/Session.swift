import Feed
import Prefetch

/// A person who goes through a feed, and a client that does what the engine says.
struct Session {
  private(set) var engine: PrefetchEngine
  /// Nanoseconds that events took, all but pages, and how many there were.
  private(set) var nanoseconds = 0
  private(set) var events = 0
  private var now = 0
  private var items = 0
  private var running: [PrefetchTransfer] = []
  private var pageIsAsked = false
  private let clock = ContinuousClock()

  init(_ strategy: Policy.Strategy, heldItems: Int) {
    var settings = PrefetchSettings()
    settings.heldItems = max(256, heldItems)
    settings.heldBytes = 1 << 40
    engine = PrefetchEngine(strategy: strategy, settings: settings)
  }

  /// Brings so many items at once.
  mutating func page(_ count: Int) {
    pageIsAsked = false
    tell(
      .pageArrived(
        items == 0 ? .anew : .below, items: (items..<items + count).map(Self.item),
        hasPrevious: false, hasNext: true), isCounted: false)
    items += count
  }

  /// Looks at an item for a second, in which as much arrives as the link brings.
  mutating func look(at item: Int) {
    tell(.scrolled(milliitemsPerSecond: 1_000, stopDistance: nil))
    tell(.activeChanged("\(item)"))
    for step in 0..<6 {
      now += 160
      if let transfer = running.first {
        running.removeFirst()
        // Half of it at a time, then the rest.
        let end = transfer.end ?? transfer.start + 200_000
        let half = transfer.start + (end - transfer.start) / 2
        tell(.bytesArrived(transfer: transfer.id, key: transfer.key, transfer.start..<half))
        tell(.bytesArrived(transfer: transfer.id, key: transfer.key, half..<end))
      }
      if step == 2 {
        tell(.bandwidthMeasured(kilobitsPerSecond: 700 + item % 300, roundTripMilliseconds: 180))
      }
      if step == 4 { tell(.playbackMoved(milliseconds: step * 160, .playing)) }
    }
    tell(.timerFired)
    if pageIsAsked { page(30) }
  }

  private mutating func tell(_ event: PrefetchEvent, isCounted: Bool = true) {
    let start = clock.now
    let actions = engine.handle(event, atMilliseconds: now)
    if isCounted {
      nanoseconds += Int((clock.now - start) / .nanoseconds(1))
      events += 1
    }
    for action in actions {
      switch action.kind {
      case .fetch(let transfer): running.append(transfer)
      case .cancel(let id): running.removeAll { $0.id == id }
      case .askForPage: pageIsAsked = true
      default: break
      }
    }
  }

  /// Two of three are pictures, the others clips whose bytes are known to the second.
  private static func item(_ number: Int) -> PrefetchItem {
    let isClip = number % 3 == 0
    let bytes = isClip ? 1_000_000 + number % 7 * 100_000 : 40_000 + number % 11 * 15_000
    let timing = MediaTiming(
      headBytes: 40_000,
      curve: [1, 2, 3, 5, 10].map { .init(milliseconds: $0 * 1_000, bytes: bytes / 10 * $0) },
      lead: [
        .init(kilobitsPerSecond: 250, bytes: bytes / 2),
        .init(kilobitsPerSecond: 780, bytes: bytes / 5),
        .init(kilobitsPerSecond: 2_000, bytes: 40_000),
      ])
    return PrefetchItem(
      id: "\(number)", type: isClip ? .video : .image,
      media: [
        PrefetchMedia(
          PrefetchFile(
            key: "https://media.example/files/\(number)",
            load: MediaLoad(
              kind: isClip ? .video : .image, bytes: bytes,
              durationMilliseconds: isClip ? 10_000 : nil,
              timing: isClip && bytes / 10 >= 40_000 ? timing : nil)))
      ])
  }
}
