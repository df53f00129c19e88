import DequeModule
import Feed

/// A journal of what changed at which version, for a bounded number of changes.
struct ChangeJournal {
  /// The maximum number of changes of posts.
  private let limit: Int
  /// The version up to which changes are no longer known.
  private var floor = StoreVersion.start
  /// The version of each feed's last change; an absent feed has not changed since the floor.
  private var feeds: [ByteText: StoreVersion] = [:]
  /// The version of the last change of the settings.
  private var settings = StoreVersion.start
  /// The version of each post's last change; an absent post has not changed since the floor.
  private var posts: [Int64: StoreVersion] = [:]
  /// The changes of posts, oldest first.
  private var changes: Deque<(version: StoreVersion, post: Int64)> = []

  init(limit: Int) {
    self.limit = limit
  }

  /// Records what changed between the previous version and this one.
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
    // A post that changed more than once is reported once, at its last change.
    return changes[low...].filter { posts[$0.post] == $0.version }.map(\.post)
  }

  /// Returns the changes since a version. Scans every feed that changed since the floor.
  func changes(since version: StoreVersion) -> StoreDifference? {
    guard let posts = changedPosts(since: version) else { return nil }
    return StoreDifference(
      feeds: feeds.compactMap { $0.value > version ? $0.key.text : nil }, posts: posts,
      areSettings: settings > version)
  }
}
