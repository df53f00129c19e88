import Synchronization

/// Counts what crosses the network for media, as the store says it: at once, so that whoever has read bytes finds
/// them counted.
final class MediaTraffic: Sendable {
  private let counts = Mutex((requests: 0, bytes: 0))

  var requests: Int { counts.withLock { $0.requests } }
  var bytes: Int { counts.withLock { $0.bytes } }

  func count(_ event: RangeStoreEvent) {
    counts.withLock { counts in
      switch event {
      case .asked: counts.requests += 1
      case .arrived(_, let range, _): counts.bytes += range.count
      case .answered, .ended: break
      }
    }
  }
}
