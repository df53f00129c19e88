import Catalog
import Feed
import Foundation
import JSON
import ModelStore
import PostJSON
import Prefetch
import TestSupport
import Testing

/// `POST /v1/plan`.
@Suite struct PlanRouteTests {
  private static let folder = Repository.url("Fixtures/plan")

  private static func lines(_ name: String) throws -> [Substring] {
    try String(contentsOf: folder.appendingPathComponent(name), encoding: .utf8)
      .split(separator: "\n")
  }

  /// A server of the items of the vectors' states, with what is known of their files.
  private static func service() throws -> RunningServer {
    let first = try JSONDocument(Array(lines("moments.in.ndjson")[0].utf8)).root
    let items = try PlanRequest(json: first, byID: false).snapshot.items
    let store = ModelStore()
    try store.load(
      items.enumerated().map { rank, item in
        .post(
          Post(
            id: item.id, type: item.type,
            media: item.media.map {
              Media(kind: $0.files[0].load.kind, url: "/media/\($0.files[0].key)")
            }),
          placements: [Placement(feed: "moments", rank: rank)])
      }, batch: 100)
    try store.keep(
      items.flatMap(\.media).enumerated().map { index, media in
        let file = media.files[0]
        return KnownMedia(
          url: "/media/\(file.key)",
          truth: MediaTruth(
            kind: file.load.kind == .video ? .video : .image, bytes: file.load.bytes ?? 0,
            mimeType: "video/mp4", durationMilliseconds: file.load.durationMilliseconds,
            start: file.load.timing,
            version: .content(sha256: [UInt8](repeating: UInt8(index), count: 32))))
      })
    return try RunningServer(on: store)
  }

  private static func post(_ client: TestClient, _ body: String) throws -> TestAnswer {
    try client.request("POST", "/v1/plan", ["Content-Type": "application/json"], body: body)
  }

  @Test func `what is known to be gone is unavailable, costs nothing and is in no plan`() throws {
    let store = ModelStore()
    let kinds: [(String, PostType, MediaKind)] = [
      ("v", .video, .video), ("i", .image, .image), ("s", .audio, .audio), ("w", .video, .video),
    ]
    try store.load(
      kinds.enumerated().map { rank, item in
        let media = Media(kind: item.2, url: "/media/\(item.0)", width: 640, bytes: 9_000)
        return .post(
          Post(id: item.0, type: item.1, media: [media]),
          placements: [Placement(feed: "f", rank: rank)])
      })
    let service = try RunningServer(on: store)
    let client = try service.client()
    func planned() throws -> [String] {
      let page = try client.get("/rp/?feed=f&network=wifi").json
      let plan = (page["prefetch"] as? [String: Any])?["plan"] as? [[String: Any]] ?? []
      return plan.compactMap { $0["media"] as? String }
    }
    func fetched() throws -> [String] {
      let state: [String: Any] = [
        "at": 1_000, "items": kinds.map(\.0), "active": "v",
        "strategy": ["name": "weighted", "parameters": ["leading": 3, "maxCost": 2]],
      ]
      let body = try JSONSerialization.data(withJSONObject: state)
      let answer = try Self.post(client, String(decoding: body, as: UTF8.self))
      #expect(answer.status == 200, "\(answer.text)")
      return (answer.json["actions"] as? [[String: Any]] ?? []).compactMap { $0["key"] as? String }
    }
    #expect(try planned() == ["v.0", "i.0", "s.0", "w.0"])
    let urls = ["/media/v", "/media/i", "/media/s"]
    try store.keep(urls.map { KnownMedia(url: $0, truth: .unavailable) })
    #expect(try planned() == ["w.0"])
    #expect(try Set(fetched()) == ["w.0"])
    for (id, type, kind) in kinds.prefix(3) {
      let text = try client.get("/v1/items/\(id)").text
      #expect(
        text.contains(
          #""kind":"\#(kind.rawValue)","url":"/media/\#(id)","width":640,"unavailable":true}]"#),
        "\(text)")
      #expect(text.contains(#""type":"\#(type.rawValue)""#))
      #expect(text.contains(#""minimumBytes":0,"entireBytes":0}"#), "\(text)")
      let record = try client.get("/v1/items/\(id)/record").text
      #expect(record.contains(#""bytes":9000"#) && !record.contains("unavailable"))
    }
    try store.forget(urls)
    #expect(try planned() == ["v.0", "i.0", "s.0", "w.0"])
  }

