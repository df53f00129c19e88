import Feed

/// What a write did to its item.
public enum ItemOutcome: Sendable, Hashable {
  /// There was no such post before.
  case created(Post)
  /// There was, and it is this one now.
  case replaced(Post)
  /// The post is gone.
  case deleted
  /// All counters of the post after the increments; of a replay, after those of the first request.
  case counted([Counter], isReplay: Bool)
}
