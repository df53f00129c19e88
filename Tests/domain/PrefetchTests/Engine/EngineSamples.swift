import Feed
import Prefetch

/// A feed of pictures and clips, and what an engine says to it.
enum EngineSamples {
  /// A picture of 100 000 bytes.
  static func image(_ number: Int, bytes: Int? = 100_000) -> PrefetchItem {
    item(number, .image, MediaLoad(kind: .image, bytes: bytes))
  }

  /// A clip of a megabyte that plays for ten seconds; it starts with 50 000 bytes, and plays a second with
  /// each further 100 000.
  static func clip(_ number: Int) -> PrefetchItem {
    item(
      number, .video,
      MediaLoad(
        kind: .video, bytes: 1_000_000, durationMilliseconds: 10_000,
        timing: MediaTiming(
          headBytes: 50_000,
          curve: (1...9).map { .init(milliseconds: $0 * 1_000, bytes: $0 * 100_000) }
            + [.init(milliseconds: 10_000, bytes: 1_000_000)],
          lead: [
            .init(kilobitsPerSecond: 500, bytes: 400_000),
            .init(kilobitsPerSecond: 1_000, bytes: 60_000),
          ])))
  }

  static func item(_ number: Int, _ type: PostType, _ load: MediaLoad) -> PrefetchItem {
    PrefetchItem(
      id: "\(number)", type: type,
      media: [PrefetchMedia(PrefetchFile(key: "/\(number)", load: load))])
  }

  /// An engine that has a page of these items.
  static func engine(
    _ strategy: Policy.Strategy, _ items: [PrefetchItem], hasPrevious: Bool = false,
    hasNext: Bool = false, _ change: (inout PrefetchSettings) -> Void = { _ in }
  ) -> (engine: PrefetchEngine, actions: [PrefetchAction]) {
    var settings = PrefetchSettings()
    settings.parallelTransfers = 64
    change(&settings)
    var engine = PrefetchEngine(strategy: strategy, settings: settings)
    let actions = engine.handle(
      .pageArrived(.anew, items: items, hasPrevious: hasPrevious, hasNext: hasNext),
      atMilliseconds: 0)
    return (engine, actions)
  }
}

extension [PrefetchAction] {
  /// What is asked for, as `key start..<end`, in order.
  var fetches: [String] {
    compactMap {
      guard case .fetch(let transfer) = $0.kind else { return nil }
      return "\(transfer.key) \(transfer.start)..<\(transfer.end.map(String.init) ?? "")"
    }
  }

  /// Of which items something is asked for, each once, in order.
  var fetchedItems: [Int] {
    var items: [Int] = []
    for action in self {
      guard case .fetch(let transfer) = action.kind, let item = Int(transfer.item),
        !items.contains(item)
      else { continue }
      items.append(item)
    }
    return items
  }

  var transfers: [PrefetchTransfer] {
    compactMap { if case .fetch(let transfer) = $0.kind { transfer } else { nil } }
  }

  var pages: [PrefetchPlace] {
    compactMap { if case .askForPage(let place) = $0.kind { place } else { nil } }
  }

  /// What is done to transfers, and shown, in words.
  var others: [String] {
    compactMap {
      switch $0.kind {
      case .cancel(let id): "cancel \(id)"
      case .pause(let id): "pause \(id)"
      case .resume(let id): "resume \(id)"
      case .showPlaceholder(let item): "placeholder \(item)"
      case .ready(let item): "ready \(item)"
      case .showFrame(let item): "frame \(item)"
      case .evict(let key, let range): "evict \(key) \(range)"
      case .fetch, .askForPage, .waitUntil: nil
      }
    }
  }
}

extension PrefetchEngine {
  /// These transfers' bytes are told once all of them are there.
  mutating func arrive(all transfers: [PrefetchTransfer], at now: Int) -> [PrefetchAction] {
    transfers.flatMap {
      handle(
        .bytesArrived(transfer: $0.id, key: $0.key, $0.start..<($0.end ?? 0)), atMilliseconds: now)
    }
  }

  /// All of these transfers' bytes arrive: in no time from the first one on, which says nothing of the link.
  mutating func arrive(_ transfers: [PrefetchTransfer], at now: Int) -> [PrefetchAction] {
    var actions: [PrefetchAction] = []
    for transfer in transfers {
      let (start, end) = (transfer.start, transfer.end ?? 0)
      for bytes in [start..<min(start + 1, end), start..<end] {
        actions += handle(
          .bytesArrived(transfer: transfer.id, key: transfer.key, bytes), atMilliseconds: now)
      }
    }
    return actions
  }
}
