import Catalog
import Dispatch
import Feed
import Synchronization
import TestSupport
import Testing

@testable import SQLiteStore

/// The orders of feeds within a limit: those that nobody asks for go, and come back when somebody does.
@Suite struct OrderMemoryTests {
  private let folder = TemporaryFolder()

  /// A file with this many feeds of this many entries.
  private func file(feeds: Int, entries: Int) throws -> String {
    let path = folder.file("feed.sqlite")
    let store = try SQLiteStore(path: path)
    try store.load(
      (0..<feeds).flatMap { feed in
        (0..<entries).map {
          .post(
            Post(
              id: "p\(feed)-\($0)", type: .image,
              publishedAt: Timestamp(microseconds: Int64(feed * 1_000 + $0) * 1_000_000)),
            placements: [Placement(feed: "f\(feed)", rank: $0)])
        }
      }, batch: 5_000)
    try store.close()
    return path
  }

  private func open(_ path: String, _ orderMemoryBytes: Int) throws -> SQLiteStore {
    try SQLiteStore(path: path, options: .init(orderMemoryBytes: orderMemoryBytes))
  }

  private func held(_ store: SQLiteStore) throws -> Set<String> {
    let snapshot = try store.snapshot()
    return Set(
      try store.feeds().map(\.name).filter {
        let end = Cursor(feed: $0, view: .ranking(1), anchor: .end, seen: .start)
        return snapshot.isAtHand(PageQuery(feed: $0, start: .before(end)))
      })
  }

  @Test(arguments: [1, 50_000, 120_000, 1 << 30])
  func `every page is the same with any limit, and lists of feeds are`(_ limit: Int) throws {
    let path = try file(feeds: 40, entries: 100)
    let (store, whole) = (try open(path, limit), try open(path, 1 << 30))
    #expect(try store.feeds() == whole.feeds())
    for feed in (0..<40).map({ "f\($0)" }) + ["none"] {
      var start = PageQuery.Start.top
      for _ in 0..<5 {
        let query = PageQuery(feed: feed, start: start, limit: 30)
        guard let expected = try? whole.shown(query) else {
          #expect(throws: FeedError.unknownFeed("none")) { try store.shown(query) }
          break
        }
        let page = try store.shown(query)
        #expect(page == expected)
        guard let next = page.next else { break }
        start = .after(next)
      }
      let deep = PageQuery(feed: feed, offset: 95, limit: 30)
      #expect((try? store.shown(deep)) == (try? whole.shown(deep)))
    }
    for feed in 0..<40 { try store.read("f\(feed)") }
    #expect(try held(whole).count == 40)
    let count = try held(store).count
    #expect(limit == 1 << 30 ? count == 40 : limit == 1 ? count == 1 : (2..<40).contains(count))
  }

  @Test func `what is asked for stays, and what nobody asks for goes`() throws {
    let store = try open(try file(feeds: 50, entries: 100), 100_000)
    let room = try held(store).count
    try #require((5..<50).contains(room))
    for other in 0..<50 {
      try store.read("f7")
      try store.read("f\(other)")
    }
    #expect(store.isAtHand(PageQuery(feed: "f7", offset: 50)))
    #expect(store.isAtHand(PageQuery(feed: "f49", offset: 50)))
    #expect(!store.isAtHand(PageQuery(feed: "f0", offset: 50)))
    #expect(try store.snapshot().orderMemory.feeds == held(store).count)
    #expect(try store.snapshot().orderMemory.bytes <= 100_000)
    // What keeps a page knows that nothing of it changed.
    let version = store.version
    try store.read("f0")
    #expect(store.version == version)
  }

  @Test func `of feeds whose orders went lists say what is so`() throws {
    let path = try file(feeds: 12, entries: 20)
    let (store, whole) = (try open(path, 1), try open(path, 1 << 30))
    _ = try store.feeds()
    let version = store.version
    let writer = try SQLiteStore(path: path)
    // A newer entry, an older one, one that goes, one that moves, a title.
    func post(_ id: String, _ seconds: Int64, _ feed: String, rank: Int) throws {
      let post = Post(
        id: id, type: .image, publishedAt: Timestamp(microseconds: seconds * 1_000_000))
      try writer.outcome(
        of: ItemWrite(id: id, change: .put(post, placements: [Placement(feed: feed, rank: rank)])))
    }
    try post("new", 1_000_000, "f1", rank: 3)
    try post("old", 1, "f2", rank: 3)
    try writer.outcome(of: ItemWrite(id: "p3-19", change: .delete))
    try post("p4-3", 4_003, "f4", rank: 90)
    try writer.outcome(of: FeedWrite(name: "f5", change: .put(title: "Five")))
    for reader in [store, whole] { try reader.refresh() }
    for feed in (0..<12).map({ "f\($0)" }) {
      #expect(try store.feed(named: feed) == whole.feed(named: feed))
      let isChanged = ["f1", "f2", "f3", "f4", "f5"].contains(feed)
      #expect(store.isUnchanged(feed: feed, posts: [], since: version) == !isChanged, "\(feed)")
    }
    #expect(try store.feeds() == whole.feeds())
    for feed in (0..<12).map({ "f\($0)" }) {
      let query = PageQuery(feed: feed, limit: 100)
      #expect(try store.shown(query) == whole.shown(query))
    }
  }

