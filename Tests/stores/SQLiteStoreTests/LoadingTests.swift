import Dispatch
import Catalog
import Feed
import TestSupport
import Testing

@testable import SQLiteStore

/// Pages while the order of the feeds is still being read.
@Suite struct LoadingTests {
  /// Keeps the rest of the orders from being loaded until the gate is opened.
  private static func hold(_ store: SQLiteStore) -> DispatchSemaphore {
    let gate = DispatchSemaphore(value: 0)
    #expect(store.follower.loading.run { gate.wait() })
    return gate
  }

  /// A file with a feed of this many entries, some of them in other rankings than the current one.
  private static func file(_ folder: TemporaryFolder, count: Int) throws -> String {
    let path = folder.file("feed.sqlite")
    let store = try SQLiteStore(path: path)
    try store.load((0..<count).map { .ranked("p\($0)", $0) }, batch: 1_000)
    // Moved entries are closed in one ranking and opened in the next; the last run is not finished.
    try store.load([.ranked("p3", 50), .ranked("p4", 0)])
    try store.beginImport().write([.ranked("p5", 90), .ranked("new", 2)])
    try store.close()
    return path
  }

  @Test func `the top of a feed is there before the rest is`() throws {
    let folder = TemporaryFolder()
    let path = try Self.file(folder, count: 300)
    let whole = try SQLiteStore(path: path)
    let store = try SQLiteStore(path: path, options: .init(firstEntries: 40))
    let gate = Self.hold(store)
    try store.beginLoading()

    #expect(try store.feeds().map(\.total) == whole.feeds().map(\.total))
    #expect(store.version > .start)
    for (offset, limit) in [(0, 30), (0, 40), (39, 1), (40, 0), (300, 30), (10_000, 1)] {
      let query = PageQuery(feed: "featured", offset: offset, limit: limit)
      #expect(store.isAtHand(query), "\(offset), \(limit)")
      let (page, expected) = (try store.page(query), try whole.page(query))
      #expect(page.posts == expected.posts, "\(offset), \(limit)")
      #expect(page.slice.next == expected.slice.next, "\(offset), \(limit)")
      #expect(page.slice.previous == expected.slice.previous, "\(offset), \(limit)")
      #expect(page.feed.total == expected.feed.total)
    }
    let next = try #require(store.page(PageQuery(feed: "featured")).slice.next)
    let beyond = [
      PageQuery(feed: "featured", offset: 20, limit: 30),
      PageQuery(feed: "featured", offset: 41, limit: 1),
      PageQuery(feed: "featured", limit: .max),
      PageQuery(feed: "featured", start: .after(next)),
    ]
    for query in beyond { #expect(!store.isAtHand(query)) }
    #expect(store.isAtHand(PageQuery(feed: "none")))
    // What lies beyond is read by an index.
    for query in beyond where query.limit != .max {
      let (page, expected) = (try store.page(query), try whole.page(query))
      #expect(page.posts == expected.posts)
      #expect(page.slice.next == expected.slice.next && page.slice.offset == expected.slice.offset)
    }
    #expect(try !store.follower.latest().isWhole)

    // What takes the order waits for it.
    let all = PageQuery(feed: "featured", limit: .max)
    #expect(try store.page(all).posts == whole.page(all).posts)
    #expect(try store.follower.latest().isWhole)
    for query in beyond { #expect(store.isAtHand(query)) }
    #expect(store.changedPosts(since: .start) == nil)
    gate.signal()
    try store.close()
  }

  @Test func `a write waits for the rest, and is seen`() throws {
    let folder = TemporaryFolder()
    let path = try Self.file(folder, count: 100)
    let store = try SQLiteStore(path: path, options: .init(firstEntries: 10))
    let gate = Self.hold(store)
    try store.beginLoading()
    try store.outcome(of: ItemWrite(id: "p0", change: .delete))
    #expect(try store.follower.latest().isWhole)
    #expect(try !store.walk("featured").contains("p0"))
    gate.signal()
    try store.close()
  }

  @Test func `the rest is read by itself`() throws {
    let folder = TemporaryFolder()
    let path = try Self.file(folder, count: 100)
    let store = try SQLiteStore(path: path, options: .init(firstEntries: 10))
    try store.beginLoading()
    store.follower.loading.wait()
    #expect(try store.follower.latest().isWhole)
    #expect(try store.feeds() == SQLiteStore(path: path).feeds())
  }

  @Test(arguments: [false, true])
  func `what was made of the tops holds if nothing was written meanwhile`(_ isWritten: Bool) throws
  {
    let folder = TemporaryFolder()
    let path = try Self.file(folder, count: 100)
    let store = try SQLiteStore(path: path, options: .init(firstEntries: 10))
    let gate = Self.hold(store)
    try store.beginLoading()
    let top = try store.cut(PageQuery(feed: "featured", limit: 10))
    if isWritten {
      try SQLiteStore(path: path).outcome(of: ItemWrite(id: "p0", change: .delete))
    }
    gate.signal()
    store.follower.loading.wait()
    #expect(store.version > top.version)
    #expect(
      store.isUnchanged(feed: "featured", posts: top.posts, since: top.version) == !isWritten)
    #expect(store.changedPosts(since: top.version) == (isWritten ? nil : []))
  }

  @Test func `what is at hand is cut without the file`() throws {
    let folder = TemporaryFolder()
    let store = try SQLiteStore(path: try Self.file(folder, count: 300))
    let first = try store.cut(PageQuery(feed: "featured"))
    try store.close()
    let next = try #require(first.slice.next)
    let queries = [
      PageQuery(feed: "featured"), PageQuery(feed: "featured", offset: 250),
      PageQuery(feed: "featured", start: .after(next)),
      PageQuery(feed: "featured", start: .before(next)),
      PageQuery(feed: "featured", start: .around(.offset(9), leading: 2, trailing: 2)),
      PageQuery(feed: "none"),
    ]
    for query in queries {
      #expect(store.isAtHand(query))
      do {
        _ = try store.cut(query)
      } catch FeedError.unknownFeed {
        #expect(query.feed == "none")
      }
    }
    #expect(throws: StoreError.self) { try store.posts(first.posts) }
    #expect(throws: StoreError.self) { try store.refresh() }
  }
}
