import Catalog
import Feed
import PostJSON
import PostgresTestSupport
import Prefetch
import RowStore
import SQLiteStore
import Seeding
import TestSupport
import Testing

@testable import PostgresStore

/// Everything of a store in another one.
@Suite(.enabled(if: PostgresCluster.isPresent, "skipped: there is no PostgreSQL"))
struct CopyTests {
  private func export(_ store: any FeedStore) throws -> [[UInt8]] {
    var lines: [[UInt8]] = []
    try store.exportRecords { lines.append($0.json) }
    return lines
  }

  /// Every page of every ranking that is kept, with its cursors.
  private func pages(_ store: any DatabaseStore) throws -> [String] {
    try store.refresh()
    return try store.feeds().flatMap { feed -> [String] in
      var texts = ["\(feed.name) \(feed.total) \(feed.ranking) \(feed.title ?? "-")"]
      for ranking in 1...feed.ranking {
        let start = Cursor(feed: feed.name, view: .ranking(ranking), anchor: .start, seen: .start)
        var query = PageQuery(feed: feed.name, start: .after(start), limit: 7)
        while let page = try? store.page(query) {
          texts.append("\(page.posts.map(\.id)) \(page.slice.newer) \(page.slice.previous as Any)")
          guard let next = page.slice.next else { break }
          query.start = .after(next)
        }
      }
      return texts
    }
  }

  private func copy(_ source: any DatabaseStore, _ target: any DatabaseStore) throws {
    try target.writeTables { write in try source.readTables(write) }
  }

  /// A store with something in each table.
  private func fill(_ store: any DatabaseStore, _ random: inout TestRandom) throws {
    try store.load(Array(PostGenerator(count: 400, seed: 7)), batch: 100)
    try store.load((0..<40).map { .ranked("r\($0)", $0) })
    for round in 0..<4 {
      try store.load((0..<40).map { .ranked("r\($0)", (40 - $0) * (round + 1)) })
    }
    try store.load(
      (0..<60).map { index in
        var post = random.post()
        post.id = "x\(index)"
        return .post(post, placements: [Placement(feed: "any", rank: random.number(0...9))])
      })
    try store.outcome(of: FeedWrite(name: "gone", change: .put(title: nil)))
    try store.outcome(of: FeedWrite(name: "gone", change: .delete))
    try store.outcome(of: FeedWrite(name: "any", change: .rename(to: "other", title: "Other")))
    try store.increment("r1", by: 3, key: "key")
    try store.apply(
      Policy(
        name: "lab", strategy: try Policy.Strategy(name: "plain", parameters: ["leading": 7]),
        imageWeight: 2, videoWeight: 3), feed: "other", network: "3g", evidence: Array("{}".utf8),
      at: Timestamp(microseconds: 5))
    // A run that nobody will finish.
    try store.beginImport().write([.ranked("r3", 99)])
    let content = MediaVersion.content(sha256: Array(repeating: 7, count: 32))
    try store.keep([
      KnownMedia(
        url: "/" + String(repeating: "long/", count: 1_600),
        truth: MediaTruth(kind: .image, bytes: 3, mimeType: "image/png", version: content))
    ])
  }

  @Test(arguments: TestRandom.seeds)
  func `there and back all is the same, to the byte, and goes on`(_ seed: UInt64) throws {
    var random = TestRandom(seed)
    let folder = TemporaryFolder()
    let first = try SQLiteStore(path: folder.file("first.sqlite"))
    try fill(first, &random)
    let middle = try TestDatabase().store()
    try copy(first, middle)
    let last = try SQLiteStore(path: folder.file("last.sqlite"))
    try copy(middle, last)
    let expected = (try export(first), try pages(first))
    for store in [middle, last] as [any DatabaseStore] {
      #expect(try export(store) == expected.0, TestRandom.replay)
      #expect(try pages(store) == expected.1, TestRandom.replay)
      #expect(try store.check().allSatisfy { $0.severity == .note }, TestRandom.replay)
      #expect(try store.media(after: nil, limit: 9) == first.media(after: nil, limit: 9))
      let (book, original) = (try store.snapshot().policyBook, try first.snapshot().policyBook)
      #expect(book.networks == original.networks)
      for feed in ["featured", "other", nil] {
        for network in original.networks {
          #expect(
            book.policy(feed: feed, network: network)
              == original.policy(feed: feed, network: network))
          #expect(
            book.evidence(feed: feed, network: network)?.json
              == original.evidence(feed: feed, network: network)?.json)
        }
      }
      #expect(original.networks.contains { book.evidence(feed: "other", network: $0) != nil })
      // What was answered once is answered so again, and numbers go on behind those that were copied.
      #expect(
        try store.increment("r1", by: 3, key: "key")
          == .counted([Counter("likes", 3)], isReplay: true))
      #expect(try store.load([.ranked("r3", 99), .ranked("new", 1)]).rankedAnew == ["featured"])
      try store.undoPolicy(feed: "other", network: "3g")
      #expect(try store.check().isEmpty, TestRandom.replay)
    }
    #expect(try export(middle) == export(last))
  }

  private struct Stopped: Error {}

  @Test func `a copy that ends before its time leaves nothing, and begins anew`() throws {
    let folder = TemporaryFolder()
    let source = try SQLiteStore(path: folder.file("source.sqlite"))
    var random = TestRandom(1)
    try fill(source, &random)
    let targets: [any DatabaseStore] = [
      try TestDatabase().store(), try SQLiteStore(path: folder.file("target.sqlite")),
    ]
    for target in targets {
      for last in ["author", "feed_entry", "media_file"] {
        #expect(throws: Stopped.self) {
          try target.writeTables { write in
            try source.readTables { table, rows in
              try write(table, rows)
              if table.name == last { throw Stopped() }
            }
          }
        }
        #expect(try export(target) == [] && target.feeds().isEmpty)
        #expect(try target.snapshot().policyBook.networks.count == 7)
      }
      try copy(source, target)
      #expect(try export(target) == export(source))
      #expect(throws: StoreNotEmpty(name: target.name)) { try copy(source, target) }
      #expect(try export(target) == export(source))
    }
  }
}
