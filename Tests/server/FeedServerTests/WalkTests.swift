import Feed
import Foundation
import Seeding
import TestSupport
import Testing

/// Walks over sockets, through whatever the server hands out to go on with.
@Suite struct WalkTests {
  /// Follows a link of the page to its end.
  private func walk(
    _ client: TestClient, from target: String, link: String
  ) throws -> [[String]] {
    var pages: [[String]] = []
    var next: String? = target
    while let target = next {
      let answer = try client.get(target)
      try #require(answer.status == 200, "\(target): \(answer.text)")
      pages.append(answer.itemIDs)
      let cursor: String? = answer.value("paging." + link)
      next = answer.value("paging.links." + link)
      #expect((cursor == nil) == (next == nil))
      #expect((answer.fields["link"] ?? "").contains("rel=\"\(link)\"") == (next != nil))
    }
    return pages
  }

  private func expectWalksAgree(
    _ service: RunningServer, _ feed: String, total: Int, limits: [Int]
  ) throws {
    let client = try service.client()
    let path = "/rp/?feed=\(feed)&limit="
    let order = try walk(client, from: path + "100", link: "next").flatMap { $0 }
    #expect(order.count == total)
    #expect(Set(order).count == total)
    for limit in limits {
      let forwards = try walk(client, from: path + "\(limit)", link: "next")
      #expect(forwards.flatMap { $0 } == order, "\(feed) at \(limit)")
      #expect(forwards.dropLast().allSatisfy { $0.count == limit })

      let bottom = try client.get("/rp/?feed=\(feed)&limit=\(limit)&offset=\(total)")
      #expect(bottom.status == 200 && bottom.itemIDs.isEmpty)
      #expect(bottom.value("paging.next", as: String.self) == nil)
      let last: String = try #require(bottom.value("paging.links.prev"))
      let backwards = try walk(client, from: last, link: "prev")
      #expect(backwards.reversed().flatMap { $0 } == order, "\(feed) backwards at \(limit)")

      var byOffset: [String] = []
      var mixed: [String] = []
      while byOffset.count < total {
        byOffset += try client.get(path + "\(limit)&offset=\(byOffset.count)").itemIDs
      }
      #expect(byOffset == order, "\(feed) by offset at \(limit)")

      // By turns an offset from the top, a cursor, and an offset from a cursor.
      var answer = try client.get(path + "\(limit)")
      while true {
        mixed += answer.itemIDs
        if !answer.itemIDs.isEmpty {
          #expect(answer.value("paging.offset") == mixed.count - answer.itemIDs.count)
        }
        guard let next: String = answer.value("paging.next") else { break }
        let back = min(mixed.count, limit / 2)
        switch mixed.count / limit % 3 {
        case 0: answer = try client.get(path + "\(limit)&offset=\(mixed.count)")
        case 1: answer = try client.get(path + "\(limit)&after=\(next)")
        default:
          answer = try client.get(path + "\(limit)&offset=\(back)&after=\(next)")
          mixed += order[mixed.count..<min(mixed.count + back, total)]
        }
      }
      #expect(mixed == order, "\(feed) mixed at \(limit)")
    }
  }

  @Test func `walks of generated feeds give each post once in one order`() throws {
    let records = Array(PostGenerator(count: TestRandom.often(400, nightly: 1_000), seed: 3))
    let service = try RunningServer(records)
    for feed in ["newest", "featured", "videos"] {
      let total = records.count { record in
        if case .post(_, let placements) = record {
          placements.contains { $0.feed == feed }
        } else {
          false
        }
      }
      try expectWalksAgree(service, feed, total: total, limits: [1, 7, 30, 100])
    }
  }

  @Test func `a thousand posts of one instant are met once each at any limit`() throws {
    let service = try RunningServer((0..<1_000).map { .timed("t\($0)", 5) })
    try expectWalksAgree(
      service, "newest", total: 1_000,
      limits: TestRandom.often([2, 99], nightly: [1, 2, 9, 99, 100]))
  }

  private static let realFeeds =
    SharedFeeds.arePresent
    ? try? RunningServer(files: SharedFeeds.files) : nil

  @Test(
    .enabled(if: SharedFeeds.arePresent, "the real posts are not beside the project"),
    arguments: [
      ("featured", 5_000), ("newest", 5_000), ("videos", 5_000), ("webapps", 1_855),
      ("photos", 4_850),
    ])
  func `walks of real feeds give each post once in one order`(_ feed: String, _ total: Int) throws {
    let service = try #require(Self.realFeeds)
    let limits = TestRandom.often([100], nightly: [1, 7, 30, 100])
    try expectWalksAgree(service, feed, total: total, limits: limits)
  }

  @Test func `the fixtures' walks give each post once in one order`() throws {
    let service = try RunningServer(files: SeedInput.paths(in: SharedFeeds.fixtures))
    let feeds: [[String: Any]] = try #require(try service.client().get("/v1/feeds").value("feeds"))
    #expect(feeds.count >= 3)
    for feed in feeds {
      try expectWalksAgree(
        service, try #require(feed["name"] as? String), total: try #require(feed["total"] as? Int),
        limits: [1, 7, 30, 100])
    }
  }

