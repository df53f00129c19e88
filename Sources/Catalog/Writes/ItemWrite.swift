import Feed

/// A change of one item, and the condition under which it is made.
public struct ItemWrite: Sendable {
  /// What becomes of the item.
  public enum Change: Sendable {
    /// Creates or replaces the post. Without `placements` it stays in the feeds in which it is, a new
    /// one in none; with them it is in exactly these feeds afterwards.
    case put(Post, placements: [Placement]?)
    /// Takes the post out of the store and out of every feed, in every ranking.
    case delete
    /// Adds to the post's counters, below zero too; a counter that is not there starts at zero. The
    /// names are within `RecordLimits.counterNameBytes`.
    case increment([Counter], key: IdempotencyKey?)
  }

  /// The post's id.
  public let id: String
  /// What becomes of it.
  public let change: Change
  /// Whether the writer may do this at all. Sees what `condition` sees, before it, and before a replay is answered.
  public let authorization: Condition?
  /// Sees the item as it is, `nil` where there is none, in the transaction that would change it. What
  /// it throws is the write's error, and then nothing is changed. Other writes wait meanwhile. Not asked for a
  /// replay, whose condition held the first time.
  public let condition: Condition?

  /// Decides whether an item, as it is, may be changed.
  public typealias Condition = @Sendable (StoredItem?) throws -> Void

  /// A change of the item with this id: of a post that is put, its own.
  public init(
    id: String, change: Change, condition: Condition? = nil, authorization: Condition? = nil
  ) {
    if case .put(let post, _) = change {
      precondition(post.id.utf8.elementsEqual(id.utf8), "the post has another id")
    }
    self.id = id
    self.change = change
    self.authorization = authorization
    self.condition = condition
  }
}
