import Catalog
import CoreMetrics
import Feed
import Logging
import Observability
import Synchronization
import System

/// Brings posts into their feeds and takes them out at their moments, as ordinary writes: pages, cursors, caches, event
/// streams and purges follow those, and know nothing of schedules.
///
/// Each server of a database does so by its clock: the write that comes first does it, and another one finds that
/// nothing is left to do. What became due while no server ran is done before the first answer.
final class ScheduleKeeper: Sendable {
  private let store: any FeedStore
  private let logger: Logger
  private let problem = Mutex<String?>(nil)
  private let followed: CoreMetrics.Counter

  /// How often it looks for schedules that others wrote, and whether the clock was set.
  private static let lookMilliseconds: Int64 = 250
  /// How many posts are written at once: fewer than may wait for the writer.
  private static let postsAtOnce = 500

  init(
    _ store: any FeedStore, _ figures: PrometheusRegistry, _ logger: Logger
  ) {
    (self.store, self.logger) = (store, logger)
    figures.describe(
      "lookahead_scheduled_writes_total",
      help: "Scheduled changes that this server made: items put into their feeds, or taken out.")
    followed = CoreMetrics.Counter(label: "lookahead_scheduled_writes_total", factory: figures)
  }

  /// Does what is due.
  ///
  /// - Returns: after how many milliseconds to look again.
  func look() -> Int {
    do {
      var last: [String] = []
      while true {
        let due = try store.duePosts(limit: Self.postsAtOnce)
        // Twice the same: the clock was set back meanwhile, or the posts cannot be written.
        guard !due.ids.isEmpty, due.ids != last else { return pause(until: due.next) }
        last = due.ids
        try follow(due.ids)
      }
    } catch {
      let words = "\(error)"
      let isKnown = problem.withLock { problem in
        defer { problem = words }
        return problem == words
      }
      // Said once, and not four times a second. Why a database fails is said as an error by who reads it for pages.
      if !isKnown { logger.warning("cannot apply schedules: \(words)") }
      return Int(Self.lookMilliseconds)
    }
  }

  private func pause(until next: Timestamp?) -> Int {
    if problem.withLock({ problem in
      defer { problem = nil }
      return problem != nil
    }) {
      logger.notice("schedules are applied again")
    }
    guard let next else { return Int(Self.lookMilliseconds) }
    // Upwards: not before the moment.
    let left = (next.microseconds - NextMoment.now.microseconds + 999) / 1_000
    return Int(min(max(1, left), Self.lookMilliseconds))
  }

  /// - Throws: what the store says of a write, but that its post is gone.
  private func follow(_ ids: [String]) throws {
    let waiting = Monitor((left: ids.count, failure: (any Error)?.none))
    for id in ids {
      store.write(ItemWrite(id: id, change: .followSchedule)) { [followed] result in
        waiting.withLock { waiting in
          waiting.left -= 1
          switch result {
          case .success: followed.increment()
          case .failure(FeedError.unknownItem): break
          case .failure(let error): waiting.failure = error
          }
        }
        waiting.notify()
      }
    }
    let failure = waiting.wait { $0.left == 0 ? .some($0.failure) : nil }
    if let failure { throw failure }
  }
}
