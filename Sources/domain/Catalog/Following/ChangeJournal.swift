import DequeModule
import Feed

/// What changed at which version, as far back as there is room for.
struct ChangeJournal {
  /// How many changes of posts are kept.
  private let limit: Int
  /// What changed up to here is no longer known.
  private var floor = StoreVersion.start
  /// When each feed changed last; one that is not here has not since the floor.
  private var feeds: [ByteText: StoreVersion] = [:]
  /// When the settings changed last.
  private var settings = StoreVersion.start
  /// When each post changed last; one that is not here has not since the floor.
  private var posts: [Int64: StoreVersion] = [:]
  /// The changes of posts, oldest first.
  private var changes: Deque<(version: StoreVersion, post: Int64)> = []

  init(limit: Int) {
    self.limit = limit
  }

  /// Notes what changed between the version before and this one.
  mutating func note(_ update: CatalogUpdate.Changes?, at version: StoreVersion) {
    guard let update else { return forget(upTo: version) }
    for feed in update.feeds { feeds[feed] = version }
    if update.areSettings { settings = version }
    for post in update.posts {
      posts[post] = version
      changes.append((version, post))
    }
    while changes.count > limit { dropOldest() }
    if feeds.count > limit { forget(upTo: version) }
  }

  private mutating func dropOldest() {
    let change = changes.removeFirst()
    if posts[change.post] == change.version { posts[change.post] = nil }
    floor = max(floor, change.version)
  }

  private mutating func forget(upTo version: StoreVersion) {
    self = ChangeJournal(limit: limit)
    floor = version
  }

  func isUnchanged(feed: String, posts numbers: [Int64], since version: StoreVersion) -> Bool {
    isUnchanged(posts: numbers, since: version) && settings <= version
      && feeds[feed] ?? floor <= version
  }

  func isUnchanged(posts numbers: [Int64], since version: StoreVersion) -> Bool {
    version >= floor
      && (posts.isEmpty || numbers.allSatisfy { posts[$0] ?? floor <= version })
  }

  func changedPosts(since version: StoreVersion) -> [Int64]? {
    guard version >= floor else { return nil }
    var low = 0
    var high = changes.count
    while low < high {
      let middle = (low + high) / 2
      if changes[middle].version <= version { low = middle + 1 } else { high = middle }
    }
    // A post that changed again is told of once: where it changed last.
    return changes[low...].filter { posts[$0.post] == $0.version }.map(\.post)
  }

  /// It looks at every feed that changed lately.
  func changes(since version: StoreVersion) -> StoreDifference? {
    guard let posts = changedPosts(since: version) else { return nil }
    return StoreDifference(
      feeds: feeds.compactMap { $0.value > version ? $0.key.text : nil }, posts: posts,
      areSettings: settings > version)
  }
}
