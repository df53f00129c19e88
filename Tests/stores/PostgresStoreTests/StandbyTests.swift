import Catalog
import Feed
import Foundation
import Postgres
import PostgresTestSupport
import RowStore
import TestSupport
import Testing

@testable import PostgresStore

/// What is read of a standby, which is held back here and there.
@Suite(.serialized, .enabled(if: PostgresCluster.isPresent, "skipped: there is no PostgreSQL"))
struct StandbyTests {
  private static let pair = Result { try PostgresPair() }

  /// A store that reads the standby, and one that does not, on a schema of their own.
  private struct Stores {
    let pair: PostgresPair
    let addresses: (primary: String, standby: String)
    let store: PostgresStore
    let other: PostgresStore

    /// - Parameter orderMemoryBytes: for the orders of feeds.
    init(orderMemoryBytes: Int = 1 << 30) throws {
      pair = try StandbyTests.pair.get()
      try pair.letStandbyFollow()
      addresses = pair.freshSchema()
      let address = try DatabaseAddress(addresses.primary)
      var options = StoreOptions()
      options.orderMemoryBytes = orderMemoryBytes
      store = try PostgresStore(
        address: address,
        connections: .init(readers: 2, standby: try DatabaseAddress(addresses.standby)),
        options: options)
      other = try PostgresStore(existing: address, connections: .init(readers: 2))
    }

    var standby: Standby { store.standby! }

    /// Both know what was written, and whether the standby can be read.
    func refresh() throws {
      _ = try (store.snapshot(), other.snapshot())
      try store.refresh()
      try other.refresh()
      standby.look()
    }

    /// What was counted while the body ran.
    func reads(_ body: () throws -> Void) rethrows -> [Standby.Outcome: Int] {
      let before = standby.status.reads
      try body()
      return standby.status.reads.merging(before, uniquingKeysWith: -).filter { $0.value > 0 }
    }

    func numbers(_ feed: String = "featured") throws -> [Int64] {
      try other.cut(PageQuery(feed: feed, limit: 100)).slice.entries.map(\.post)
    }

    /// Each post of the feed as both have it.
    func expectSame(_ feed: String, _ comment: Comment) throws {
      #expect(try store.walk(feed) == other.walk(feed), comment)
      let query = PageQuery(feed: feed, limit: 100)
      #expect(try store.page(query).posts == other.page(query).posts, comment)
    }
  }

  @Test func `a standby that is in step answers posts and items`() throws {
    let stores = try Stores()
    try stores.store.load((0..<20).map { .ranked("p\($0)", $0) })
    try stores.refresh()
    try stores.pair.letStandbyFollow()
    let numbers = try stores.numbers()
    let reads = try stores.reads { () throws in
      #expect(try stores.store.posts(numbers).count == 20)
      #expect(try stores.store.item(withID: "p7")?.placements.first?.rank == 7)
      #expect(try stores.store.posts([]).count == 0)
    }
    #expect(reads == [.answered: 2])
    // What there is not, the primary says.
    let missing = try stores.reads { () throws in
      #expect(try stores.store.posts([numbers[0], .max]).count == 1)
      #expect(try stores.store.item(withID: "nowhere") == nil)
    }
    #expect(missing == [.missing: 2])
    stores.standby.look()
    let status = stores.standby.status
    #expect(status.problem == nil && status.lagBytes == 0 && status.lagMilliseconds == 0)
  }

  @Test func `what a standby lacks comes from the primary, and what has not changed from it`()
    throws
  {
    let stores = try Stores()
    try stores.store.load((0..<20).map { .ranked("p\($0)", $0) })
    try stores.refresh()
    try stores.pair.letStandbyFollow()
    let before = try stores.numbers()
    stores.pair.holdStandby()
    try stores.store.increment("p3", by: 5)
    #expect(try stores.store.deletePost(withID: "p19"))
    try stores.store.put(
      Post(id: "new", type: .text, title: "New"), [Placement(feed: "featured", rank: 2)])
    try stores.refresh()
    let status = stores.standby.status
    #expect(status.problem == nil && status.lagBytes > 0)
    // Of a feed, all is there.
    try stores.expectSame("featured", "held back")
    #expect(try stores.store.walk("featured").count == 20)
    let changed = try stores.reads { () throws in
      #expect(try stores.store.posts([before[3]]).counters(at: 0) == 5)
      #expect(try stores.store.posts([before[19]]).count == 0)
      #expect(try stores.store.posts(stores.numbers()).count == 20)
      #expect(try stores.store.item(withID: "new")?.post.title == "New")
      #expect(try stores.store.item(withID: "p19") == nil)
    }
    #expect(changed == [.behind: 5])
    let unchanged = try stores.reads { () throws in
      #expect(try stores.store.posts([before[0], before[1], before[18]]).count == 3)
    }
    #expect(unchanged == [.answered: 1])
    // It is asked again once it has everything.
    try stores.pair.letStandbyFollow()
    let after = try stores.reads { () throws in
      #expect(try stores.store.posts([before[3]]).counters(at: 0) == 5)
      #expect(try stores.store.item(withID: "new") != nil)
    }
    #expect(after == [.answered: 2])
  }