  @Test func `the vectors' moments, items named by their ids alone, get the same answers`() throws {
    let service = try Self.service()
    let client = try service.client()
    let outputs = try Self.lines("moments.out.ndjson")
    var count = 0
    for (input, output) in zip(try Self.lines("moments.in.ndjson"), outputs) {
      var state =
        try JSONSerialization.jsonObject(with: Data(input.utf8)) as? [String: Any] ?? [:]
      let items = state["items"] as? [[String: Any]] ?? []
      state["items"] = items.map { $0["id"] ?? "" }
      let body = try JSONSerialization.data(withJSONObject: state)
      let answer = try Self.post(client, String(decoding: body, as: UTF8.self))
      #expect(answer.status == 200)
      #expect(answer.text == output, "line \(count + 1)")
      #expect(answer.fields["cache-control"] == "no-store")
      #expect(answer.fields["access-control-allow-origin"] == "*")
      count += 1
    }
    #expect(count == outputs.count && count > 40)
  }

  typealias Refusal = (body: String, status: Int, type: String, text: String)

  @Test(
    arguments: [
      ("{", 422, "invalid-record", "The state is refused: is not JSON"),
      (#"{"items":["p0"],"later":1}"#, 422, "invalid-record", "later: unknown field"),
      (#"{"items":[{"id":"p0"}]}"#, 422, "invalid-record", "items[0]: is not a text"),
      (#"{"items":["p0","nobody"]}"#, 404, "unknown-item", #""field":"items[1]""#),
      (#"{"items":["p0"],"feed":"none"}"#, 404, "unknown-feed", #""field":"feed""#),
      (
        #"{"items":["p0"],"strategy":{"name":"later"}}"#, 422, "invalid-record",
        "there is no strategy"
      ),
    ] as [Refusal])
  func `a state that cannot be taken is refused, with what is wrong`(_ sample: Refusal) throws {
    let service = try Self.service()
    let answer = try Self.post(try service.client(), sample.body)
    #expect(answer.status == sample.status)
    #expect(answer.text.contains("urn:lookahead:problem:\(sample.type)"))
    #expect(answer.text.contains(sample.text), "\(answer.text)")
  }

  @Test func `a body that is too large, of another type, or with too many items is refused`() throws
  {
    let store = ModelStore()
    let service = try RunningServer(on: store) { $0.server.limits.bodyBytes = 4_000 }
    let client = try service.client()
    let large = "{\"items\":[" + String(repeating: " ", count: 4_000) + "]}"
    #expect(try Self.post(client, large).status == 413)
    let other = try service.client().request(
      "POST", "/v1/plan", ["Content-Type": "text/plain"], body: "{}")
    #expect(other.status == 415)
    let many = "{\"items\":[" + (0..<201).map { "\"\($0)\"" }.joined(separator: ",") + "]}"
    let refused = try Self.post(try service.client(), many)
    #expect(refused.status == 422)
    #expect(refused.text.contains("has 201 elements, more than 200"))
  }

  @Test func `without a strategy the policy of the feed on such a network decides`() throws {
    let service = try Self.service()
    let client = try service.client()
    // The model's policies are the first ones of the database.
    let plan = try Self.post(
      client, #"{"items":["p0","p1","p2","p4"],"network":{"downlink":780,"rtt":200}}"#)
    #expect(plan.status == 200)
    #expect(plan.text.contains(#""do":"fetch","transfer":1,"item":"p0""#))
  }

  @Test(arguments: [(downlink: 100_000, key: "clip.0"), (250, "clip.0:0")])
  func `a clip's variant is loaded where the network does not carry the clip`(
    _ sample: (downlink: Int, key: String)
  ) throws {
    let service = try Self.serviceOfVariants()
    let plan = try Self.post(
      try service.client(),
      #"{"items":["clip"],"network":{"downlink":\#(sample.downlink),"rtt":50},"#
        + #""strategy":{"name":"expected-wait","parameters":{"price":1500,"quantilePercent":25,"#
        + #""stepBytes":16384,"futures":24,"leading":12,"qualityMilliseconds":200}}}"#)
    #expect(plan.status == 200)
    #expect(plan.text.contains(#""key":"\#(sample.key)""#), "\(plan.text)")
  }

  /// A server of a clip with two variants.
  private static func serviceOfVariants() throws -> RunningServer {
    let store = ModelStore()
    try store.load(
      [
        .post(
          Post(id: "clip", type: .video, media: [Media(kind: .video, url: "/media/clip")]),
          placements: [Placement(feed: "f")])
      ], batch: 1)
    func truth(_ bytes: Int, _ variants: [MediaVariant] = []) -> MediaTruth {
      MediaTruth(
        kind: .video, bytes: bytes, mimeType: "video/mp4", durationMilliseconds: 10_000,
        start: MediaTiming(
          headBytes: bytes / 20, curve: [.init(milliseconds: 10_000, bytes: bytes)],
          lead: [.init(kilobitsPerSecond: 100, bytes: bytes / 2)]),
        version: .content(sha256: [UInt8](repeating: UInt8(variants.count), count: 32)),
        variants: variants)
    }
    let variants = [80_000, 900_000].map { bytes in
      MediaVariant(url: "/media/_renditions/\(bytes)", truth: truth(bytes))
    }
    try store.keep([KnownMedia(url: "/media/clip", truth: truth(2_000_000, variants))])
    return try RunningServer(on: store)
  }

  @Test(arguments: ["clip.0", "clip.0:0", "clip.0:1"])
  func `the file of which a client has something goes on, whatever the network says`(
    _ key: String
  ) throws {
    let service = try Self.serviceOfVariants()
    let plan = try Self.post(
      try service.client(),
      #"{"items":["clip"],"network":{"downlink":700,"rtt":50},"#
        + #""held":[{"key":"\#(key)","ranges":[[0,9]]}],"strategy":{"name":"expected-wait","#
        + #""parameters":{"price":1500,"quantilePercent":25,"stepBytes":16384,"futures":24,"#
        + #""leading":12,"qualityMilliseconds":200}}}"#)
    #expect(plan.status == 200)
    #expect(plan.text.contains(#""key":"\#(key)","range":[10,"#), "\(plan.text)")
  }

  @Test func `who comes to an item is counted, and a loader where its start is not there`() throws {
    let store = ModelStore()
    let known = Media(kind: .image, url: "/media/a", bytes: 1000)
    let posts = [
      Post(id: "a", type: .image, media: [known]),
      Post(id: "w", type: .webapp, url: "https://x.example"),
      Post(id: "v", type: .video, media: [Media(kind: .video, url: "/media/v", bytes: 900)]),
    ]
    try store.load(
      posts.map { .post($0, placements: [Placement(feed: "f")]) }, batch: 10)
    let service = try RunningServer(on: store)
    let client = try service.client()
    func come(to item: String, held: String = "", rest: String = #","activeForMs":0"#) throws {
      let body =
        #"{"items":["a","w","v"],"active":"\#(item)","held":[\#(held)]\#(rest),"#
        + #""strategy":{"name":"plain","parameters":{"leading":2}}}"#
      #expect(try Self.post(client, body).status == 200)
    }
    try come(to: "a")
    try come(to: "a", held: #"{"key":"a.0","ranges":[[0,998]]}"#)
    try come(to: "a", held: #"{"key":"a.0","ranges":[[0,999]]}"#)
    try come(to: "v")
    // Another program's page; a plan for whom who has been there; one that does not say.
    try come(to: "w")
    try come(to: "a", rest: #","activeForMs":1"#)
    try come(to: "a", rest: "")
    let figures = try client.get("/metrics").text
    for line in [
      #"lookahead_plan_items_total{strategy="plain"} 5"#,
      #"lookahead_plan_loaders_total{kind="image",strategy="plain"} 2"#,
      #"lookahead_plan_loaders_total{kind="video",strategy="plain"} 1"#,
    ] { #expect(figures.contains("\n\(line)\n"), "\(line)") }
  }

  @Test func `a browser of another origin may ask`() throws {
    let service = try Self.service()
    let answer = try service.client().request(
      "OPTIONS", "/v1/plan",
      ["Origin": "https://app.example", "Access-Control-Request-Method": "POST"])
    #expect(answer.status == 204)
    #expect(answer.fields["access-control-allow-methods"]?.contains("POST") == true)
    #expect(answer.fields["access-control-allow-headers"]?.contains("Content-Type") == true)
  }
}
