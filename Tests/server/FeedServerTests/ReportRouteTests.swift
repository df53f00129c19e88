import Catalog
import Feed
import Foundation
import ModelStore
import PostJSON
import Reports
import Synchronization
import TestSupport
import Testing

@testable import FeedServer

/// `POST /v1/reports` and `GET /v1/live`.
@Suite struct ReportRouteTests {
  private static let records = [
    SeedRecord.post(Post(id: "a", type: .text), placements: [Placement(feed: "featured", rank: 1)])
  ]

  private static func service(
    _ configure: (inout ReportSettings) -> Void = { _ in }
  ) throws -> RunningServer {
    try RunningServer(records) { configuration in
      configuration.reports.flushMilliseconds = 10
      configuration.reports.leastSessions = 1
      configuration.reports.perMinute = 0
      configure(&configuration.reports)
    }
  }

  private static func json(
    _ session: Int, _ part: Int = 0, _ members: String = #""items":10,"loaders":{"image":1}"#
  ) -> String {
    #"{"session":"session-number-\#(session)","part":\#(part),"feed":"featured","policy":"p","#
      + #""network":{"downlink":780,"rtt":200},\#(members)}"#
  }

  private static func post(
    _ client: TestClient, _ body: String, as type: String? = "application/json",
    to path: String = "/v1/reports", _ fields: [String: String] = [:]
  ) throws -> TestAnswer {
    var fields = fields
    fields["Content-Type"] = type
    return try client.request("POST", path, fields, body: body)
  }

  /// The total, once this many parts have been counted.
  private static func total(_ client: TestClient, parts: Int) throws -> [String: Any] {
    var total: [String: Any] = [:]
    try eventually {
      total = try client.get("/v1/live").value("total") ?? [:]
      return total["parts"] as? Int == parts
    }
    return total
  }

  @Test func `what clients report is counted, once, and shown`() throws {
    let service = try Self.service()
    let client = try service.client()
    for session in 0..<3 {
      for part in [0, 1, 0, 1] {
        let answer = try Self.post(client, Self.json(session, part))
        #expect(answer.status == 202 && answer.body.isEmpty)
        #expect(answer.fields["access-control-allow-origin"] == "*")
      }
    }
    let total = try Self.total(client, parts: 6)
    #expect(total["sessions"] as? Int == 3)
    #expect(total["items"] as? Int == 60)
    #expect(total["loadersPer1000"] as? Double == 100)
    #expect(total["sessionsOfOneAddress"] as? Int == 3)
    let live = try client.get("/v1/live?feed=featured&hours=1")
    let policies: [String: Any] = try #require(live.value("policies"))
    let group = try #require((policies["groups"] as? [[String: Any]])?.first)
    #expect(group["network"] as? String == "3g" && group["policy"] as? String == "p")
    #expect(live.fields["cache-control"] == "no-store")
    // Those of before are known after they were written, too.
    #expect(try Self.post(client, Self.json(0, 0)).status == 202)
    #expect(try Self.post(client, Self.json(9, 0)).status == 202)
    #expect(try Self.total(client, parts: 7)["sessions"] as? Int == 4)
    let figures = try client.get("/metrics").text
    #expect(figures.contains("lookahead_reports_total{outcome=\"repeated\"} 7"), "\(figures)")
    #expect(figures.contains("lookahead_reports_total{outcome=\"counted\"} 7"))
  }

