/// The state of a post with a schedule in its feeds.
public enum Visibility: String, Sendable {
  /// Its feeds do not show it yet.
  case scheduled
  /// Its feeds show it.
  case visible
  /// Its feeds no longer show it.
  case ended
}

extension Post {
  /// Whether its record has a time at which it becomes visible or ends.
  public var hasSchedule: Bool { visibleFrom != nil || visibleUntil != nil }

  /// Returns the state at a time.
  public func visibility(at now: Timestamp) -> Visibility {
    if let visibleFrom, now < visibleFrom { return .scheduled }
    if let visibleUntil, now >= visibleUntil { return .ended }
    return .visible
  }

  /// Returns the next time at which it becomes visible or ends; `nil` if there is none.
  public func nextMoment(after now: Timestamp) -> Timestamp? {
    [visibleFrom, visibleUntil].compactMap(\.self).filter { $0 > now }.min()
  }
}
