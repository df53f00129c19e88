import Catalog
import Feed
import Foundation
import Synchronization
import TestSupport
import Testing

/// What changed, read from a place on, in every store.
@Suite struct ChangeTests {
  /// What is in no test: when it is told, so is all that was committed before. In PostgreSQL that waits for older
  /// transactions, of other tests, too.
  private static let marker = "marker"

  /// All that is behind a cursor, `kind name state`, and the cursor behind it.
  static func read(
    _ store: any FeedStore & ChangeStore, _ cursor: inout ChangeCursor, limit: Int = 1_000
  ) throws -> [String] {
    let marker = "\(Self.marker)-\(UInt64.random(in: 0...(.max)))"
    try store.outcome(of: FeedWrite(name: marker, change: .put(title: nil)))
    let start = cursor
    func pages(_ limit: Int) throws -> [StoreChange] {
      cursor = start
      var found: [StoreChange] = []
      while true {
        let page = try store.changes(
          after: cursor, through: nil, limit: limit, withItems: false)
        found += page.changes
        cursor = page.next
        if !page.hasMore { return found }
      }
    }
    #expect(try eventually { try pages(1_000).contains { $0.name == marker } })
    return try pages(limit).filter { !$0.name.hasPrefix(Self.marker) }
      .map { "\($0.kind.rawValue) \($0.name) \($0.state.rawValue)" }
  }

  static func now(_ store: any FeedStore & ChangeStore) throws -> ChangeCursor {
    var now = try store.changes(after: nil, through: nil, limit: 1, withItems: false).next
    _ = try read(store, &now)
    return now
  }

