import Catalog
import Feed
import Prefetch
import Synchronization
import System

/// Puts every item into the item file before it is requested, in the order in which pages
/// show them, so that a page's items lie together and are read at once.
///
/// It takes half a core at the most: after each step it rests for as long as that took.
final class ItemFiller: Sendable {
  /// How many items it reads at once.
  private static let stepItems = 512
  /// How often it reads items whose store changes before they are in the file, as it does when the
  /// orders of the feeds have just been read.
  private static let stepAttempts = 3

  private let store: any FeedStore & PolicyStore
  private let file: ItemFile
  private let linking: MediaLinking
  private let isStopping = Atomic<Bool>(false)

  init(store: any FeedStore & PolicyStore, file: ItemFile, linking: MediaLinking = .asRecorded) {
    self.store = store
    self.file = file
    self.linking = linking
  }

  /// Ends a run soon, and lets no other begin.
  func stop() { isStopping.store(true, ordering: .relaxed) }

  /// Goes through every feed whose order is at hand from its top, the largest first: what the others show of
  /// it lies in its order, too, and near each other. Requests read what the store cannot give now.
  func run() {
    guard !file.isOff, let feeds = waitForFeeds() else { return }
    for feed in feeds.sorted(by: { $0.total > $1.total }) {
      var offset = 0
      while offset < feed.total, isAtHand(feed, offset), file.hasRoom,
        !isStopping.load(ordering: .relaxed)
      {
        let start = MonotonicClock.nanoseconds
        guard (try? step(feed: feed.name, offset: offset)) != nil else { break }
        offset += Self.stepItems
        CurrentThread.rest(nanoseconds: MonotonicClock.nanoseconds - start)
      }
    }
  }

  /// How often it looks whether the store has been read.
  private static let lookNanoseconds: UInt64 = 10_000_000

  private func waitForFeeds() -> [FeedSummary]? {
    while !isStopping.load(ordering: .relaxed), let snapshot = try? store.snapshot() {
      if snapshot.isWhole { return snapshot.knownFeeds }
      CurrentThread.rest(nanoseconds: Self.lookNanoseconds)
    }
    return nil
  }

  /// An order that has no room in memory is not read for this.
  private func isAtHand(_ feed: FeedSummary, _ offset: Int) -> Bool {
    let query = PageQuery(feed: feed.name, offset: offset, limit: Self.stepItems)
    return (try? store.snapshot().isAtHand(query)) ?? false
  }

  private func step(feed: String, offset: Int) throws {
    let query = PageQuery(feed: feed, offset: offset, limit: Self.stepItems)
    for _ in 0..<Self.stepAttempts {
      let snapshot = try store.snapshot()
      let links = linking.links
      let missing = file.missing(try snapshot.cut(query).posts, expiring: links.expires)
      let book = snapshot.policyBook
      guard !missing.isEmpty, let network = book.networks.defaultProfile else { return }
      let version = store.version
      let posts = try store.posts(missing)
      // Most clients ask for the feed that they see, on a network of which nothing is known.
      let items = EncodedItems(
        posts, hintsBy: book.policy(feed: feed, network: network), on: network, links: links)
      file.append(items, posts.posts.map(\.number), expiring: links.expires, asOf: version)
    }
  }
}
