import Feed
import HTTP
import HTTPServer
import Synchronization

/// A page in one coding, ready to be sent as long as what it shows stays as it is.
final class ReadyPage: Sendable {
  let variant: Variant
  private let feed: String
  /// The items that it shows, by the store's numbers.
  private let posts: [Int64]
  /// As of when it is known to be right.
  private let version: Atomic<UInt64>

  init(_ variant: Variant, of cut: PageCut) {
    self.variant = variant
    feed = cut.feed.name
    posts = cut.posts
    version = Atomic(cut.version.number)
  }

  /// Whether the store would give the same page now.
  func isCurrent(in store: any FeedStore) -> Bool {
    // Asked for first: what is written after this is looked at the next time.
    let now = store.version
    let known = StoreVersion(number: version.load(ordering: .relaxed))
    if now == known { return true }
    guard store.isUnchanged(feed: feed, posts: posts, since: known) else { return false }
    version.store(now.number, ordering: .relaxed)
    return true
  }

  /// How much memory it takes, roughly.
  var bytes: Int { variant.whole.bodyLength + 8 * posts.count + 2 * Self.headBytes }

  /// What an answer's fields take, with the arrays around them.
  private static let headBytes = 1536
}
