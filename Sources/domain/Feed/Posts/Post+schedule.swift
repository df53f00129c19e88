/// Whether a post with a schedule is in its feeds.
public enum Visibility: String, Sendable {
  /// It is to come.
  case scheduled
  /// It is there.
  case visible
  /// It was.
  case ended
}

extension Post {
  /// Whether its record says when it comes or goes.
  public var hasSchedule: Bool { visibleFrom != nil || visibleUntil != nil }

  /// What its schedule says of a moment.
  public func visibility(at now: Timestamp) -> Visibility {
    if let visibleFrom, now < visibleFrom { return .scheduled }
    if let visibleUntil, now >= visibleUntil { return .ended }
    return .visible
  }

  /// When it comes or goes next; nil where it does no more.
  public func nextMoment(after now: Timestamp) -> Timestamp? {
    [visibleFrom, visibleUntil].compactMap(\.self).filter { $0 > now }.min()
  }
}
