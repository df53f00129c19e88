/// A feed as the store has it, without what its entries make of it.
public struct StoredFeed: Sendable {
  /// What paths and `feed=` call it.
  public let name: String
  /// What people call it; `nil` where no record said.
  public let title: String?

  /// A feed of this name and title.
  public init(name: String, title: String?) {
    self.name = name
    self.title = title
  }
}

/// A change of one feed, and the condition under which it is made.
public struct FeedWrite: Sendable {
  /// What becomes of the feed.
  public enum Change: Sendable {
    /// Makes the feed, without entries, or gives it this title and no other.
    case put(title: String?)
    /// Gives it another name and this title. Its policies go along, and all its cursors end.
    case rename(to: String, title: String?)
    /// Takes the feed, its entries, its rankings and its policies out of the store. Its posts stay.
    case delete
  }

  /// The feed's name.
  public let name: String
  /// What becomes of it.
  public let change: Change
  /// Receives the current feed, or `nil` if it does not exist; see `ItemWrite.condition`.
  public let condition: Condition?

  /// Decides whether a feed, as it is, may be changed.
  public typealias Condition = @Sendable (StoredFeed?) throws -> Void

  /// A change of the feed of this name.
  public init(name: String, change: Change, condition: Condition? = nil) {
    self.name = name
    self.change = change
    self.condition = condition
  }
}

/// What a write did to its feed.
public enum FeedOutcome: Sendable, Hashable {
  /// There was no such feed before.
  case created
  /// There was, and it has this title now.
  case replaced
  /// It has another name now.
  case renamed
  /// It is gone.
  case deleted
}
