/// A feed as the store has it, without what is derived from its entries.
public struct StoredFeed: Sendable {
  /// The name in paths and in `feed=`.
  public let name: String
  /// The display name; `nil` if no record gave one.
  public let title: String?

  /// Creates a feed.
  public init(name: String, title: String?) {
    self.name = name
    self.title = title
  }
}

/// A change of one feed, and the condition under which it is made.
public struct FeedWrite: Sendable {
  /// A kind of change of a feed.
  public enum Change: Sendable {
    /// Creates the feed, without entries, or replaces its title.
    case put(title: String?)
    /// Renames the feed and replaces its title. Its policies are kept, and all its cursors become invalid.
    case rename(to: String, title: String?)
    /// Deletes the feed, its entries, its rankings and its policies. Its posts stay.
    case delete
  }

  /// The feed's name.
  public let name: String
  /// The change.
  public let change: Change
  /// Receives the current feed, or `nil` if it does not exist; see `ItemWrite.condition`.
  public let condition: Condition?

  /// Decides whether the current feed may be changed.
  public typealias Condition = @Sendable (StoredFeed?) throws -> Void

  /// Creates a change of the feed with this name.
  public init(name: String, change: Change, condition: Condition? = nil) {
    self.name = name
    self.change = change
    self.condition = condition
  }
}

/// The result of a write of a feed.
public enum FeedOutcome: Sendable, Hashable {
  /// The feed did not exist before.
  case created
  /// The feed existed, and has this title now.
  case replaced
  /// The feed has another name now.
  case renamed
  /// The feed no longer exists.
  case deleted
}