  @Test func `an item that changed alone does not keep others from a standby that is behind`()
    throws
  {
    let stores = try Stores()
    try stores.store.load((0..<3).map { .ranked("p\($0)", $0) })
    try stores.refresh()
    try stores.pair.letStandbyFollow()
    stores.pair.holdStandby()
    try stores.store.increment("p0")
    let counters = try stores.reads { () throws in
      #expect(try stores.store.item(withID: "p1") != nil)
      #expect(try stores.store.post(withID: "p0")?.counters.first?.value == 1)
    }
    #expect(counters == [.answered: 1, .behind: 1])
    // A feed that changed may have taken it in.
    try stores.store.put(
      Post(id: "p1", type: .image, title: "Post p1"),
      [Placement(feed: "featured", rank: 1), Placement(feed: "second", rank: 1)])
    let feeds = try stores.reads { () throws in
      #expect(try stores.store.placements(ofItem: "p1").count == 2)
      #expect(try stores.store.placements(ofItem: "p2").count == 1)
    }
    #expect(feeds == [.behind: 2])
    try stores.pair.letStandbyFollow()
  }

  @Test func `a window of a feed that is not in memory is never an older one`() throws {
    let stores = try Stores(orderMemoryBytes: 1)
    for feed in ["one", "two"] {
      // Of times, so that what is new changes no ranking, by which an older window would be told.
      try stores.store.load((0..<50).map { .timed("\(feed)-\($0)", 100 - $0, feed: feed) })
    }
    try stores.refresh()
    try stores.pair.letStandbyFollow()
    /// Each time the other feed is asked for before, so that this one is not in memory.
    func page(_ feed: String, _ offset: Int) throws -> [String] {
      _ = try stores.store.walk(feed == "one" ? "two" : "one")
      var query = PageQuery(feed: feed, limit: 10)
      query.offset = offset
      return try stores.store.page(query).posts.map(\.id)
    }
    let reads = try stores.reads { () throws in
      #expect(try page("one", 45) == (45..<50).map { "one-\($0)" })
    }
    #expect(reads[.answered, default: 0] > 0 && reads[.behind] == nil)
    stores.pair.holdStandby()
    try stores.store.load([.timed("one-50", 50, feed: "one")])
    try stores.refresh()
    let behind = try stores.reads { () throws in
      #expect(try page("one", 45) == (45...50).map { "one-\($0)" })
      #expect(try page("one", 50) == ["one-50"])
    }
    #expect(behind[.behind, default: 0] > 0)
    let unchanged = try stores.reads { () throws in
      #expect(try page("two", 45) == (45..<50).map { "two-\($0)" })
    }
    #expect(unchanged[.answered, default: 0] > 0)
    try stores.expectSame("one", "held back")
    try stores.expectSame("two", "held back")
    try stores.pair.letStandbyFollow()
  }

