import Feed
import Foundation
import Seeding
import TestSupport
import Testing

/// Validators, caching, methods, CORS: points 10, 12 and 15 of the API.
@Suite struct RepresentationTests {
  private static let service = try! RunningServer(PostGenerator(count: 60, seed: 1))
  private static let targets = [
    "/rp/?feed=newest&limit=30", "/v1/feeds/newest/items?limit=2", "/v1/feeds", "/v1/feeds/newest",
    "/v1/items/g1", "/v1/networks", "/openapi.json",
  ]

  @Test(arguments: targets)
  func `a validator answers 304 without a body and HEAD says the same as GET`(_ target: String)
    throws
  {
    let client = try Self.service.client()
    let answer = try client.get(target)
    #expect(answer.status == 200)
    let tag = try #require(answer.fields["etag"])
    #expect(tag.hasPrefix("\"") && tag.hasSuffix("\""))
    #expect(answer.fields["cache-control"]?.contains("stale-while-revalidate=") == true)
    #expect(answer.fields["content-type"] == "application/json")
    #expect(answer.fields["access-control-allow-origin"] == "*")

    let head = try client.request("HEAD", target)
    #expect(head.status == 200 && head.body.isEmpty)
    for name in ["etag", "content-length", "content-type", "cache-control", "vary", "link"] {
      #expect(head.fields[name] == answer.fields[name], "\(name)")
    }
    for condition in [tag, "W/" + tag, "\"x\", \(tag)", "*"] {
      let again = try client.get(target, ["If-None-Match": condition])
      #expect(again.status == 304 && again.body.isEmpty, "\(condition)")
      for name in ["etag", "cache-control", "vary", "link"] {
        #expect(again.fields[name] == answer.fields[name], "\(name)")
      }
      #expect(again.fields["content-length"] == nil || again.fields["content-length"] != "0")
    }
    #expect(try client.get(target, ["If-None-Match": "\"x\""]).body == answer.body)
    #expect(try client.get(target, ["If-Match": "\"x\""]).status == 412)
  }

  @Test func `a validator changes when the page does and only then`() throws {
    let service = try RunningServer((0..<40).map { .timed("t\($0)", $0) })
    let client = try service.client()
    let target = "/rp/?feed=newest&limit=30"
    let first = try client.get(target)
    #expect(try client.get(target).fields["etag"] == first.fields["etag"])
    let writer = service.store
    // Elsewhere: the page stays.
    try writer.load([.timed("elsewhere", 1, feed: "other")])
    try eventually { try client.get("/v1/feeds/other").status == 200 }
    #expect(try client.get(target).fields["etag"] == first.fields["etag"])
    // A title on the page.
    try writer.load([
      .post(
        Post(
          id: "t39", type: .image, title: "other", publishedAt: Timestamp(microseconds: 39_000_000)),
        placements: [Placement(feed: "newest")])
    ])
    var second = try client.get(target)
    try eventually {
      second = try client.get(target)
      return second.fields["etag"] != first.fields["etag"]
    }
    #expect(second.fields["etag"] != first.fields["etag"])
    #expect(try client.get(target, ["If-None-Match": first.fields["etag"]!]).status == 200)
  }

  @Test func `Vary names what the page depends on and no more`() throws {
    let client = try Self.service.client()
    let cases: [(query: String, vary: String)] = [
      ("", "Accept-Encoding, ECT, Downlink, RTT, Save-Data"),
      ("&network=3g", "Accept-Encoding, Save-Data"),
      ("&downlink=800", "Accept-Encoding, Save-Data"),
      ("&saveData=true", "Accept-Encoding, ECT, Downlink, RTT"),
      ("&network=wifi&saveData=false", "Accept-Encoding"),
    ]
    for (query, vary) in cases {
      #expect(try client.get("/rp/?feed=newest" + query).fields["vary"] == vary, "\(query)")
    }
  }

