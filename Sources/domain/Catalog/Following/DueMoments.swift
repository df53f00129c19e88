import Feed
import Synchronization

/// When posts come or go next, as of the last refresh, for those who have to know it with each answer.
public final class DueMoments: Sendable {
  /// Microseconds since 1970; the greatest number where nothing is due.
  private let due = Atomic<Int64>(.max)
  /// What was due before that; the least number where nothing was.
  private let passed = Atomic<Int64>(.min)

  /// Nothing is due.
  public init() {}

  /// What is due next; `nil` where nothing is.
  public var next: Timestamp? {
    let due = due.load(ordering: .acquiring)
    return due == .max ? nil : Timestamp(microseconds: due)
  }

  /// What was due next before `next` was: a reader that finds a later moment in `next` than it knew finds its own here.
  public var previous: Timestamp? {
    let passed = passed.load(ordering: .relaxed)
    return passed == .min ? nil : Timestamp(microseconds: passed)
  }

  /// Takes in what is due next, by one caller at a time.
  ///
  /// - Parameter show: shows readers the posts of that time: behind an earlier moment, before a later one.
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
