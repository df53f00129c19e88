/// When the next backup of a series is due.
public struct BackupSchedule: Hashable, Sendable {
  /// The time from one backup to the next.
  public var intervalSeconds: Int

  /// A backup every so many seconds.
  public init(intervalSeconds: Int) {
    precondition(intervalSeconds >= 1, "an interval of no time")
    self.intervalSeconds = intervalSeconds
  }

  /// How long to wait, given how old the newest backup is; nil where there is none.
  ///
  /// A clock that was set back makes the newest one come from the future: then nobody knows how old it
  /// is, and another is due, which the clock dates as it now is.
  public func secondsUntilDue(newestAgeSeconds age: Int?) -> Int {
    guard let age, age >= 0 else { return 0 }
    return max(0, intervalSeconds - age)
  }

  /// How long to wait after a failure: an hour of a day.
  public var secondsUntilRetry: Int { max(1, intervalSeconds / 24) }
}
