import Catalog
import Feed
import RowStore
import Synchronization
import TestSupport
import Testing

/// Posts that come into their feeds, and leave them, at moments of their own, in whatever store.
@Suite struct ScheduleTests {
  /// A clock that is moved by hand, in seconds since 1970.
  private final class TestClock: Sendable {
    private let seconds = Atomic<Int64>(1_000)

    var now: Timestamp {
      Timestamp(microseconds: seconds.load(ordering: .relaxed) * 1_000_000)
    }
    func set(_ time: Int64) { seconds.store(time, ordering: .relaxed) }
  }

  private struct Scheduled {
    let clock = TestClock()
    let test: TestStore
    var store: any FeedStore { test.store }

    init(_ kind: StoreKind) throws {
      var options = StoreOptions()
      options.now = { [clock] in clock.now }
      test = try TestStore(kind, options)
      try test.store.load([.ranked("above", 1, feed: "f"), .ranked("below", 9, feed: "f")])
    }

    /// Moves the clock, and does what a server does then.
    func follow(at time: Int64) throws {
      clock.set(time)
      for id in try store.duePosts(limit: 100).ids {
        try store.outcome(of: ItemWrite(id: id, change: .followSchedule))
      }
    }

    var next: Int64? { get throws { try store.duePosts(limit: 1).next?.microseconds } }
  }

  private static func time(_ seconds: Int64) -> Timestamp {
    Timestamp(microseconds: seconds * 1_000_000)
  }

  private static func post(_ from: Int64?, _ until: Int64? = nil, id: String = "p") -> Post {
    Post(
      id: id, type: .text, visibleFrom: from.map(time), visibleUntil: until.map(time))
  }

  private static func put(
    _ post: Post, _ placements: [Placement]? = [Placement(feed: "f", rank: 5)]
  ) -> ItemWrite {
    ItemWrite(id: post.id, change: .put(post, placements: placements))
  }

  @Test(arguments: StoreKind.allCases)
  func `a post comes at its moment, and goes at another`(_ kind: StoreKind) throws {
    let scheduled = try Scheduled(kind)
    let store = scheduled.store
    let places = [Placement(feed: "f", rank: 5), Placement(feed: "g")]
    try store.outcome(of: Self.put(Self.post(2_000, 3_000), places))
    #expect(try store.walk("f") == ["above", "below"])
    #expect(try store.walk("g").isEmpty)
    #expect(try store.placements(ofItem: "p") == places)
    #expect(try scheduled.next == 2_000_000_000)
    try scheduled.follow(at: 1_999)
    #expect(try store.walk("f") == ["above", "below"])
    let version = store.version
    try scheduled.follow(at: 2_000)
    #expect(store.version > version)
    #expect(!store.isUnchanged(feed: "f", posts: [], since: version))
    #expect(try store.walk("f") == ["above", "p", "below"])
    #expect(try store.walk("g") == ["p"])
    #expect(try store.feed(named: "f")?.total == 3)
    #expect(try store.placements(ofItem: "p") == places)
    #expect(try scheduled.next == 3_000_000_000)
    try scheduled.follow(at: 3_500)
    #expect(try store.walk("f") == ["above", "below"])
    #expect(try store.walk("g").isEmpty)
    #expect(try store.placements(ofItem: "p") == places)
    #expect(try scheduled.next == nil)
    // Nothing is left to do, for another server that comes later.
    let after = store.version
    try store.outcome(of: ItemWrite(id: "p", change: .followSchedule))
    #expect(store.isUnchanged(feed: "f", posts: [], since: after))
  }

  @Test(arguments: StoreKind.allCases)
  func `the next moment is known with the write`(_ kind: StoreKind) throws {
    let scheduled = try Scheduled(kind)
    let store = scheduled.store
    #expect(try store.walk("f") == ["above", "below"])
    #expect(store.dueMoments.next == nil && store.dueMoments.previous == nil)
    try store.outcome(of: Self.put(Self.post(2_000, 3_000)))
    #expect(store.dueMoments.next == Self.time(2_000))
    try store.load([.post(Self.post(1_500, id: "q"), placements: [Placement(feed: "f")])])
    #expect(store.dueMoments.next == Self.time(1_500))
    #expect(store.dueMoments.previous == nil)
    try scheduled.follow(at: 2_500)
    #expect(store.dueMoments.next == Self.time(3_000))
    #expect(store.dueMoments.previous == Self.time(2_000))
    #expect(try store.deletePost(withID: "p"))
    #expect(store.dueMoments.next == nil)
  }