  @Test func `measured networks fall into few pages`() throws {
    let client = try Self.service.client()
    var tags: Set<String> = []
    for downlink in stride(from: 0, to: 60_000, by: 450) {
      let answer = try client.get("/rp/?feed=newest&downlink=\(downlink)&rtt=\(downlink % 700)")
      tags.insert(try #require(answer.fields["etag"]))
      // The link names the bucket, so the next page is shared too.
      let next: String = try #require(answer.value("paging.links.next"))
      let network: String = try #require(answer.value("prefetch.network"))
      #expect(next.contains("network=\(network)"))
    }
    #expect(tags.count <= 7)
  }

  @Test func `the network is the parameter's, else the client hint's, else the default`() throws {
    let client = try Self.service.client()
    let cases: [(query: String, fields: [String: String], network: String)] = [
      ("", [:], "3g"),
      ("&network=edge", ["ECT": "4g"], "edge"),
      ("", ["ECT": "4g"], "lte"),
      ("", ["ECT": "2g"], "edge"),
      ("", ["ECT": "nonsense"], "3g"),
      ("", ["ECT": "4g", "Downlink": "0.3", "RTT": "700"], "edge"),
      ("", ["Downlink": "2.5"], "dsl"),
      ("", ["Downlink": "x"], "3g"),
      ("&downlink=45000", ["ECT": "2g"], "lte"),
    ]
    for (query, fields, network) in cases {
      let answer = try client.get("/rp/?feed=newest" + query, fields)
      #expect(answer.value("prefetch.network") == network, "\(query) \(fields)")
    }
  }

  @Test func `who saves data gets a plan of the active item`() throws {
    let client = try Self.service.client()
    for (query, fields) in [("&saveData=true", [:]), ("", ["Save-Data": "on"])] {
      let answer = try client.get("/rp/?feed=newest&network=lte" + query, fields)
      let plan: [[String: Any]] = try #require(answer.value("prefetch.plan"))
      #expect(Set(plan.compactMap { $0["item"] as? String }).isSubset(of: [answer.itemIDs[0]]))
      #expect(answer.value("prefetch.leading") == 0)
    }
    let other = try client.get(
      "/rp/?feed=newest&network=lte&saveData=false", ["Save-Data": "on"])
    #expect(other.value("prefetch.leading") == 12)
  }

  @Test func `the field Link has the links of the body, both of them where there are two`() throws {
    let client = try Self.service.client()
    for (target, relations) in [
      ("/rp/?feed=newest&limit=2", ["next"]),
      ("/rp/?feed=newest&limit=2&offset=2", ["next", "prev"]),
      ("/v1/feeds?limit=1", ["next"]),
    ] {
      let answer = try client.get(target)
      let field = try relations.map { relation in
        let link: String = try #require(answer.value("paging.links.\(relation)"))
        return "<\(link)>; rel=\"\(relation)\""
      }
      #expect(answer.fields["link"] == field.joined(separator: ", "), "\(target)")
    }
  }

  @Test func `a plan is within its budget and its bytes are the sum of its parts`() throws {
    let client = try Self.service.client()
    for budget in [0, 1, 100_000, 204_800, 1_000_000, 50_000_000] {
      for network in ["wifi", "3g", "edge", "offline"] {
        let answer = try client.get("/rp/?feed=newest&network=\(network)&budget=\(budget)")
        let plan: [[String: Any]] = try #require(answer.value("prefetch.plan"))
        let total: Int = try #require(answer.value("prefetch.planBytes"))
        #expect(plan.reduce(0) { $0 + ($1["bytes"] as? Int ?? 0) } == total)
        #expect(total <= budget)
        for part in plan {
          guard let range = part["range"] as? [Int] else {
            #expect(part["estimated"] as? Bool == true)
            continue
          }
          #expect(range[0] == 0 && range[1] + 1 == part["bytes"] as? Int)
        }
        if network == "offline" { #expect(plan.isEmpty) }
      }
    }
  }

  @Test func `OPTIONS says what a route has, without the store`() throws {
    let client = try Self.service.client()
    let cases = [
      ("/rp/?feed=nope&nonsense", "GET, HEAD, OPTIONS"),
      ("/v1/items/nope", "GET, HEAD, PUT, PATCH, DELETE, OPTIONS"), ("/v1/import", "POST, OPTIONS"),
      ("*", "GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS"),
    ]
    for (target, allowed) in cases {
      let plain = try client.request("OPTIONS", target)
      #expect(plain.status == 204 && plain.fields["allow"] == allowed)
      #expect(plain.fields["access-control-allow-methods"] == nil)
      let answer = try client.request(
        "OPTIONS", target,
        ["Origin": "https://app.example", "Access-Control-Request-Method": "GET"])
      #expect(answer.status == 204 && answer.body.isEmpty, "\(target)")
      #expect(answer.fields["allow"] == allowed)
      // Pages of other origins may read and no more.
      let reading = allowed.replacing("POST, ", with: "").replacing(
        "PUT, PATCH, DELETE, ", with: "")
      #expect(answer.fields["access-control-allow-methods"] == reading)
      #expect(answer.fields["access-control-allow-origin"] == "*")
    }
    #expect(try client.request("OPTIONS", "/nope").status == 404)
  }

  @Test func `a preflight allows whatever fields an app sends along`() throws {
    let client = try Self.service.client()
    for (asked, allowed) in [
      ("traceparent,content-type, X-My_App", "traceparent, content-type, X-My_App"),
      ("authorization", "authorization"),
    ] {
      let answer = try client.request(
        "OPTIONS", "/rp/",
        ["Access-Control-Request-Method": "GET", "Access-Control-Request-Headers": asked])
      #expect(answer.fields["access-control-allow-headers"] == allowed)
      #expect(answer.fields["vary"] == "Access-Control-Request-Headers")
    }
    let write = try client.request(
      "OPTIONS", "/v1/items/x/counters",
      ["Access-Control-Request-Method": "POST", "Access-Control-Request-Headers": "authorization"])
    #expect(write.fields["access-control-allow-headers"]?.lowercased().contains("auth") == false)
    for wrong in ["a b", "a,,b", "x: y", "é"] {
      let answer = try client.request(
        "OPTIONS", "/rp/",
        ["Access-Control-Request-Method": "GET", "Access-Control-Request-Headers": wrong])
      #expect(answer.fields["access-control-allow-headers"]?.contains("If-None-Match") == true)
      #expect(answer.fields["access-control-allow-headers"]?.contains(wrong) == false)
    }
  }

  @Test func `unknown values are absent`() throws {
    let service = try RunningServer([
      .post(Post(id: "bare", type: .text), placements: [Placement(feed: "f")])
    ])
    let answer = try service.client().get("/rp/?feed=f")
    let item = try #require((answer.json["items"] as? [[String: Any]])?.first)
    #expect(Set(item.keys) == ["id", "type", "prefetch"])
    #expect(answer.value("feed.title", as: String.self) == nil)
    #expect(answer.value("prefetch.nextPageAt", as: Int.self) == nil)
  }

  @Test func `ids of any text are reached through their encoding`() throws {
    let ids = ["a b", "a/b", "ä", "a%2Fb", "a+b", "a?b#c", "🎞", "offset:x", "..", "e\u{301}"]
    let service = try RunningServer(ids.map { .timed($0, 5, feed: "a/b ü") })
    let client = try service.client()
    for id in ids {
      let encoded = try #require(
        id.addingPercentEncoding(withAllowedCharacters: .alphanumerics))
      #expect(try client.get("/v1/items/\(encoded)").value("id") == id)
    }
    let page = try client.get("/rp/?feed=a%2Fb+%C3%BC&limit=3")
    let next: String = try #require(page.value("paging.links.next"))
    #expect(try client.get(next).itemIDs.count == 3)
    #expect(try client.get("/v1/feeds/a%2Fb%20%C3%BC").value("total") == ids.count)
    let link: String = try #require(
      try client.get("/v1/feeds/a%2Fb%20%C3%BC").value("links.items"))
    #expect(try client.get(link).itemIDs.count == ids.count)
  }

  @Test func `readiness turns with a drain`() throws {
    let service = try RunningServer(configure: { $0.drainGraceMilliseconds = 5_000 })
    let client = try service.client()
    #expect(try client.get("/readyz").status == 200)
    service.drain()
    let answer = try client.get("/readyz")
    #expect(answer.status == 503)
    #expect(answer.fields["retry-after"] != nil)
    #expect(try client.get("/healthz").status == 200)
  }
}
