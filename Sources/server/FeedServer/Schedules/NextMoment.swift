import Feed
import Synchronization
import System

/// When a post comes or goes next, as far as is known: no cache is to have a page beyond that.
final class NextMoment: Sendable {
  /// Microseconds since 1970.
  private let due = Atomic<Int64>(.max)

  func set(_ time: Timestamp?) { due.store(time?.microseconds ?? .max, ordering: .relaxed) }

  /// How many whole seconds are left, where they are fewer than these; 0 where it is over and has yet to be seen.
  func secondsLeft(within seconds: Int) -> Int? {
    let due = due.load(ordering: .relaxed)
    // Mostly there is none, and the clock is not asked.
    guard due != .max else { return nil }
    let left = (due - Self.now.microseconds) / 1_000_000
    return left < Int64(seconds) ? Int(max(0, left)) : nil
  }

  /// By the clock on the wall, exactly: a post comes at its moment.
  static var now: Timestamp {
    let moment = WallClock.exactNow
    return Timestamp(
      microseconds: Int64(moment.secondsSince1970) * 1_000_000
        + Int64(moment.nanoseconds / 1_000))
  }
}