  @Test(arguments: StoreKind.allCases)
  func `schedules that are moved, taken away, over`(_ kind: StoreKind) throws {
    let scheduled = try Scheduled(kind)
    let store = scheduled.store
    try store.outcome(of: Self.put(Self.post(2_000)))
    // Later; without a word on feeds, they stay.
    try store.outcome(of: Self.put(Self.post(4_000), nil))
    try scheduled.follow(at: 2_500)
    #expect(try store.walk("f") == ["above", "below"])
    #expect(try store.placements(ofItem: "p") == [Placement(feed: "f", rank: 5)])
    // At once.
    try store.outcome(of: Self.put(Self.post(nil), nil))
    #expect(try store.walk("f") == ["above", "p", "below"])
    #expect(try scheduled.next == nil)
    // Hidden again, then in another feed.
    try store.outcome(of: Self.put(Self.post(5_000), nil))
    #expect(try store.walk("f") == ["above", "below"])
    try store.outcome(of: Self.put(Self.post(5_000), [Placement(feed: "g", rank: 1)]))
    try scheduled.follow(at: 5_000)
    #expect(try store.walk("f") == ["above", "below"])
    #expect(try store.walk("g") == ["p"])
    // Over before it is written.
    try store.outcome(of: Self.put(Self.post(10, 20, id: "old")))
    #expect(try store.walk("f") == ["above", "below"])
    #expect(try store.placements(ofItem: "old") == [Placement(feed: "f", rank: 5)])
    // What everybody sees, until later.
    try store.outcome(of: Self.put(Self.post(10, 6_000, id: "now")))
    #expect(try store.walk("f") == ["above", "now", "below"])
    #expect(try scheduled.next == 6_000_000_000)
    // A post, and a feed, that are deleted before the moment.
    try store.outcome(of: Self.put(Self.post(7_000, id: "gone")))
    #expect(try store.deletePost(withID: "gone"))
    try store.outcome(of: Self.put(Self.post(7_000, id: "homeless"), [Placement(feed: "h")]))
    try store.outcome(of: FeedWrite(name: "h", change: .delete))
    try scheduled.follow(at: 8_000)
    #expect(try store.walk("f") == ["above", "below"])
    #expect(try store.placements(ofItem: "homeless").isEmpty)
    #expect(try scheduled.next == nil)
    #expect(throws: FeedError.unknownItem("gone")) {
      try store.outcome(of: ItemWrite(id: "gone", change: .followSchedule))
    }
  }

  @Test(arguments: StoreKind.allCases)
  func `hidden posts are listed, of all and of a feed`(_ kind: StoreKind) throws {
    let scheduled = try Scheduled(kind)
    let store = scheduled.store
    // What is where, and when it is shown.
    let posts: [(id: String, from: Int64?, until: Int64?, feeds: [String], title: String?)] = [
      ("soon", 2_000, nil, ["f"], "fog"), ("late", 5_000, 6_000, ["f", "g"], "fog and rain"),
      ("old", 10, 20, ["g"], "fog"), ("nowhere", 2_000, nil, [], nil),
      ("ended", nil, 20, [], nil), ("shown", 10, 9_000, ["f"], "fog"),
      ("plain", nil, nil, ["f"], "fog"),
    ]
    for (id, from, until, feeds, title) in posts {
      var post = Self.post(from, until, id: id)
      post.title = title
      try store.outcome(of: Self.put(post, feeds.map { Placement(feed: $0, rank: 5) }))
    }
    func list(
      _ visibility: Visibility, feed: String? = nil, _ text: String? = nil, looks: Int = 100
    ) throws -> [String] {
      var filter = ItemFilter()
      (filter.visibility, filter.feed) = (visibility, feed)
      filter.text = try text.map { try TextQuery($0) }
      var ids: [String] = []
      var end: Int64?
      repeat {
        let part = try store.postNumbers(below: end, filter, limit: 1, looks: looks)
        ids += try store.items(part.numbers).map(\.post.id)
        end = part.end
      } while end != nil
      return ids
    }
    for looks in [1, 2, 100] {
      #expect(try list(.scheduled, looks: looks) == ["nowhere", "late", "soon"])
      #expect(try list(.scheduled, feed: "f", looks: looks) == ["late", "soon"])
      #expect(try list(.scheduled, feed: "g", looks: looks) == ["late"])
      #expect(try list(.ended, looks: looks) == ["old"])
      #expect(try list(.ended, feed: "g", looks: looks) == ["old"])
      #expect(try list(.ended, feed: "f", looks: looks).isEmpty)
      #expect(try list(.scheduled, "fog", looks: looks) == ["late", "soon"])
      #expect(try list(.scheduled, feed: "g", "rai", looks: looks) == ["late"])
      #expect(try list(.ended, "fog", looks: looks) == ["old"])
      #expect(try list(.scheduled, feed: "nope", looks: looks).isEmpty)
    }
    try scheduled.follow(at: 7_000)
    #expect(try list(.scheduled).isEmpty)
    #expect(try list(.ended) == ["old", "late"])
    #expect(try list(.ended, feed: "f") == ["late"])
  }

  @Test(arguments: StoreKind.allCases)
  func `a run keeps schedules, and an export has them`(_ kind: StoreKind) throws {
    let scheduled = try Scheduled(kind)
    let store = scheduled.store
    let many = (0..<100).map { index in
      SeedRecord.post(
        Self.post(2_000 + Int64(index / 50), id: "m\(index)"),
        placements: [Placement(feed: "f", rank: 2)])
    }
    #expect(try store.load(many, batch: 30).added == 100)
    #expect(try store.load(many, batch: 30).unchanged == 100)
    #expect(try store.walk("f") == ["above", "below"])
    var records: [SeedRecord] = []
    try store.exportRecords { records.append($0) }
    #expect(Set(records).isSuperset(of: many))
    // A run that adds a feed, and moves what is there.
    #expect(
      try store.load([
        .post(Self.post(2_000, id: "m0"), placements: [Placement(feed: "g", rank: 1)]),
        .ranked("below", 0, feed: "f"),
      ]).changed == 2)
    try scheduled.follow(at: 2_000)
    #expect(try store.walk("f").count == 52)
    #expect(try store.walk("g") == ["m0"])
    try scheduled.follow(at: 2_001)
    #expect(try store.walk("f").count == 102)
    #expect(try store.walk("f").prefix(2) == ["below", "above"])
    #expect(try scheduled.next == nil)
  }

  @Test(arguments: StoreKind.allCases)
  func `moments are changes, and so are places that are kept for later`(_ kind: StoreKind) throws {
    let scheduled = try Scheduled(kind)
    let store = scheduled.test.store
    try store.outcome(of: Self.put(Self.post(2_000, 3_000)))
    var cursor = try ChangeTests.now(store)
    func told() throws -> Set<String> {
      Set(try ChangeTests.read(store, &cursor).filter { $0.hasPrefix("item") })
    }
    let isThere: Set = ["item p present"]
    try store.outcome(of: Self.put(Self.post(2_000, 3_000), [Placement(feed: "f", rank: 7)]))
    #expect(try told() == isThere)
    for moment in [2_000, 3_000] as [Int64] {
      try scheduled.follow(at: moment)
      #expect(try told() == isThere)
      try store.outcome(of: ItemWrite(id: "p", change: .followSchedule))
      #expect(try told() == [])
    }
    // In no page of the renamed feed, from which readers of changes take the others.
    try store.outcome(of: FeedWrite(name: "f", change: .rename(to: "g", title: nil)))
    #expect(try told().isSuperset(of: isThere))
    try scheduled.test.expectSound()
  }

  @Test(arguments: StoreKind.databases)
  func `a prune leaves what has yet to come`(_ kind: StoreKind) throws {
    let scheduled = try Scheduled(kind)
    let store = scheduled.store
    for (id, from, until) in [("later", 2_000, nil), ("old", 10, 20), ("now", 10, 3_000)]
      as [(String, Int64?, Int64?)]
    {
      var post = Self.post(from, until, id: id)
      post.publishedAt = Self.time(1)
      try store.outcome(of: Self.put(post))
    }
    var rule = PruningRule()
    rule.publishedBefore = Self.time(500)
    let database = try #require(store as? any DatabaseStore)
    #expect(try database.prune(rule, isDryRun: true) { _ in }.posts == 2)
    #expect(try database.prune(rule, isDryRun: false) { _ in }.posts == 2)
    try scheduled.follow(at: 2_000)
    #expect(try store.walk("f") == ["above", "later", "below"])
    // Now it is as old as others.
    #expect(try database.prune(rule, isDryRun: false) { _ in }.posts == 1)
    #expect(try scheduled.next == nil)
  }
}
