import Feed
import Foundation
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
  /// By how much the server's clock is ahead of ours, as its last fresh answer said.
  private let ahead = Mutex(TimeInterval(0))

  var traffic: PageTraffic { state.withLock { $0 } }

  /// How long it is until a time of the server's, in milliseconds.
  func milliseconds(until time: Timestamp) -> Int {
    let here = Double(time.microseconds) / 1e6 - ahead.withLock { $0 }
    return Int(min(max((here - Date().timeIntervalSince1970) * 1_000, -1e15), 1e15))
  }

  func add(_ exchange: PageSource.PageExchange) {
    state.withLock {
      $0.requests += 1
      $0.bytes += exchange.bytes
    }
    guard let date = exchange.date else { return }
    ahead.withLock { $0 = date.timeIntervalSinceNow }
  }
}
