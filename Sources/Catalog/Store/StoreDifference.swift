/// What is different in a store since a version.
public struct StoreDifference: Equatable, Sendable {
  /// The names of the feeds whose order, title, ranking or total changed, those that are gone and names that were
  /// given up among them; in no order.
  public let feeds: [String]
  /// The posts whose content changed or that went, each once. New posts are not among them.
  public let posts: [Int64]
  /// The networks or policies changed.
  public let areSettings: Bool

  /// Changes of these.
  public init(feeds: [String] = [], posts: [Int64] = [], areSettings: Bool = false) {
    self.feeds = feeds
    self.posts = posts
    self.areSettings = areSettings
  }
}
