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
  /// A clock that was set back makes the newest one come from the future: then a whole interval is
  /// waited, and not until that time comes again.
  public func secondsUntilDue(newestAgeSeconds age: Int?) -> Int {
    guard let age else { return 0 }
    return max(0, intervalSeconds - max(0, age))
  }

  /// How long to wait after a failure: an hour of a day.
  public var secondsUntilRetry: Int { max(1, intervalSeconds / 24) }
}