  @Test func `beacons say text/plain, and players CMCD`() throws {
    let service = try Self.service()
    let client = try service.client()
    #expect(try Self.post(client, Self.json(1), as: "text/plain;charset=UTF-8").status == 202)
    #expect(try Self.post(client, " \n" + Self.json(2), as: nil).status == 202)
    let lines = """
      e=ps,sid="s",sn=0,sta=s,ts=1000,v=2
      e=ps,sid="s",sn=1,sta=p,msd=900,mtp=(780),ts=2000,v=2

      """
    let path = "/v1/reports?feed=featured&policy=player&arm=b"
    for type in ["application/cmcd", "text/plain", "application/cmcd; charset=utf-8"] {
      #expect(try Self.post(client, lines, as: type, to: path).status == 202)
    }
    let total = try Self.total(client, parts: 4)
    #expect(total["sessions"] as? Int == 3 && total["items"] as? Int == 21)
    let policies: [String: Any] = try #require(client.get("/v1/live").value("policies"))
    let groups = try #require(policies["groups"] as? [[String: Any]])
    #expect(
      groups.contains {
        $0["policy"] as? String == "player" && $0["arm"] as? String == "b"
          && $0["network"] as? String == "3g"
      })
  }

  @Test func `what is no report is refused and counts nothing`() throws {
    let service = try Self.service { $0.bytes = 500 }
    let client = try service.client()
    let cases: [(String, String?, String, Int, String)] = [
      (Self.json(1, 0, #""item":1"#), "application/json", "/v1/reports", 422, "invalid-record"),
      ("{", "text/plain", "/v1/reports", 422, "invalid-record"),
      ("", nil, "/v1/reports", 422, "invalid-record"),
      ("e=t,sid=\"a\"\ne", "application/cmcd", "/v1/reports", 422, "invalid-record"),
      (Self.json(1), "application/xml", "/v1/reports", 415, "unsupported-media-type"),
      (Self.json(1), "application/json", "/v1/reports?feed=no", 404, "unknown-feed"),
      (
        Self.json(1).replacing("featured", with: "no"), "application/json", "/v1/reports", 404,
        "unknown-feed"
      ),
      (Self.json(1), "application/json", "/v1/reports?fed=a", 400, "invalid-parameter"),
      (Self.json(1), "application/json", "/v1/reports?arm=%01", 400, "invalid-parameter"),
      (
        "e=t,sid=\"a\"", "application/cmcd",
        "/v1/reports?policy=" + String(repeating: "p", count: 101), 400, "invalid-parameter"
      ),
      (
        Self.json(1) + String(repeating: " ", count: 500), "application/json", "/v1/reports", 413,
        "limit-exceeded"
      ),
    ]
    for (body, type, path, status, kind) in cases {
      let client = try service.client()
      let answer = try Self.post(client, body, as: type, to: path)
      #expect(answer.status == status, "\(body): \(answer.text)")
      #expect(answer.value("type") == "urn:lookahead:problem:\(kind)")
    }
    #expect(
      try Self.post(client, Self.json(1), as: nil, ["Content-Encoding": "gzip"]).status == 415)
    for path in ["/v1/live?hours=0", "/v1/live?hours=721", "/v1/live?feed="] {
      #expect(try client.get(path).status == 400)
    }
    #expect(try client.get("/v1/live?feed=no").status == 404)
    #expect(try Self.post(client, Self.json(7)).status == 202)
    #expect(try Self.total(client, parts: 1)["sessions"] as? Int == 1)
  }

  @Test func `a browser may report from any origin, and is told when reports are off`() throws {
    let service = try Self.service { $0.taken = .off }
    let client = try service.client()
    let answer = try Self.post(client, Self.json(1))
    #expect(answer.status == 410)
    #expect(answer.value("type") == "urn:lookahead:problem:reports-off")
    let preflight = try client.request(
      "OPTIONS", "/v1/reports", ["Access-Control-Request-Method": "POST", "Origin": "https://a"])
    #expect(preflight.status == 204)
    #expect(preflight.fields["access-control-allow-methods"]?.contains("POST") == true)
  }

  @Test func `of fewer sessions than the limit nothing is shown`() throws {
    let service = try Self.service { $0.leastSessions = 3 }
    let client = try service.client()
    for session in 0..<2 { _ = try Self.post(client, Self.json(session)) }
    eventually { service.store.reportCount == 2 }
    let live = try client.get("/v1/live")
    #expect(live.json["total"] == nil)
    #expect(live.value("leastSessions") == 3)
    _ = try Self.post(client, Self.json(2))
    #expect(try Self.total(client, parts: 3)["sessions"] as? Int == 3)
  }

  @Test func `an address, a session and what waits are bounded`() throws {
    let service = try Self.service { $0.perMinute = 5 }
    let client = try service.client()
    let statuses = try (0..<8).map { try Self.post(client, Self.json($0)).status }
    #expect(statuses == [202, 202, 202, 202, 202, 429, 429, 429])

    let bounded = try Self.service { $0.sessionItems = 25 }
    let second = try bounded.client()
    #expect(
      try (0..<4).map { try Self.post(second, Self.json(1, $0)).status } == [202, 202, 429, 429])
    #expect(try Self.post(second, Self.json(2)).status == 202)
    #expect(try Self.total(second, parts: 3)["items"] as? Int == 30)

    let waiting = try Self.service {
      $0.queue = 2
      $0.flushMilliseconds = 3_600_000
    }
    let third = try waiting.client()
    let answers = try (0..<3).map { try Self.post(third, Self.json($0)) }
    #expect(answers.map(\.status) == [202, 202, 503])
    #expect(answers[2].fields["retry-after"] != nil)
  }

  @Test func `what was reported is written when the server ends`() throws {
    let store = ModelStore()
    try store.load(Self.records, batch: 10)
    do {
      let service = try RunningServer(on: store) {
        $0.reports.flushMilliseconds = 3_600_000
        $0.reports.perMinute = 0
      }
      let client = try service.client()
      for session in 0..<20 { _ = try Self.post(client, Self.json(session)) }
      #expect(store.reportCount == 0)
    }
    #expect(store.reportCount == 20)
    // The next server knows them.
    let next = try RunningServer(on: store) {
      $0.reports.flushMilliseconds = 10
      $0.reports.leastSessions = 1
    }
    let client = try next.client()
    for session in 0..<21 { #expect(try Self.post(client, Self.json(session)).status == 202) }
    #expect(try Self.total(client, parts: 21)["sessions"] as? Int == 21)
  }

  // MARK: Shared sessions

  /// What a session of one look shares, as a member of a report.
  private static func record(_ lines: String = looked) -> String {
    let escaped = lines.replacing("\"", with: "\\\"").replacing("\n", with: "\\n")
    return #""items":1,"until":9000,"record":"\#(escaped)""#
  }

  private static let looked = """
    {"at":0,"event":"pageArrived","place":"anew","items":[{"id":"1","type":"image","media":[{"key":"1","kind":"image","bytes":9}]}]}
    {"at":1,"actions":[{"do":"fetch","transfer":1}]}
    {"at":2,"seen":"1","ready":false,"direction":"down"}
    {"at":90,"event":"bytesArrived","transfer":1,"key":"1","range":[0,8]}
    {"at":800,"left":"1","dwellMs":798,"waitMs":88}

    """

  private static func names(_ folder: TemporaryFolder) throws -> [String] {
    try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted()
  }

  @Test func `sessions that are asked share what they were, as files that say nothing of them`()
    throws
  {
    let folder = TemporaryFolder()
    let service = try Self.service {
      ($0.recordPermille, $0.recordFolder) = (250, folder.path)
    }
    let client = try service.client()
    for target in ["/rp/?feed=featured", "/v1/feeds/featured/items"] {
      // The second time from what is kept, and as a 304.
      let page = try client.get(target)
      #expect(page.fields["record-share"] == "250" && page.fields["report-token"] == nil)
      #expect(page.fields["access-control-expose-headers"]?.contains("Record-Share") == true)
      #expect(try client.get(target).fields["record-share"] == "250")
      let tag = try #require(page.fields["etag"])
      let same = try client.get(target, ["If-None-Match": tag])
      #expect(same.status == 304 && same.fields["record-share"] == "250")
    }
    #expect(try client.get("/v1/items/a?feed=featured").fields["record-share"] == nil)

    // The same part twice is one session; its policy is known by its text.
    let report = Self.json(1, 0, Self.record()).replacing(
      #""policy":"p""#, with: #""policy":"plain:leading=3""#)
    for _ in 0..<2 { #expect(try Self.post(client, report).status == 202) }
    #expect(try Self.post(client, Self.json(2, 0, Self.record())).status == 202)
    #expect(try eventually { try Self.names(folder).contains { $0.hasSuffix(".ndjson") } })
    _ = try Self.total(client, parts: 2)
    let names = try Self.names(folder)
    #expect(names.count == 1 && !names[0].contains("session"))
    let path = folder.file(try #require(names.first))
    let log = try SessionLog(Array(try Data(contentsOf: URL(fileURLWithPath: path))))
    #expect(log.looks.count == 1 && log.start.policy.strategy == .plain(leading: 3))
    let attributes = try FileManager.default.attributesOfItem(atPath: path)
    let modified = try #require(attributes[.modificationDate] as? Date)
    #expect(Int(modified.timeIntervalSince1970) % 86_400 == 0)
    #expect(attributes[.posixPermissions] as? Int == 0o600)
    // Of a policy that nobody knows a replay would not know what it replays.
    let figures = try client.get("/metrics").text
    #expect(figures.contains(#"lookahead_recordings_total{outcome="kept"} 1"#), "\(figures)")
    #expect(figures.contains(#"lookahead_recordings_total{outcome="passedOver"} 1"#))
  }

  @Test func `what is no session is refused by its line, and without being asked nothing is kept`()
    throws
  {
    let folder = TemporaryFolder()
    let asking = try Self.service { ($0.recordPermille, $0.recordFolder) = (1_000, folder.path) }
    let client = try asking.client()
    for (lines, words) in [
      ("{}\n", "line 1: "), (Self.looked + "{\"at\":1,\"event\":\"x\"}\n", "line 6: "),
      ("{\"at\":1,\"cut\":true}\n", "no item was viewed"),
    ] {
      let body = Self.json(3, 0, Self.record(lines))
        .replacing(#""policy":"p""#, with: #""policy":"endless""#)
      let answer = try Self.post(client, body)
      #expect(answer.status == 422 && answer.value("field") == "record", "\(answer.text)")
      #expect(answer.text.contains(words), "\(answer.text)")
    }
    let long = String(repeating: "{\"at\":1,\"cut\":true}\n", count: 2_100)
    #expect(
      try Self.post(client, Self.json(3, 0, Self.record(long))).text.contains("more than 40000"))
    for configure in [
      { (settings: inout ReportSettings) in settings.recordFolder = folder.path },
      { (settings: inout ReportSettings) in settings.recordPermille = 1_000 },
    ] {
      let silent = try Self.service(configure)
      let other = try silent.client()
      #expect(try other.get("/rp/?feed=featured").fields["record-share"] == nil)
      // One that was asked before the server began anew.
      #expect(try Self.post(other, Self.json(4, 0, Self.record())).status == 202)
      _ = try Self.total(other, parts: 1)
    }
    #expect(try Self.names(folder).isEmpty)
  }

  @Test func `the folder of sessions is bounded, and the oldest go`() throws {
    let folder = TemporaryFolder()
    let now = Int(Date().timeIntervalSince1970)
    func make(_ name: String, days: Int, bytes: Int) throws {
      let path = try folder.write(String(repeating: "x", count: bytes), to: name)
      try FileManager.default.setAttributes(
        [.modificationDate: Date(timeIntervalSince1970: Double(now - days * 86_400))],
        ofItemAtPath: path)
    }
    try make("old.ndjson", days: 40, bytes: 10)
    try make("second.ndjson", days: 3, bytes: 600_000)
    try make("third.ndjson", days: 2, bytes: 600_000)
    try make(".new-left", days: 3, bytes: 10)
    try make(".new-now", days: 0, bytes: 10)
    try make("notes.txt", days: 90, bytes: 10)
    let service = try Self.service {
      ($0.recordPermille, $0.recordFolder, $0.recordBytes) = (1, folder.path, 1 << 20)
    }
    let client = try service.client()
    try eventually { try Self.names(folder).count == 3 }
    #expect(try Self.names(folder) == [".new-now", "notes.txt", "third.ndjson"])
    // A folder that is away costs the session, and no report.
    try FileManager.default.removeItem(atPath: folder.path)
    let report = Self.json(1, 0, Self.record())
      .replacing(#""policy":"p""#, with: #""policy":"endless""#)
    #expect(try Self.post(client, report).status == 202)
    #expect(try Self.total(client, parts: 1)["sessions"] as? Int == 1)
    #expect(
      try eventually {
        try client.get("/metrics").text
          .contains(#"lookahead_recordings_total{outcome="failed"} 1"#)
      })
  }
}

/// `--reports signed`.
@Suite struct SignedReportTests {
  private static let records = ["featured", "other"].enumerated().map { index, feed in
    SeedRecord.post(
      Post(id: "p\(index)", type: .text), placements: [Placement(feed: feed, rank: 1)])
  }
  private static let keys = ["a", "b", "c"].map { String(repeating: $0, count: 32) }
  private static let page = "/rp/?feed=featured&limit=5"

  private static func service(
    keys: [String] = [keys[0]], taken: ReportSettings.Taken = .signed,
    now: @escaping @Sendable () -> Int = { 1_000 }
  ) throws -> RunningServer {
    try RunningServer(records) { configuration in
      configuration.reports.flushMilliseconds = 10
      configuration.reports.leastSessions = 1
      configuration.reports.perMinute = 0
      configuration.reports.taken = taken
      configuration.reports.keys = keys.map { Array($0.utf8) }
      configuration.reports.tokenSeconds = 500
      configuration.reportTokenClock = now
    }
  }

  private static func post(
    _ client: TestClient, _ session: String, token: String?, feed: String = "featured",
    query: String = ""
  ) throws -> TestAnswer {
    let token = token.map { #","token":"\#($0)""# } ?? ""
    return try client.request(
      "POST", "/v1/reports\(query)", ["Content-Type": "application/json"],
      body:
        #"{"session":"session-number-\#(session)","part":0,"feed":"\#(feed)","items":1\#(token)}"#
    )
  }

  @Test func `a report carries the token of a page of its feed, from any server with the key`()
    throws
  {
    let service = try Self.service()
    let client = try service.client()
    let token = try #require(try client.get(Self.page).fields["report-token"])
    let cases: [(name: String, token: String?, feed: String, status: Int)] = [
      ("right", token, "featured", 202), ("right-again", token, "featured", 202),
      ("without", nil, "featured", 403), ("without-feed", token, "", 403),
      ("other-feed", token, "other", 403), ("empty", "", "featured", 403),
      ("later-expiry", "9\(token)", "featured", 403),
      ("cut", String(token.dropLast()), "featured", 403),
      ("longer", token + "0", "featured", 403), ("no-code", "1500.", "featured", 403),
      ("no-number", "x.y", "featured", 403),
      ("too-long", String(repeating: "1", count: 101), "featured", 422),
    ]
    for (name, token, feed, status) in cases {
      let answer = try Self.post(client, name, token: token, feed: feed)
      #expect(answer.status == status, "\(name): \(answer.text)")
      guard status == 403 else { continue }
      #expect(answer.value("type") == "urn:lookahead:problem:wrong-report-token")
      let detail: String = try #require(answer.value("detail"))
      #expect(detail.contains("session-number-\(name)"), "\(detail)")
      #expect(answer.fields["access-control-allow-origin"] == "*")
    }
    // A server that signs with another key takes what this one signed, as long as it has its key.
    for (keys, status) in [([Self.keys[1], Self.keys[0]], 202), ([Self.keys[1]], 403)] {
      let other = try Self.service(keys: keys)
      #expect(try Self.post(other.client(), "moved", token: token).status == status)
    }
  }

  @Test func `a token of each page, whether or not it was kept, and of no other answer`() throws {
    let service = try Self.service()
    let client = try service.client()
    var tags: Set<String?> = []
    for _ in 0..<4 {
      let answer = try client.get(Self.page)
      tags.insert(answer.fields["etag"])
      let token = try #require(answer.fields["report-token"])
      #expect(try Self.post(client, "first", token: token).status == 202)
      #expect(answer.fields["access-control-expose-headers"]?.contains("Report-Token") == true)
      let tag = try #require(answer.fields["etag"])
      let known = try client.get(Self.page, ["If-None-Match": tag])
      #expect(known.status == 304 && known.fields["report-token"] == token)
    }
    #expect(tags.count == 1)
    let long = try client.get("/v1/feeds/featured/items?limit=5", ["Prefer": "server-timing"])
    #expect(try Self.post(client, "long", token: long.fields["report-token"]).status == 202)
    for path in ["/rp/?feed=none", "/v1/feeds", "/v1/items/p0", Self.page + "&limit=5"] {
      #expect(try client.get(path).fields["report-token"] == nil, "\(path)")
    }
    // Without a key there are none, and with one they may be carried before they must be.
    let keyless = try Self.service(keys: [], taken: .on)
    #expect(try keyless.client().get(Self.page).fields["report-token"] == nil)
    let open = try Self.service(taken: .on)
    let early = try open.client()
    #expect(try early.get(Self.page).fields["report-token"] != nil)
    for token in [nil, "1.2"] {
      #expect(try Self.post(early, "early-\(token ?? "")", token: token).status == 202)
    }
  }

  @Test func `a token is over after its time`() throws {
    let now = Atomic(1_000)
    let service = try Self.service { now.load(ordering: .relaxed) }
    let client = try service.client()
    let token = try #require(try client.get(Self.page).fields["report-token"])
    for (time, status) in [(1_499, 202), (1_500, 403), (1_000_000, 403), (-5, 202)] {
      now.store(time, ordering: .relaxed)
      #expect(try Self.post(client, "at-\(time)", token: token).status == status, "\(time)")
    }
    // A kept page hands out a new one.
    now.store(2_000, ordering: .relaxed)
    let later = try #require(try client.get(Self.page).fields["report-token"])
    #expect(later != token && later.hasPrefix("2500."))
    #expect(try Self.post(client, "later", token: later).status == 202)
  }

  @Test func `players carry it in a line or in the query`() throws {
    let service = try Self.service()
    let client = try service.client()
    let token = try #require(try client.get(Self.page).fields["report-token"])
    func report(_ query: String, _ lines: String) throws -> Int {
      try client.request(
        "POST", "/v1/reports?feed=featured\(query)", ["Content-Type": "application/cmcd"],
        body: lines
      ).status
    }
    let line = "e=ps,sid=\"a\",sn=0,ts=1,v=2"
    #expect(try report("", line) == 403)
    #expect(try report("&token=\(token)", line) == 202)
    // One line is enough for a session, and no session speaks for another.
    let carried = line + "\ne=ps,sid=\"a\",sn=1,ts=2,io.lookahead-token=\"\(token)\""
    #expect(try report("", carried) == 202)
    #expect(try report("", carried + "\ne=ps,sid=\"b\",sn=0,ts=3") == 403)
    #expect(try Self.post(client, "query", token: nil, query: "?token=\(token)").status == 202)
  }
}

extension ModelStore {
  /// How many parts were counted.
  fileprivate var reportCount: Int {
    ((try? reportCells(since: 0)) ?? []).reduce(0) { $0 + $1.cell.parts }
  }
}

/// What reports say of items.
@Suite struct SeenItemsTests {
  private static let url = "/media/v.mp4"

  /// A server with a clip that plays ten seconds, of which is known that 100 bytes start it.
  private static func service(
    _ configure: (inout ReportSettings) -> Void = { _ in }
  ) throws -> RunningServer {
    let store = ModelStore()
    var post = Post(id: "v", type: .video)
    post.media = [Media(kind: .video, url: url)]
    try store.load([.post(post, placements: [Placement(feed: "featured", rank: 1)])], batch: 10)
    var truth = MediaTruth(
      kind: .video, bytes: 1_000, mimeType: "video/mp4",
      version: .content(sha256: Array(repeating: 7, count: 32)))
    truth.durationMilliseconds = 10_000
    truth.start = MediaTiming(headBytes: 100)
    try store.keep([KnownMedia(url: url, truth: truth)])
    return try RunningServer(on: store) { configuration in
      configuration.reports.flushMilliseconds = 10
      configuration.reports.leastSessions = 50
      configuration.reports.perMinute = 0
      configuration.reports.addressViews = 0
      configuration.reports.publishSeconds = 1
      configure(&configuration.reports)
    }
  }

  private static func post(
    _ client: TestClient, _ session: Int, _ members: String, part: Int = 0
  ) throws -> Int {
    try client.request(
      "POST", "/v1/reports", ["Content-Type": "application/json"],
      body: #"{"session":"session-number-\#(session)","part":\#(part),"feed":"featured","#
        + #""network":{"downlink":780,"rtt":200},"items":3,"until":90000,"seen":[\#(members)]}"#
    ).status
  }

  private static func seen(
    watched: Int, frame: Int? = 40, needed: Int = 100, version: String = "07070707"
  ) -> String {
    #"{"id":"v","version":"\#(version)","heldBytes":\#(needed),"neededBytes":\#(needed),"readyMs":0,"#
      + (frame.map { #""frameMs":\#($0),"# } ?? "") + #""watchedMs":\#(watched)}"#
  }

  @Test func `what people watch is learned, shown on pages and told to plans`() throws {
    let service = try Self.service()
    let client = try service.client()
    let before = try client.get("/rp/?feed=featured&limit=5")
    // Half leave at the beginning, half at the end; who left while waiting says nothing.
    for session in 0..<200 {
      #expect(
        try Self.post(client, session, Self.seen(watched: session % 2 == 0 ? 100 : 9_900)) == 202)
      #expect(try Self.post(client, 500 + session, #"{"id":"v","leftWaiting":true}"#) == 202)
    }
    var survival: [[Int]] = []
    eventually {
      let page = try? client.get("/rp/?feed=featured&limit=5")
      survival = (page?.items.first?["survival"] as? [[Int]]) ?? []
      return !survival.isEmpty
    }
    let curve = survival.map { WatchPoint(milliseconds: $0[0], permille: $0[1]) }
    #expect(abs(curve.permille(atMilliseconds: 5_000) - 500) < 20, "\(survival)")
    #expect(curve.permille(atMilliseconds: 10_000) == 0)
    let page = try client.get("/rp/?feed=featured&limit=5")
    #expect(page.fields["etag"] != before.fields["etag"])
    // The page is the same until the curve has moved.
    for session in 1_000..<1_004 { _ = try Self.post(client, session, Self.seen(watched: 100)) }
    eventually { service.store.views(of: "v") >= 204 }
    let again = try client.get("/rp/?feed=featured&limit=5")
    #expect(again.fields["etag"] == page.fields["etag"])
    let item = try client.get("/v1/items/v")
    #expect(item.json["survival"] as? [[Int]] == survival)
    let watching = try #require(try client.get("/v1/live").json["watching"] as? [[String: Any]])
    #expect(watching.first?["kind"] as? String == "video")
    #expect(watching.first?["aboveMs"] as? Int == 7_000)
  }

  @Test func `a session counts an item once an hour, an address so often, and what is unknown not`()
    throws
  {
    let service = try Self.service { $0.addressViews = 3 }
    let client = try service.client()
    let one = Self.seen(watched: 9)
    #expect(try Self.post(client, 1, "\(one),\(one)") == 202)
    #expect(try Self.post(client, 1, one, part: 1) == 202)
    for session in 2..<9 { #expect(try Self.post(client, session, one) == 202) }
    #expect(try Self.post(client, 10, #"{"id":"no","watchedMs":9,"readyMs":0}"#) == 202)
    eventually { service.store.views(of: "v") == 3 }
    let figures = try client.get("/metrics").text
    #expect(figures.contains("lookahead_report_items_total{outcome=\"counted\"} 3"), "\(figures)")
    #expect(service.store.views(of: "no") == 0)
  }

  @Test func `a promise that breaks is withdrawn, and told`() throws {
    let service = try Self.service()
    let client = try service.client()
    func start() throws -> Any? {
      let media = try client.get("/rp/?feed=featured&limit=5").items.first?["media"]
      return (media as? [[String: Any]])?.first?["start"]
    }
    #expect(try start() != nil)
    let page = try client.get("/rp/?feed=featured&limit=5").items.first?["media"]
    #expect((page as? [[String: Any]])?.first?["version"] as? String == "07070707")
    // Early, by a client that had another hint, and one whose page was of another file: none says anything.
    for session in 0..<60 {
      _ = try Self.post(client, session, Self.seen(watched: 9_000, frame: 9_000, needed: 99))
      let old = Self.seen(watched: 9_000, frame: 9_000, version: "07070708")
      _ = try Self.post(client, 200 + session, old)
      _ = try Self.post(client, 100 + session, Self.seen(watched: 9_000))
    }
    eventually { service.store.views(of: "v") == 180 }
    #expect(try start() != nil)
    var views = 0
    // The other item says that the client tells of frames.
    let frame = #"{"id":"no","readyMs":0,"frameMs":1}"#
    while try start() != nil, views < 200 {
      let late = Self.seen(watched: 9_000, frame: views % 2 == 0 ? 700 : nil)
      _ = try Self.post(client, 1_000 + views, "\(late),\(frame)")
      views += 1
      // What comes between the last view that counts and the page without its start does not count.
      try eventually { try service.store.views(of: "v") == 180 + views || start() == nil }
    }
    #expect(views < 60, "\(views)")
    let files = try #require(try client.get("/v1/live").json["files"] as? [[String: Any]])
    #expect(files.first?["url"] as? String == Self.url)
    #expect(
      files.first?["state"] as? String == "broken" && files.first?["network"] as? String == "3g")
    #expect(try client.get("/metrics").text.contains("lookahead_broken_promises_total 1"))
    #expect(try service.store.promises(.broken, limit: 9).map(\.url) == [Self.url])
  }
}

extension TestAnswer {
  fileprivate var items: [[String: Any]] { json["items"] as? [[String: Any]] ?? [] }
}

extension ModelStore {
  /// How many views of an item count.
  fileprivate func views(of item: String) -> Int {
    let items = (try? watchedItems(after: nil, limit: 99)) ?? []
    return items.first { $0.id == item }.map { Int($0.record.counts.views.rounded()) } ?? 0
  }
}
