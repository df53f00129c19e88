import Feed
import GRDB
import Seeding
import TestSupport
import Testing

/// Numbers that the schema allows and no program of ours would write: the server answers, with whatever
/// they come to, and goes on.
@Suite struct DatabaseExtremesTests {
  static let changes = [
    "UPDATE media SET duration_ms = \(Int64.max), width = \(Int64.max), height = \(Int64.max)",
    "UPDATE media SET duration_ms = \(Int64.max), bytes = NULL",
    "UPDATE media SET bytes = 1099511627776",
    "UPDATE feed_entry SET sort_key = \(Int64.min)",
    "UPDATE feed_entry SET sort_key = \(Int64.max), rank = \(Int64.max)",
    "UPDATE feed_entry SET published_at = \(Int64.min), rank = NULL",
    "UPDATE post SET published_at = 253402300799999999",
    "UPDATE post SET published_at = -62167219200000000",
    """
    UPDATE network_profile SET downlink_kbps = 1000000000, uplink_kbps = 1000000000,
      round_trip_ms = 600000, loss_percent = 100
    """,
    "UPDATE network_profile SET downlink_kbps = 0, uplink_kbps = 0, round_trip_ms = 0",
    """
    UPDATE policy SET parameters = CASE strategy WHEN 'plain' THEN '{"leading":100}'
      WHEN 'expected-wait' THEN '{"leading":32,"price":1000000}'
      ELSE '{"leading":100,"maxCost":1000000}' END, trailing = 100, image_weight = 1000,
      video_weight = 1000, webapp_weight = 1000, ad_weight = 1000, text_weight = 1000,
      carousel_visible_parts = 100, video_start_bytes = 1099511627776, video_bytes = 1099511627776,
      video_kbps = 1000000, image_bytes = 1099511627776, webapp_bytes = 1099511627776,
      next_page_percent = 100, items_per_minute = 6000
    """,
    """
    UPDATE policy SET parameters = CASE strategy WHEN 'plain' THEN '{"leading":0}'
      WHEN 'expected-wait' THEN '{"leading":0,"price":0}'
      ELSE '{"leading":0,"maxCost":0}' END, trailing = 0, image_weight = 0, video_weight = 0,
      video_start_bytes = 0, video_bytes = 0, video_kbps = 0, image_bytes = 0, webapp_bytes = 0,
      next_page_percent = 0, items_per_minute = 1
    """,
    "UPDATE idempotency_key SET created_at = \(Int64.max)",
    "UPDATE idempotency_key SET created_at = \(Int64.min)",
  ]

  @Test func `a ranking that no program of ours wrote is refused in words, at start and later`()
    throws
  {
    for ranking in [Int64.max, Int64.max - 1, 1 << 53] {
      let service = try RunningService(PostGenerator(count: 20, seed: 1)) {
        $0.application.writeTokens = .only(RunningService.token)
      }
      let database = try DatabaseQueue(path: service.databasePath)
      try database.write { try $0.execute(sql: "UPDATE feed SET ranking = \(ranking)") }
      #expect(throws: (any Error).self) { try RunningService(beside: service) }
      let client = try service.client()
      let answer = try client.request(
        "PUT", "/v1/items/new", RunningService.authorized,
        body: #"{"type":"image","feeds":[{"name":"newest","rank":1}]}"#)
      #expect(answer.status == 500)
      #expect(try client.get("/healthz").status == 200)
      // Mended, it goes on.
      try database.write { try $0.execute(sql: "UPDATE feed SET ranking = 1") }
      #expect(try client.get("/rp/?feed=newest").status == 200)
    }
  }

  @Test(arguments: changes)
  func `a database of extremes is served`(_ change: String) throws {
    let service = try RunningService(PostGenerator(count: 60, seed: 1)) {
      $0.application.writeTokens = .only(RunningService.token)
    }
    let first = try service.client()
    let feeds: [[String: Any]] = try #require(try first.get("/v1/feeds").value("feeds"))
    let feed = try #require(feeds.first?["name"] as? String)
    let page = "/v1/feeds/\(feed)/items?limit=50"
    let id = try #require(try first.get(page).itemIDs.first)
    let once = RunningService.authorized.merging(["Idempotency-Key": "k"]) { $1 }
    _ = try first.request("POST", "/v1/items/\(id)/counters", once, body: #"{"likes":1}"#)
    do {
      let database = try DatabaseQueue(path: service.databasePath)
      try database.write { try $0.execute(sql: change) }
      try database.close()
    }
    // One that sees the change, and one that starts on it.
    let other = try RunningService(beside: service) {
      $0.application.writeTokens = .only(RunningService.token)
    }
    for client in [first, try other.client()] {
      let networks: [[String: Any]] = try #require(try client.get("/v1/networks").value("networks"))
      for network in networks {
        let name = try #require(network["name"] as? String)
        #expect(try client.get("\(page)&network=\(name)").status == 200, "\(name)")
      }
      #expect(try client.get("/v1/items/\(id)").status == 200)
      let posted = try client.request(
        "POST", "/v1/items/\(id)/counters", once, body: #"{"likes":1}"#)
      #expect(posted.status < 500)
      #expect(
        try client.request(
          "PUT", "/v1/items/new", RunningService.authorized,
          body: #"{"type":"image","feeds":[{"name":"\#(feed)","rank":1}]}"#
        ).status < 500)
      #expect(try client.get(page).status == 200)
      #expect(try client.get("/healthz").status == 200)
    }
  }
}
