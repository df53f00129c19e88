import Catalog
import Feed
import System

/// When a post comes or goes next: no cache is to have a page beyond that.
struct NextMoment: Sendable {
  private let moments: DueMoments

  /// For so long after a moment an answer may be on its way that was begun before.
  private static let graceMicroseconds: Int64 = 1_000_000

  init(_ moments: DueMoments) { self.moments = moments }

  /// How many whole seconds are left, where they are fewer than these; 0 where it is over and has yet to be seen, or has
  /// just been.
  func secondsLeft(within seconds: Int) -> Int? {
    let next = moments.next
    let previous = moments.previous
    // Mostly there is none, and the clock is not asked.
    guard next != nil || previous != nil else { return nil }
    let now = Self.now.microseconds
    if let previous, 0..<Self.graceMicroseconds ~= now - previous.microseconds { return 0 }
    guard let next else { return nil }
    let left = (next.microseconds - now) / 1_000_000
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
