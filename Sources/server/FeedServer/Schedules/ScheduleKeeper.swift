import Catalog
import CoreMetrics
import Feed
import Logging
import Observability
import Synchronization
import System

/// Puts scheduled posts into their feeds and removes them at their moments, as ordinary writes: pages,
/// cursors, caches, event streams and purges follow those, and know nothing of schedules.
///
/// Each server of a database does so by its own clock: the first write applies the schedule, and a later one
/// finds nothing to do. What became due while no server ran is applied before the first answer.
final class ScheduleKeeper: Sendable {
  private let store: any FeedStore
  private let logger: Logger
  private let problem = Mutex<String?>(nil)
  private let followed: CoreMetrics.Counter

  /// The interval between looks for schedules of other writers and for a changed clock.
  private static let lookMilliseconds: Int64 = 250
  /// The number of posts that are written at once, less than the writer's queue.
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

  /// Applies the schedules that are due.
  ///
  /// - Returns: the milliseconds until the next look.
  func look() -> Int {
    do {
      var last: [String] = []
      while true {
        let due = try store.duePosts(limit: Self.postsAtOnce)
        // The same posts again: the clock was set back meanwhile, or the posts cannot be written.
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
      // Logged once, and not four times a second. Reads for pages log the database's failure as an error.
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
    // Rounded up, so that it does not look before the moment.
    let left = (next.microseconds - NextMoment.now.microseconds + 999) / 1_000
    return Int(min(max(1, left), Self.lookMilliseconds))
  }

  /// - Throws: errors of the writes, except that a post does not exist.
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
