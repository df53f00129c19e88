import Glibc

/// A moment as clocks and file systems tell it, which reaches as far as they do: nanoseconds since 1970
/// in one number would end in the year 2262.
public struct Moment: Sendable, Hashable, Comparable {
  /// Whole seconds since 1970, rounded down; negative before.
  public let secondsSince1970: Int
  /// What is beyond them.
  public let nanoseconds: Int

  /// A moment of these parts.
  public init(secondsSince1970: Int, nanoseconds: Int = 0) {
    self.secondsSince1970 = secondsSince1970
    self.nanoseconds = nanoseconds
  }

  /// As the system tells it.
  public init(_ time: timespec) {
    self.init(secondsSince1970: time.tv_sec, nanoseconds: time.tv_nsec)
  }

  /// Nanoseconds since 1970 in one number; a clock beyond what that can tell (1677 to 2262) stands still
  /// there.
  public var nanosecondsSince1970: Int {
    let (whole, isTooFar) = secondsSince1970.multipliedReportingOverflow(by: 1_000_000_000)
    let (sum, isTooFarToo) = whole.addingReportingOverflow(nanoseconds)
    guard isTooFar || isTooFarToo else { return sum }
    return secondsSince1970 < 0 ? .min : .max
  }

  /// Whether the left one is earlier.
  public static func < (left: Moment, right: Moment) -> Bool {
    (left.secondsSince1970, left.nanoseconds) < (right.secondsSince1970, right.nanoseconds)
  }

  /// Whether so many seconds, or more, have passed since the other one; never where that lies at the
  /// end of what can be told.
  public func isAtLeast(seconds: Int, after other: Moment) -> Bool {
    let (due, overflow) = other.secondsSince1970.addingReportingOverflow(seconds)
    if overflow { return false }
    return self >= Moment(secondsSince1970: due, nanoseconds: other.nanoseconds)
  }
}
