import Synchronization

/// What asking for pages has cost.
public struct PageTraffic: Hashable, Sendable {
  /// Requests, also those that failed.
  public var requests = 0
  /// Bytes of bodies, as the transport hands them on.
  public var bytes = 0
}

/// Counts what crosses the network for pages.
final class PageMeter: Sendable {
  private let state = Mutex(PageTraffic())

  var traffic: PageTraffic { state.withLock { $0 } }

  func add(_ exchange: PageSource.PageExchange) {
    state.withLock {
      $0.requests += 1
      $0.bytes += exchange.bytes
    }
  }
}
