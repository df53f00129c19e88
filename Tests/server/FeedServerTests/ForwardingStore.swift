import Catalog
import Feed

/// A store that passes everything on to another, but for what the test makes otherwise.
protocol ForwardingStore: FeedStore, PolicyStore {
  var store: any FeedStore & PolicyStore { get }
}

extension ForwardingStore {
  var version: StoreVersion { store.version }
  var dueMoments: DueMoments { store.dueMoments }
  func snapshot() throws -> any StoreSnapshot { try store.snapshot() }
  func feeds(_ query: FeedListQuery) throws -> FeedListPage { try store.feeds(query) }
  func feed(named name: String) throws -> FeedSummary? { try store.feed(named: name) }
  func cut(_ query: PageQuery) throws -> PageCut { try store.cut(query) }
  func isAtHand(_ query: PageQuery) -> Bool { store.isAtHand(query) }
  func posts(_ numbers: [Int64]) throws -> FlatPosts { try store.posts(numbers) }
  func isUnchanged(feed: String, posts: [Int64], since version: StoreVersion) -> Bool {
    store.isUnchanged(feed: feed, posts: posts, since: version)
  }
  func changedPosts(since version: StoreVersion) -> [Int64]? { store.changedPosts(since: version) }
  func changes(since version: StoreVersion) -> StoreDifference? { store.changes(since: version) }
  func refresh() throws -> Bool { try store.refresh() }
  func postNumbers(
    below number: Int64?, _ filter: ItemFilter, limit: Int, looks: Int
  ) throws -> PostNumbers {
    try store.postNumbers(below: number, filter, limit: limit, looks: looks)
  }
  func duePosts(limit: Int) throws -> DuePosts { try store.duePosts(limit: limit) }
  func items(_ numbers: [Int64]) throws -> [StoredItem] { try store.items(numbers) }
  func item(withID id: String) throws -> StoredItem? { try store.item(withID: id) }
  func beginImport() throws -> any FeedImport { try store.beginImport() }
  func write(
    _ write: ItemWrite,
    completion: @escaping @Sendable (Result<ItemOutcome, any Error>) -> Void
  ) { store.write(write, completion: completion) }
  func write(
    _ write: FeedWrite,
    completion: @escaping @Sendable (Result<FeedOutcome, any Error>) -> Void
  ) { store.write(write, completion: completion) }
  func exportRecords(_ body: (SeedRecord) throws -> Void) throws { try store.exportRecords(body) }
}
