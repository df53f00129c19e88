import Catalog
import Feed
import HTTP
import HTTPServer
import Synchronization

/// A page in one coding, ready to be sent as long as what it shows stays as it is.
final class ReadyPage: Sendable {
  let variant: Variant
  let feed: String
  /// The items that it shows, by the store's numbers.
  let posts: [Int64]
  private let versionNumber: Atomic<UInt64>

  init(_ variant: Variant, feed: String, posts: [Int64], asOf version: StoreVersion) {
    self.variant = variant
    self.feed = feed
    self.posts = posts
    versionNumber = Atomic(version.number)
  }

  /// As of when it is known to be right.
  var version: StoreVersion { StoreVersion(number: versionNumber.load(ordering: .relaxed)) }

  /// Whether the store would give the same page now.
  func isCurrent(in store: any FeedStore) -> Bool {
    // Asked for first: what is written after this is looked at the next time.
    let now = store.version
    if now == version { return true }
    guard store.isUnchanged(feed: feed, posts: posts, since: version) else { return false }
    versionNumber.store(now.number, ordering: .relaxed)
    return true
  }

  /// How much memory it takes, roughly.
  var bytes: Int { variant.whole.bodyLength + 8 * posts.count + 2 * Self.headBytes }

  /// What an answer's fields take, with the arrays around them.
  private static let headBytes = 1536
}
