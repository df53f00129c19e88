import Feed
import Service
import Foundation
import GRDB
import SQLiteStore
import Seeding
import TestSupport
import Testing

/// What is kept of pages is never behind the store: a service that keeps all it can answers like one
/// that keeps nothing.
@Suite struct PageFreshnessTests {
  private static let token = "a-token-of-the-tests"
  private static let ids = (0..<40).map { "item\($0)" }

  /// What a client would ask again and again: pages of both feeds, by offset and by cursor, for several
  /// networks and codings.
  private static func targets(_ client: TestClient) throws -> [String] {
    var targets = [
      "/rp/?feed=ranked&limit=7", "/rp/?feed=ranked&limit=7&offset=9", "/rp/?feed=timed",
      "/v1/feeds/timed/items?limit=5&network=wifi", "/rp/?feed=timed&limit=3&saveData=on",
      "/rp/?feed=timed&limit=9&budget=500000", "/rp/?feed=ranked&around=offset:12",
    ]
    for target in targets {
      let page = try client.get(target)
      let links: [String: String] = page.value("paging.links") ?? [:]
      targets += links.values
    }
    for format in ["feed.json", "feed.xml"] {
      targets += ["/v1/feeds/timed/\(format)?limit=5", "/v1/feeds/ranked/\(format)"]
    }
    let first = try client.get("/v1/feeds/timed/feed.json?limit=5")
    if let next: String = first.value("next_url") {
      targets.append(next.replacing("http://localhost", with: ""))
    }
    return targets
  }

  private static func record(_ random: inout TestRandom) -> String {
    let feeds = [
      #"{"name":"timed"}"#, #"{"name":"ranked","rank":\#(random.number(0...60))}"#,
      #"{"name":"timed"},{"name":"ranked","rank":\#(random.number(0...60))}"#,
    ]
    let media = [
      "", #","media":[{"kind":"video","url":"/v","bytes":\#(random.number(1...900_000))}]"#,
      #","media":[{"kind":"image","url":"/a"},{"kind":"image","url":"/b","bytes":7}]"#,
    ]
    return #"{"type":"carousel","title":"\#(random.number(0...999))","publishedAt":"#
      + #""2026-05-\#(random.number(10...28))T06:10:00Z","feeds":[\#(feeds.randomElement(using: &random)!)]"#
      + (media.randomElement(using: &random)!) + "}"
  }

