import Catalog
import Feed
import System

/// The next time at which a schedule shows or hides a post: caches must not keep a page beyond it.
struct NextMoment: Sendable {
  private let moments: DueMoments

  /// The time after such a moment in which an earlier answer may still be on its way.
  private static let graceMicroseconds: Int64 = 1_000_000

  init(_ moments: DueMoments) { self.moments = moments }

  /// The whole seconds until the next moment, if they are fewer than `seconds`; 0 if the moment is past and
  /// not yet applied, or has just passed.
  func secondsLeft(within seconds: Int) -> Int? {
    let next = moments.next
    let previous = moments.previous
    // Usually there are no such moments, and the clock is not read.
    guard next != nil || previous != nil else { return nil }
    let now = Self.now.microseconds
    if let previous, 0..<Self.graceMicroseconds ~= now - previous.microseconds { return 0 }
    guard let next else { return nil }
    let left = (next.microseconds - now) / 1_000_000
    return left < Int64(seconds) ? Int(max(0, left)) : nil
  }

  /// The exact time of the wall clock: posts appear at their moments.
  static var now: Timestamp {
    let moment = WallClock.exactNow
    return Timestamp(
      microseconds: Int64(moment.secondsSince1970) * 1_000_000
        + Int64(moment.nanoseconds / 1_000))
  }
}
