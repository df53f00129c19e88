import Feed

/// Posts whose schedules must be followed (`ItemWrite.Change.followSchedule`).
public struct DuePosts: Hashable, Sendable {
  /// The ids of the posts that are due.
  @ByBytes public private(set) var ids: [String]
  /// The earliest due time of all posts with a time to come or one that is not followed yet; `nil` if there
  /// is none.
  public let next: Timestamp?

  /// Creates the list of due posts.
  public init(ids: [String], next: Timestamp?) {
    self.ids = ids
    self.next = next
  }
}
