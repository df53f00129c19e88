import Feed

/// Posts whose schedules are to be followed (`ItemWrite.Change.followSchedule`).
public struct DuePosts: Hashable, Sendable {
  /// Those that are due.
  @ByBytes public private(set) var ids: [String]
  /// When the first one is due, of all that have a moment to come or that is not followed yet; nil where none has.
  public let next: Timestamp?

  /// These posts.
  public init(ids: [String], next: Timestamp?) {
    self.ids = ids
    self.next = next
  }
}
