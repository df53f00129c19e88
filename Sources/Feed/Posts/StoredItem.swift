/// An item as the store has it: its post, and the feeds in which that is.
public struct StoredItem: Sendable, Hashable {
  /// The post.
  public let post: Post
  /// Its feeds in the order of their names, as the current ranking of each has it.
  public let placements: [Placement]
  /// What is known of its files, in their order, where the store was asked for that: no part of its record.
  public let truths: [MediaTruth?]

  /// An item of these parts.
  public init(post: Post, placements: [Placement], truths: [MediaTruth?] = []) {
    self.post = post
    self.placements = placements
    self.truths = truths
  }
}