  @Test func `readers of many feeds beside writes see each feed as it is`() async throws {
    let path = try file(feeds: 20, entries: 60)
    let store = try open(path, 20_000)
    let isDone = Flag()
    await withTaskGroup(of: Void.self) { group in
      group.addTask {
        for number in 0..<120 {
          #expect(throws: Never.self) {
            try store.outcome(
              of: ItemWrite(
                id: "n\(number)",
                change: .put(
                  Post(id: "n\(number)", type: .image),
                  placements: [Placement(feed: "f\(number % 20)", rank: number % 60)])))
          }
        }
        isDone.value.store(true, ordering: .releasing)
      }
      for reader in 0..<4 {
        group.addTask {
          var random = TestRandom(UInt64(reader))
          repeat {
            let feed = "f\(random.number(0...19))"
            #expect(throws: Never.self) {
              let before = try #require(try store.feed(named: feed)).total
              let page = try store.shown(PageQuery(feed: feed, limit: 100))
              #expect(page.posts.count == page.total && page.total >= before)
            }
          } while !isDone.value.load(ordering: .acquiring)
        }
      }
    }
    let whole = try open(path, 1 << 30)
    for feed in (0..<20).map({ "f\($0)" }) {
      let query = PageQuery(feed: feed, limit: 100)
      #expect(try store.shown(query) == whole.shown(query))
      #expect(try store.shown(query).posts.count == 66)
    }
  }

  @Test(arguments: TestRandom.seeds)
  func `while an order is read, pages are cut from windows, whatever rankings there are`(
    _ seed: UInt64
  ) throws {
    var random = TestRandom(seed)
    let path = try file(feeds: 2, entries: 80)
    let writer = try SQLiteStore(path: path, options: .init(keptRankings: 4))
    let (store, whole) = (try open(path, 1), try open(path, 1 << 30))
    // Nothing is read behind a window: each page is of one.
    let gate = DispatchSemaphore(value: 0)
    #expect(store.follower.loading.run { gate.wait() })
    #expect(store.follower.loading.run {})
    for _ in 0..<30 {
      let id = "p0-\(random.number(0...90))"
      let isThere = try writer.item(withID: id) != nil
      let rank = random.chance(80) ? random.number(0...81) : nil
      try writer.outcome(
        of: ItemWrite(
          id: id,
          change: isThere && random.chance(15)
            ? .delete
            : .put(
              Post(id: id, type: .image), placements: [Placement(feed: "f0", rank: rank)])))
      for reader in [store, whole] { try reader.refresh() }
      var query = PageQuery(
        feed: "f0", offset: random.number(0...90), limit: random.number(0...40))
      for step in 0..<8 {
        // The few places for which the order is read are let go of.
        try store.read("f1")
        #expect(!store.isAtHand(query), "\(TestRandom.replay), step \(step)")
        let (page, expected) = (try store.shown(query), try whole.shown(query))
        #expect(page == expected, "\(TestRandom.replay), step \(step)")
        let places: [PageQuery.Start?] = [
          page.next.map { .after($0) }, page.previous.map { .before($0) }, .before(page.newer),
        ]
        guard let place = random.one(of: places) else { break }
        query = PageQuery(
          feed: "f0", start: place, offset: random.number(0...3), limit: random.number(1...40))
      }
    }
    gate.signal()
    for reader in [store, whole, writer] { try reader.close() }
  }

  @Test func `a page from a window deep in a large feed reads its rows alone`() throws {
    let path = try file(feeds: 1, entries: 5_000)
    let store = try open(path, 1)
    let state = try store.pool.read {
      try #require(try SQLiteCatalogReader(database: $0).feeds().first)
    }
    for row in [0, 1, 2_499, 4_970, 4_999] {
      try store.pool.read { database in
        let reader = SQLiteCatalogReader(database: database)
        let order = try reader.order(ofFeed: state.id, ranking: state.ranking)
        let position = order.position(at: row)
        for place: OrderWindow.Place in [.offset(row), .below(position), .above(position)] {
          let window = try reader.window(of: state, at: place, rows: 30)
          #expect(window == OrderWindow(place, rows: 30, of: order), "\(place)")
          #expect(window.entries.count <= 31)
        }
      }
    }
  }

  @Test func `a page of an order that went is cut from the moment that its request took`() throws {
    let path = try file(feeds: 3, entries: 40)
    let store = try open(path, 1)
    try store.read("f0")
    let snapshot = try store.snapshot()
    try store.read("f1")
    try store.outcome(of: ItemWrite(id: "p0-35", change: .delete))
    // It has the order as it then was, and that of another feed is read for it as it is now.
    #expect(try snapshot.cut(PageQuery(feed: "f0", offset: 30)).slice.count == 10)
    let around = PageQuery.Start.around(.offset(30), leading: 2, trailing: 2)
    #expect(try snapshot.cut(PageQuery(feed: "f2", start: around)).version > snapshot.version)
    #expect(try store.cut(PageQuery(feed: "f0", offset: 30)).slice.count == 9)
  }
}

private final class Flag: Sendable {
  let value = Atomic<Bool>(false)
}

/// All of a page that clients see.
private struct ShownPage: Equatable {
  let feed: String
  let title: String?
  let total: Int
  let ranking: Int
  let posts: [Post]
  let offset: Int
  let next: Cursor?
  let previous: Cursor?
  let newer: Cursor
}

extension SQLiteStore {
  /// Asks for a page that takes the feed's order.
  fileprivate func read(_ feed: String) throws {
    let around = PageQuery.Start.around(.offset(20), leading: 2, trailing: 2)
    _ = try page(PageQuery(feed: feed, start: around))
  }

  fileprivate func shown(_ query: PageQuery) throws -> ShownPage {
    let page = try page(query)
    let slice = page.slice
    return ShownPage(
      feed: page.feed.name, title: page.feed.title, total: page.feed.total,
      ranking: page.feed.ranking, posts: page.posts, offset: slice.offset, next: slice.next,
      previous: slice.previous, newer: slice.newer)
  }
}
