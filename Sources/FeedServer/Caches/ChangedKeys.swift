import Catalog
import Feed

extension FeedStore {
  /// The keys of all answers that a change since `version` may have made old; for threads that may wait.
  ///
  /// Purging goes by feed: a post that changed stands for the feeds it is in now, and those that it left or came
  /// to have changed themselves.
  ///
  /// - Throws: what the store throws.
  func changedKeys(since version: StoreVersion) throws -> Set<String> {
    guard let changes = changes(since: version), !changes.areSettings,
      changes.posts.count <= CacheKey.lookups
    else { return [CacheKey.all] }
    guard !changes.feeds.isEmpty || !changes.posts.isEmpty else { return [] }
    var keys: Set = [CacheKey.loose]
    if !changes.feeds.isEmpty { keys.insert(CacheKey.feeds) }
    for feed in changes.feeds { keys.insert(CacheKey.feed(feed)) }
    for start in stride(from: 0, to: changes.posts.count, by: CacheKey.postsAtOnce) {
      let end = min(start + CacheKey.postsAtOnce, changes.posts.count)
      let posts = try posts(Array(changes.posts[start..<end]))
      for post in posts.posts {
        for placement in try item(withID: posts.string(post.id))?.placements ?? [] {
          keys.insert(CacheKey.feed(placement.feed))
        }
      }
    }
    return keys
  }
}

extension CacheKey {
  /// Of how many posts the feeds are looked up; where more have changed at once, everything has.
  fileprivate static let lookups = 5_000
  /// How many are read at once.
  fileprivate static let postsAtOnce = 100
}
