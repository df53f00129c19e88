import Feed
import Synchronization

/// The next times at which posts become visible or end, as of the last refresh, for callers that need them
/// with each response.
public final class DueMoments: Sendable {
  /// Microseconds since 1970; `Int64.max` if nothing is due.
  private let due = Atomic<Int64>(.max)
  /// The time that was due before `due`; `Int64.min` if there was none.
  private let passed = Atomic<Int64>(.min)

  /// Creates moments with nothing due.
  public init() {}

  /// The next time that is due; `nil` if there is none.
  public var next: Timestamp? {
    let due = due.load(ordering: .acquiring)
    return due == .max ? nil : Timestamp(microseconds: due)
  }

  /// The time that was due before `next`: a reader that finds a later time in `next` than it knew finds the
  /// known one here.
  public var previous: Timestamp? {
    let passed = passed.load(ordering: .relaxed)
    return passed == .min ? nil : Timestamp(microseconds: passed)
  }

  /// Sets the next time that is due; used by one caller at a time.
  ///
  /// - Parameter show: Publishes the posts of that time to readers. Runs after `next` is set to an earlier
  ///   time, and before it is set to a later one.
  public func set<Result>(_ next: Timestamp?, show: () -> Result) -> Result {
    let (old, new) = (due.load(ordering: .relaxed), next?.microseconds ?? .max)
    if new < old { due.store(new, ordering: .releasing) }
    let result = show()
    if new > old {
      passed.store(old, ordering: .relaxed)
      due.store(new, ordering: .releasing)
    }
    return result
  }
}