  @Test(arguments: StoreKind.allCases)
  func `whatever is written is told, by name`(_ kind: StoreKind) throws {
    let test = try TestStore(kind)
    let store = test.store
    try store.load([.ranked("a", 1), .ranked("b", 2)])
    var cursor = try Self.now(store)
    #expect(try Self.read(store, &cursor) == [])
    // New ones, in a new feed and in none.
    try store.load([.timed("c", 3, feed: "n")])
    #expect(Set(try Self.read(store, &cursor)) == ["feed n present", "item c present"])
    let alone = Post(id: "alone", type: .image)
    try store.outcome(
      of: ItemWrite(id: "alone", change: .put(alone, placements: [], keepsCounters: false)))
    #expect(try Self.read(store, &cursor) == ["item alone present"])
    // Content, a counter, a place.
    try store.outcome(
      of: ItemWrite(id: "a", change: .increment([Counter("likes", 1)], key: nil)))
    #expect(try Self.read(store, &cursor) == ["item a present"])
    try store.load([.ranked("b", 1), .ranked("a", 2)])
    #expect(
      Set(try Self.read(store, &cursor)).isSuperset(of: ["item b present", "item a present"]))
    try store.outcome(of: FeedWrite(name: "n", change: .put(title: "New")))
    #expect(try Self.read(store, &cursor) == ["feed n present"])
    // Other names, which come to mean other feeds.
    try store.outcome(of: FeedWrite(name: "n", change: .rename(to: "m", title: nil)))
    let before = cursor
    func feeds() throws -> Set<String> {
      Set(try Self.read(store, &cursor).filter { $0.hasPrefix("feed") })
    }
    #expect(try feeds() == ["feed n gone", "feed m replaced"])
    try store.outcome(of: FeedWrite(name: "n", change: .put(title: nil)))
    cursor = before
    #expect(try feeds() == ["feed n replaced", "feed m replaced"])
    try store.outcome(of: FeedWrite(name: "m", change: .delete))
    #expect(try feeds() == ["feed m gone"])
    // Gone, and made again.
    _ = try store.deletePost(withID: "a")
    let gone = cursor
    #expect(
      try Self.read(store, &cursor).filter { $0.hasPrefix("item") } == ["item a gone"])
    try store.load([.ranked("a", 9)])
    cursor = gone
    #expect(
      try Self.read(store, &cursor).filter { $0.hasPrefix("item") } == ["item a present"])
    // In a feed that goes before anybody has read of it.
    try store.load([.timed("left", 3, feed: "short")])
    try store.outcome(of: FeedWrite(name: "short", change: .delete))
    #expect(
      try Self.read(store, &cursor).filter { $0.hasPrefix("item") } == ["item left present"])
    // What changed nothing.
    try store.load([.ranked("a", 9)])
    #expect(try Self.read(store, &cursor) == [])
    // Settings are no content.
    #expect(try store.holdLease("l", holder: "h", milliseconds: 1, now: 1))
    #expect(try Self.read(store, &cursor) == [])
  }

  @Test(arguments: StoreKind.allCases)
  func `changes come in their order, some at a time, and again from any cursor`(
    _ kind: StoreKind
  ) throws {
    let test = try TestStore(kind)
    let store = test.store
    let start = try Self.now(store)
    for number in 1...9 {
      try store.load([.ranked("p\(number)", number)])
      // Behind what was new before it.
      if number > 1 {
        try store.outcome(
          of: ItemWrite(id: "p1", change: .increment([Counter("n", 1)], key: nil)))
      }
    }
    var whole = start
    let items = try Self.read(store, &whole).filter { $0.hasPrefix("item") }
    let others: [String] = (2...9).map { "p\($0)" }
    #expect(items == (others + ["p1"]).map { "item \($0) present" })
    for limit in [1, 2, 3, 1_000] {
      var cursor = start
      let told = try Self.read(store, &cursor, limit: limit).filter { $0.hasPrefix("item") }
      // A smaller page tells more of what changed several times.
      #expect(told.last == "item p1 present" && Set(told) == Set(items), "\(limit)")
      if limit == 1 {
        let names = told.map { String($0.split(separator: " ")[1]) }
        #expect(names == ["p1"] + others.flatMap { [$0, "p1"] })
      }
    }
    // Within a bound, and with what there is.
    let page = try store.changes(after: start, through: nil, limit: 3, withItems: true)
    #expect(page.hasMore && page.changes.contains { $0.item != nil })
    try store.load([.ranked("late", 1)])
    let bounded = try store.changes(after: start, through: page.next, limit: 99, withItems: false)
    #expect(bounded.next == page.next && !bounded.hasMore)
    #expect(bounded.changes.map(\.name) == page.changes.map(\.name))
  }

  @Test(arguments: StoreKind.allCases)
  func `a cursor is of one database, and of what is kept`(_ kind: StoreKind) throws {
    let test = try TestStore(kind)
    let store = test.store
    try store.load([.ranked("a", 1)])
    let old = try Self.now(store)
    func read(_ cursor: ChangeCursor) throws {
      _ = try store.changes(after: cursor, through: nil, limit: 1, withItems: false)
    }
    #expect(throws: ChangeCursorError.foreign) {
      try read(
        ChangeCursor(source: old.source &+ 1, first: old.first, second: old.second))
    }
    // Of a database that has gone back.
    #expect(throws: ChangeCursorError.expired) {
      try read(
        ChangeCursor(source: old.source, first: old.first + 1_000_000, second: old.second))
    }
    try store.keepChanges(1_000)
    try store.load((0..<600).map { .timed("p\($0)", $0) })
    for likes in 1...2 {
      try store.load(
        (0..<600).map { number in
          .post(
            Post(
              id: "p\(number)", type: .image, title: "Post \(number)",
              publishedAt: Timestamp(microseconds: Int64(number) * 1_000_000),
              counters: [Counter("likes", likes)]), placements: [Placement(feed: "newest")])
        })
    }
    #expect(throws: ChangeCursorError.expired) { try read(old) }
    var now = try Self.now(store)
    #expect(try Self.read(store, &now) == [])
    #expect(try ChangeCursor(text: now.text) == now)
    #expect(throws: CursorTextError.damaged) { try ChangeCursor(text: now.text + "A") }
  }

  @Test(arguments: StoreKind.allCases)
  func `a webhook's state is saved by one at a time`(_ kind: StoreKind) throws {
    let test = try TestStore(kind)
    let store = test.store
    #expect(try store.webhooks() == [])
    var state = WebhookState(name: "search", position: try Self.now(store))
    #expect(try store.save(state))
    #expect(try !store.save(state))
    state.revision = 1
    state.end = ChangeCursor(source: 1, first: 2, second: 3)
    state.isReset = true
    state.behindSince = 4
    state.failures = 5
    (state.nextAttempt, state.lastSuccess, state.lastFailure) = (6, 7, 8)
    state.lastProblem = "no"
    #expect(try store.save(state))
    state.revision = 2
    #expect(try store.webhooks() == [state])
    #expect(try store.save(WebhookState(name: "cdn", position: state.position)))
    #expect(try store.webhooks().map(\.name) == ["cdn", "search"])
    #expect(try test.again().webhooks().count == 2)
  }

  // MARK: A copy

  /// A consumer's copy: applies what it is told, and nothing else.
  private struct Copy {
    var cursor: ChangeCursor
    var items: [String: Post] = [:]
    /// Of an item in feeds: the ranks.
    var places: [String: [String: Int?]] = [:]
    var feeds: Set<String> = []

    init(of store: any FeedStore & ChangeStore) throws { cursor = try ChangeTests.now(store) }

    mutating func follow(_ store: any FeedStore & ChangeStore, limit: Int) throws -> Bool {
      let page = try store.changes(
        after: cursor, through: nil, limit: limit, withItems: true)
      cursor = page.next
      for change in page.changes {
        switch (change.kind, change.state) {
        case (.item, .present):
          // Gone since: a later change says so.
          guard let item = change.item else { continue }
          items[change.name] = item.post
          places[change.name] = Dictionary(
            uniqueKeysWithValues: item.placements.map { ($0.feed, $0.rank) })
        case (.item, _):
          items[change.name] = nil
          places[change.name] = nil
        case (.feed, .present): feeds.insert(change.name)
        case (.feed, let state):
          for id in places.keys { places[id]?[change.name] = nil }
          feeds.remove(change.name)
          if state == .replaced { try read(change.name, of: store) }
        }
      }
      return page.hasMore
    }

    /// Reads a feed's items, as `GET /v1/items?feed=` has them.
    private mutating func read(_ feed: String, of store: any FeedStore) throws {
      feeds.insert(feed)
      try store.refresh()
      while true {
        do {
          for id in try store.walk(feed, limit: 100) {
            guard let item = try store.item(withID: id) else { continue }
            items[id] = item.post
            places[id] = Dictionary(
              uniqueKeysWithValues: item.placements.map { ($0.feed, $0.rank) })
          }
          return
        } catch FeedError.unknownFeed {
          feeds.remove(feed)
          return
        } catch is FeedError {
          // Its ranking is no longer kept: again from the top.
        }
      }
    }

    func expectSame(as store: any FeedStore, _ comment: String) throws {
      let names = Set(try store.feeds().map(\.name).filter { !$0.hasPrefix(ChangeTests.marker) })
      #expect(feeds == names, "\(comment)")
      var ids: Set<String> = []
      try store.exportRecords { record in
        guard case .post(let post, let placements) = record else { return }
        ids.insert(post.id)
        let places = places[post.id] ?? [:]
        #expect(items[post.id] == post, "\(comment), \(post.id)")
        #expect(
          places == Dictionary(uniqueKeysWithValues: placements.map { ($0.feed, $0.rank) }),
          "\(comment), \(post.id)")
      }
      #expect(Set(items.keys) == ids, "\(comment)")
    }
  }

  /// A write of one of a few writers, at random.
  private static func write(_ store: any FeedStore, _ random: inout TestRandom) throws {
    let feeds = ["x", "y", "z"]
    func post() -> Post {
      Post(
        id: "p\(random.number(0...40))", type: .image, title: "t\(random.number(0...3))",
        publishedAt: Timestamp(microseconds: Int64(random.number(1...50))),
        // In the year 3000: hidden.
        visibleFrom: random.once(in: 3)
          ? Timestamp(microseconds: 32_503_680_000_000_000 + Int64(random.number(0...1))) : nil)
    }
    func placements() -> [Placement] {
      feeds.filter { _ in random.once(in: 2) }
        .map { Placement(feed: $0, rank: random.once(in: 2) ? random.number(1...9) : nil) }
    }
    do {
      switch random.number(0...11) {
      case 0: _ = try store.deletePost(withID: "p\(random.number(0...40))")
      case 1:
        try store.outcome(
          of: FeedWrite(
            name: random.one(of: feeds),
            change: .rename(to: random.one(of: feeds), title: random.one(of: ["q", nil]))))
      case 2:
        try store.outcome(
          of: FeedWrite(
            name: random.one(of: feeds),
            change: random.once(in: 2) ? .delete : .put(title: random.one(of: ["q", nil]))))
      case 3:
        try store.load(
          (0..<random.number(1...20)).map { _ in
            SeedRecord.post(post(), placements: placements())
          }, batch: 4)
      case 4:
        try store.outcome(
          of: ItemWrite(
            id: "p\(random.number(0...40))",
            change: .increment([Counter("likes", 1)], key: nil)))
      default:
        let post = post()
        try store.outcome(
          of: ItemWrite(
            id: post.id,
            change: .put(
              post, placements: random.once(in: 4) ? nil : placements(),
              keepsCounters: random.once(in: 2))))
      }
    } catch is FeedError {
      // What it was of is not there.
    }
  }

  @Test(arguments: StoreKind.databases, TestRandom.seeds)
  func `a copy that applies the changes equals the store`(
    _ kind: StoreKind, _ seed: UInt64
  ) throws {
    let test = try TestStore(kind)
    let others = [test.store, try test.again()]
    var random = TestRandom(seed)
    var copy = try Copy(of: test.store)
    let rounds = TestRandom.often(150, nightly: 5_000)
    let seeds = others.indices.map { _ in UInt64(random.number(1...1_000_000)) }
    let areWriting = Mutex(others.count)
    let failure = Mutex<(any Error)?>(nil)
    let group = DispatchGroup()
    for (store, seed) in zip(others, seeds) {
      DispatchQueue.global().async(group: group) {
        var random = TestRandom(seed)
        do {
          for _ in 0..<rounds { try Self.write(store, &random) }
        } catch {
          failure.withLock { $0 = error }
        }
        areWriting.withLock { $0 -= 1 }
      }
    }
    while areWriting.withLock({ $0 > 0 }) {
      _ = try copy.follow(test.store, limit: random.number(1...30))
    }
    group.wait()
    if let error = failure.withLock({ $0 }) { throw error }
    // When it is told, so is all before.
    try test.store.outcome(of: FeedWrite(name: "end", change: .put(title: nil)))
    #expect(
      try eventually {
        while try copy.follow(test.store, limit: random.number(1...30)) {}
        return copy.feeds.contains("end")
      })
    try test.store.refresh()
    try copy.expectSame(as: test.store, "\(kind), seed \(seed)")
  }
}