  @Test func `both routes give the same page`() throws {
    let service = try RunningServer(PostGenerator(count: 80, seed: 4))
    let client = try service.client()
    let compact = try client.get("/rp/?feed=newest&limit=20&network=wifi")
    let long = try client.get("/v1/feeds/newest/items?limit=20&network=wifi")
    #expect(compact.itemIDs == long.itemIDs)
    #expect(compact.value("paging.next", as: String.self) == long.value("paging.next"))
    let next: String = try #require(long.value("paging.links.next"))
    #expect(next.hasPrefix("/v1/feeds/newest/items?limit=20&network=wifi&after="))
  }

  @Test func `polling newer gives what came, oldest gap first, and converges`() throws {
    let service = try RunningServer((0..<10).map { .timed("t\($0)", $0) })
    let writer = service.store
    let client = try service.client()
    for start in [
      "/rp/?feed=newest&limit=5", "/rp/?feed=newest&limit=5&offset=5", "/rp/?feed=newest&offset=99",
    ] {
      var newer: String = try #require(try client.get(start).value("paging.newer"))
      let total: Int = try #require(try client.get(start).value("feed.total"))
      let added = (total..<total + 12).map { SeedRecord.timed("t\($0)", $0) }
      try writer.load(added)
      try waitForTotal(total + 12, client)
      var met: [[String]] = []
      for _ in 0..<5 {
        let answer = try client.get("/rp/?feed=newest&limit=5&before=\(newer)")
        met.append(answer.itemIDs)
        newer = try #require(answer.value("paging.newer"))
      }
      #expect(met.map(\.count) == [5, 5, 2, 0, 0])
      #expect(met.reversed().flatMap { $0 } == (total..<total + 12).reversed().map { "t\($0)" })
    }
  }

  @Test func `a gap is read between its two ends`() throws {
    let service = try RunningServer((0..<50).map { .ranked("p\($0)", $0) })
    let client = try service.client()
    let after: String = try #require(
      try client.get("/rp/?feed=featured&limit=10").value("paging.next"))
    let before: String = try #require(
      try client.get("/rp/?feed=featured&limit=10&offset=35").value("paging.prev"))
    let pages = try walk(
      client, from: "/rp/?feed=featured&limit=10&after=\(after)&before=\(before)", link: "next")
    #expect(pages.map(\.count) == [10, 10, 5])
    #expect(pages.flatMap { $0 } == (10..<35).map { "p\($0)" })
  }

  @Test func `around shows an item or an offset with its neighbours`() throws {
    let service = try RunningServer((0..<200).map { .ranked("p\($0)", $0) })
    let client = try service.client()
    let cases: [(query: String, range: Range<Int>)] = [
      ("around=p100&leading=3&trailing=2", 98..<104),
      ("around=offset:100&leading=0&trailing=0", 100..<101),
      ("around=p1&leading=3&trailing=9", 0..<5),
      ("around=p199&leading=9&trailing=1", 198..<200),
      ("around=offset:100", 91..<121),
      ("around=offset:100&limit=10", 97..<107),
      ("around=offset:205&trailing=9&leading=5", 196..<200),
      ("around=offset:9007199254740991&leading=1", 0..<0),
    ]
    for (query, range) in cases {
      let answer = try client.get("/rp/?feed=featured&\(query)")
      #expect(answer.status == 200, "\(answer.text)")
      #expect(answer.itemIDs == range.map { "p\($0)" }, "\(query)")
      guard !range.isEmpty else { continue }
      #expect(answer.value("paging.offset") == range.lowerBound)
      // One can go on from there, both ways.
      let below = try walk(
        client, from: answer.value("paging.links.next") ?? "/rp/?feed=featured&offset=200",
        link: "next")
      #expect(below.flatMap { $0 } == (range.upperBound..<200).map { "p\($0)" })
    }
  }

  @Test(arguments: TestRandom.seeds)
  func `pages stay right while another process inserts, deletes and ranks anew`(seed: UInt64) throws
  {
    let count = 300
    let service = try RunningServer((0..<count).map { .ranked("p\($0)", $0) })
    let writer = service.store
    let client = try service.client()
    var random = TestRandom(seed)
    var deleted: Set<String> = []
    var met: [String] = []
    var target: String? = "/rp/?feed=featured&limit=30"
    var rankings = 0
    while let current = target {
      let answer = try client.get(current)
      try #require(answer.status == 200, "seed \(random.seed): \(answer.text)")
      #expect(answer.value("paging.ranking") == 1)
      met += answer.itemIDs
      target = answer.value("paging.links.next")
      let order = (0..<count).shuffled(using: &random)
      try writer.load(
        order.enumerated().map { .ranked("p\($0.element)", $0.offset) }.filter {
          if case .post(let post, _) = $0 { !deleted.contains(post.id) } else { true }
        })
      rankings += 1
      let gone = "p\(random.number(0...count - 1))"
      if try writer.deletePost(withID: gone) { deleted.insert(gone) }
      try writer.load([.ranked("new\(rankings)", random.number(0...count))])
    }
    #expect(rankings > 5)
    #expect(Set(met).count == met.count, "seed \(random.seed)")
    let survivors = (0..<count).map { "p\($0)" }.filter { !deleted.contains($0) }
    // In the order in which they stood when the walk began.
    #expect(
      met.filter { !deleted.contains($0) && $0.hasPrefix("p") } == survivors,
      "seed \(random.seed)")
  }

  private func waitForTotal(_ total: Int, _ client: TestClient) throws {
    let isSeen = try eventually { try client.get("/v1/feeds/newest").value("total") == total }
    #expect(isSeen, "the server never saw what another process wrote")
  }
}