  /// Some change through this client, of an item that may not be there; what it is does not matter, but
  /// that it was made does.
  ///
  /// - Returns: whether the item was there, or is now.
  @discardableResult
  private static func change(_ client: TestClient, _ random: inout TestRandom) throws -> Bool {
    let id = ids.randomElement(using: &random)!
    let authorized = ["Authorization": "Bearer \(token)"]
    switch random.number(0...9) {
    case 0:
      let answer = try client.request("DELETE", "/v1/items/\(id)", authorized)
      #expect([204, 404].contains(answer.status), "\(answer.text), \(TestRandom.replay)")
      return answer.status == 204
    case 1...5:
      let answer = try client.request(
        "POST", "/v1/items/\(id)/counters", authorized, body: #"{"likes":1}"#)
      #expect([200, 404].contains(answer.status), "\(answer.text), \(TestRandom.replay)")
      return answer.status == 200
    case 6:
      let lines = (0..<3).map { _ in
        record(&random).replacingOccurrences(
          of: #"{"type""#, with: #"{"id":"\#(ids.randomElement(using: &random)!)","type""#)
      }
      let answer = try client.request(
        "POST", "/v1/import", authorized.merging(["Content-Type": "application/x-ndjson"]) { $1 },
        body: lines.joined(separator: "\n"))
      #expect(
        answer.status == 200 && answer.value("refused") == 0, "\(answer.text), \(TestRandom.replay)"
      )
      return answer.status == 200
    default:
      let answer = try client.request(
        "PUT", "/v1/items/\(id)", authorized, body: record(&random))
      #expect([201, 204].contains(answer.status), "\(answer.text), \(TestRandom.replay)")
      return answer.status < 300
    }
  }

  private struct Answer: Equatable {
    var status = 0
    var tag: String?
    var link: String?
    var body: [UInt8] = []

    init() {}

    init(_ client: TestClient, _ target: String, _ coding: String) throws {
      let answer = try client.get(target, ["Accept-Encoding": coding])
      (status, tag, link) = (answer.status, answer.fields["etag"], answer.fields["link"])
      // A problem names its request.
      if status == 200 { body = answer.body }
    }
  }

  private static func keepNothing(_ configuration: inout FeedServiceConfiguration) {
    configuration.application.encodedMemoryBytes = 0
    configuration.application.itemFileBytes = 0
    configuration.refreshIntervalMilliseconds = 1
  }

  /// With memory for pages, and with the file of items alone.
  @Test(arguments: ["identity", "br", "gzip"], TestRandom.seeds)
  func `after each write here, every page is the one that a service without caches makes`(
    coding: String, seed: UInt64
  ) throws {
    for memory in [64 << 20, 0] { try Self.checkFreshness(coding, memory, seed) }
  }

  private static func checkFreshness(_ coding: String, _ memory: Int, _ seed: UInt64) throws {
    var random = TestRandom(seed)
    let records = Self.ids.prefix(30).enumerated().map { index, id in
      SeedRecord.post(
        Post(id: id, type: .image, publishedAt: Timestamp(microseconds: Int64(index) * 1_000_000)),
        placements: [Placement(feed: "timed"), Placement(feed: "ranked", rank: index)])
    }
    let kept = try RunningService(records) {
      $0.application.writeTokens = .only(Self.token)
      $0.application.encodedMemoryBytes = memory
    }
    let client = try kept.client()
    var changes = 0
    for _ in 0..<TestRandom.often(5, nightly: 20) {
      if try Self.change(client, &random) { changes += 1 }
      // One that starts now knows nothing of before.
      let bare = try RunningService(beside: kept, configure: Self.keepNothing)
      let other = try bare.client()
      for target in try Self.targets(other) {
        for _ in 0..<2 {
          let mine = try Answer(client, target, coding)
          let wanted = try Answer(other, target, coding)
          #expect(mine == wanted, TestRandom.replay)
        }
      }
    }
    let hits = memory > 0 ? "lookahead_pages_hits_total" : "lookahead_item_file_hits_total"
    #expect(try Self.figure(hits, client) > 0)
    #expect(changes >= TestRandom.often(1, nightly: 6), TestRandom.replay)
  }

  private static func figure(_ name: String, _ client: TestClient) throws -> Int {
    let lines = try client.get("/metrics").text.split(separator: "\n")
    let line = try #require(lines.first { $0.hasPrefix(name + " ") })
    return try #require(Int(line.dropFirst(name.count + 1)))
  }

  @Test(arguments: TestRandom.seeds)
  func `a write of another process is seen within the refresh interval`(seed: UInt64) throws {
    var random = TestRandom(seed)
    let here = try RunningService(
      [.ranked("item1", 1), .ranked("item2", 2), .ranked("item3", 3)])
    let other = try RunningService(beside: here) { $0.application.writeTokens = .only(Self.token) }
    let (reader, writer) = (try here.client(), try other.client())
    for _ in 0..<20 {
      try Self.change(writer, &random)
      for target in ["/rp/?feed=featured", "/rp/?feed=timed", "/rp/?feed=ranked"] {
        let wanted = try Answer(writer, target, "identity")
        var seen = Answer()
        try eventually {
          seen = try Answer(reader, target, "identity")
          return seen == wanted
        }
        #expect(seen == wanted, TestRandom.replay)
      }
    }
  }

  @Test func `a page whose items are in the file is made without asking the database for them`()
    throws
  {
    let service = try RunningService(PostGenerator(count: 700, seed: 3)) {
      $0.application.encodedMemoryBytes = 0
    }
    let client = try service.client()
    func figure(_ name: String) throws -> Int { try Self.figure(name, client) }
    try eventually { try figure("lookahead_item_file_items") >= 700 }
    let before = try figure("lookahead_sqlite_read_seconds_count")
    for offset in stride(from: 0, to: 700, by: 29) {
      #expect(try client.get("/rp/?feed=newest&offset=\(offset)").status == 200)
    }
    #expect(try figure("lookahead_sqlite_read_seconds_count") == before)
  }

  @Test func `a row that another program changes by SQL is seen, whatever it is`() throws {
    let post = Post(
      id: "a", type: .image, title: "One", author: Author(id: "x", name: "X"),
      media: [Media(kind: .image, url: "/a")])
    let service = try RunningService([
      .post(post, placements: [Placement(feed: "featured")]), .ranked("b", 4),
    ])
    let client = try service.client()
    func sees(_ text: String) throws -> Bool {
      try eventually { try client.get("/rp/?feed=featured").text.contains(text) }
    }
    #expect(try sees(#""title":"One""#))
    for (sql, text) in [
      ("UPDATE post SET title = 'Two' WHERE id = 'a'", #""title":"Two""#),
      ("UPDATE media SET bytes = 4711", #""bytes":4711"#),
      (
        "INSERT INTO media (post_id, ordinal, kind, url) SELECT post_id, 1, 'video', '/new' "
          + "FROM post WHERE id = 'a'", #""url":"/new""#
      ),
      ("UPDATE author SET name = 'Y'", #""name":"Y""#),
      ("DELETE FROM media WHERE ordinal = 0", #""media":[{"id":"a.0","kind":"video""#),
    ] {
      try DatabaseQueue(path: service.databasePath).write { try $0.execute(sql: sql) }
      #expect(try sees(text), "\(sql)")
    }
  }
}