  @Test(arguments: TestRandom.seeds)
  func `whatever is written and however far the standby is, both show the same`(
    _ seed: UInt64
  ) throws {
    var random = TestRandom(seed)
    let stores = try Stores(orderMemoryBytes: random.once(in: 2) ? 1 : 1 << 30)
    let feeds = ["a", "b", "c"]
    try stores.store.load(feeds.map { .ranked("first-\($0)", 0, feed: $0) })
    try stores.refresh()
    try stores.pair.letStandbyFollow()
    for step in 0..<60 {
      let id = "p\(random.number(0...30))"
      // Of one server or the other: what another wrote is seen with the next refresh.
      let writer = random.once(in: 3) ? stores.other : stores.store
      switch random.number(0...9) {
      case 0..<5:
        let placements = feeds.filter { _ in random.once(in: 2) }
          .map { Placement(feed: $0, rank: random.number(0...9)) }
        try writer.put(Post(id: id, type: .text, title: "\(step)"), placements)
        // Whoever wrote it, whatever the other server has seen of it by now.
        for store in [stores.store, stores.other] {
          #expect(try store.item(withID: id) != nil, "step \(step)")
        }
      case 5: _ = try writer.deletePost(withID: id)
      case 6: if try writer.item(withID: id) != nil { try writer.increment(id) }
      case 7: stores.pair.holdStandby()
      case 8: try stores.pair.letStandbyFollow()
      default: try stores.pair.standby.ask("SELECT pg_wal_replay_resume()")
      }
      try stores.refresh()
      for feed in feeds { try stores.expectSame(feed, "step \(step), seed \(random.seed)") }
      for number in 0...30 where random.once(in: 5) {
        let items = try (
          stores.store.item(withID: "p\(number)"), stores.other.item(withID: "p\(number)")
        )
        #expect(items.0?.post == items.1?.post, "step \(step), seed \(random.seed)")
        #expect(items.0?.placements == items.1?.placements, "step \(step), seed \(random.seed)")
      }
    }
    let reads = stores.standby.status.reads
    #expect(reads[.answered, default: 0] > 0 && reads[.behind, default: 0] > 0, "\(reads)")
    #expect(reads[.failed] == nil, "\(stores.standby.status)")
    try stores.pair.letStandbyFollow()
  }

  @Test func `a copy of another database is not read`() throws {
    let stores = try Stores()
    try stores.store.load([.ranked("a", 1)])
    try stores.refresh()
    try stores.pair.letStandbyFollow()
    let strange = try #require(PostgresCluster.shared)
    // Another cluster; the same one with another schema, or another database made from this one.
    let schema = stores.pair.freshSchema()
    try PostgresStore(address: try DatabaseAddress(schema.primary)).close()
    try stores.pair.primary.ask("CREATE DATABASE twin")
    try stores.pair.letStandbyFollow()
    let addresses = [
      strange.address, schema.standby,
      stores.addresses.standby.replacingOccurrences(of: ":///postgres", with: ":///twin"),
    ]
    for address in addresses {
      let store = try PostgresStore(
        existing: try DatabaseAddress(stores.addresses.primary),
        connections: .init(readers: 2, standby: try DatabaseAddress(address)))
      _ = try store.snapshot()
      try store.refresh()
      store.standby!.look()
      let problem = try #require(store.standby!.status.problem)
      #expect(problem.contains("not a copy of the primary's database"), "\(problem)")
      #expect(try store.item(withID: "a") != nil)
      #expect(store.standby!.status.reads == [.failed: 1])
      try store.close()
    }
  }

  @Test func `a standby that is away costs no read anything, and is read when it is back`() throws {
    let pair = try PostgresPair()
    let addresses = pair.freshSchema()
    let store = try PostgresStore(
      address: try DatabaseAddress(addresses.primary),
      connections: .init(
        readers: 2, standby: try DatabaseAddress(addresses.standby + "&password=s3cret")))
    try store.load((0..<5).map { .ranked("p\($0)", $0) })
    _ = try store.snapshot()
    try store.refresh()
    try pair.letStandbyFollow()
    let standby = store.standby!
    standby.look()
    #expect(try store.walk("featured").count == 5)
    #expect(standby.status.reads[.answered, default: 0] > 0)
    try pair.standby.kill()
    let answered = standby.status.reads[.answered, default: 0]
    for number in 0..<5 { #expect(try store.item(withID: "p\(number)") != nil) }
    standby.look()
    let problem = try #require(standby.status.problem)
    #expect(!problem.contains("s3cret") && !standby.name.contains("s3cret"))
    #expect(try store.walk("featured").count == 5)
    #expect(standby.status.reads[.answered] == answered)
    try store.increment("p1")
    try pair.standby.start()
    try pair.letStandbyFollow()
    eventually {
      standby.look()
      return standby.status.problem == nil
    }
    #expect(try store.post(withID: "p1")?.counters.first?.value == 1)
    #expect(standby.status.reads[.answered] == answered + 1)
    try store.close()
  }
}

extension FlatPosts {
  /// The value of the first counter of a post.
  fileprivate func counters(at index: Int) -> Int? {
    post(at: index).counters.first.map { Int($0.value) }
  }
}
