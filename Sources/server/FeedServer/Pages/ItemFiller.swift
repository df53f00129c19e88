import Catalog
import Feed
import Prefetch
import Synchronization
import System

/// Puts every item into the item file before clients request it, in the order in which pages show items, so
/// that a page's items are adjacent and read at once.
///
/// Takes at most half a core: after each step, it rests for as long as the step took.
final class ItemFiller: Sendable {
  /// The number of items that it reads at once.
  private static let stepItems = 512
  /// The number of attempts for items whose store changes before they are in the file, as happens when the
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

  /// Ends a run soon, and prevents others.
  func stop() { isStopping.store(true, ordering: .relaxed) }

  /// Reads every feed whose order is in memory, from its top, the largest first: what other feeds show of it
  /// is in its order, too, and near each other. Items that the store cannot give now are read by requests.
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

  /// The interval between looks whether the store has been read.
  private static let lookNanoseconds: UInt64 = 10_000_000

  private func waitForFeeds() -> [FeedSummary]? {
    while !isStopping.load(ordering: .relaxed), let snapshot = try? store.snapshot() {
      if snapshot.isWhole { return snapshot.knownFeeds }
      CurrentThread.rest(nanoseconds: Self.lookNanoseconds)
    }
    return nil
  }

  /// Does not load an order that has no room in memory.
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
      // Most clients ask for the feed that they show, on an unknown network.
      let items = EncodedItems(
        posts, hintsBy: book.policy(feed: feed, network: network), on: network, links: links)
      file.append(items, posts.posts.map(\.number), expiring: links.expires, asOf: version)
    }
  }
}
