import Feed
import TestSupport
import Testing

/// Several servers on one database.
@Suite struct ManyServersTests {
  @Test func `a cursor of one server is good at another that has not looked since`() throws {
    let first = try RunningService([.ranked("a", 1), .ranked("b", 2)]) {
      $0.application.writeTokens = .only(RunningService.token)
    }
    // It looks by itself once a day.
    let second = try RunningService(beside: first) { $0.refreshIntervalMilliseconds = 86_400_000 }
    let (client, other) = (try first.client(), try second.client())
    for round in 1...5 {
      let put = try client.request(
        "PUT", "/v1/items/a", RunningService.authorized,
        body: #"{"type":"image","feeds":[{"name":"featured","rank":\#(round % 2 * 5)}]}"#)
      #expect(put.status == 204, "\(put.text)")
      let page = try client.get("/rp/?feed=featured&limit=1")
      let next: String = try #require(page.value("paging.next"))
      let newer: String = try #require(page.value("paging.newer"))
      let here = try client.get("/rp/?feed=featured&limit=1&after=\(next)")
      let there = try other.get("/rp/?feed=featured&limit=1&after=\(next)")
      #expect(there.status == 200 && there.itemIDs == here.itemIDs, "\(there.text)")
      #expect(try other.get("/rp/?feed=featured&before=\(newer)").status == 200)
    }
  }
}
