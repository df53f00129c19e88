import Feed
import Foundation
import Observability
import Seeding
import TestSupport
import Testing

/// What an operator sees: figures and the lines of requests.
@Suite struct FiguresTests {
  @Test func `every request is counted and timed by its route`() throws {
    let service = try RunningService(PostGenerator(count: 40, seed: 1)) {
      $0.application.writeTokens = .only(RunningService.token)
    }
    let client = try service.client()
    _ = try client.get("/v1/feeds")
    for _ in 0..<3 { _ = try client.get("/rp/?feed=newest", ["Accept-Encoding": "gzip"]) }
    _ = try client.get("/v1/items/a")
    _ = try client.get("/v1/items/b")
    _ = try client.request(
      "PUT", "/v1/items/a", RunningService.authorized, body: #"{"type":"image"}"#)
    _ = try client.get("/nowhere")
    let answer = try client.get("/metrics")
    #expect(answer.status == 200)
    #expect(answer.fields["content-type"] == "text/plain; version=0.0.4; charset=utf-8")
    let lines = Set(answer.text.split(separator: "\n").map(String.init))
    for line in [
      #"lookahead_http_requests_total{method="GET",route="/rp/",status="200"} 3"#,
      #"lookahead_http_requests_total{method="GET",route="/v1/items/{id}",status="404"} 2"#,
      #"lookahead_http_requests_total{method="PUT",route="/v1/items/{id}",status="201"} 1"#,
      #"lookahead_http_requests_total{method="GET",route="none",status="404"} 1"#,
      #"lookahead_http_request_duration_seconds_count{route="/rp/"} 3"#,
      #"lookahead_http_request_duration_seconds_bucket{route="/rp/",le="+Inf"} 3"#,
      #"lookahead_http_connections 1"#,
      #"lookahead_http_connection_events_total{event="accepted"} 1"#,
      #"lookahead_pages_hits_total 2"#, #"lookahead_pages_misses_total 1"#,
      #"lookahead_encoded_bodies_misses_total 1"#,
      #"lookahead_sqlite_write_seconds_count 1"#,
    ] {
      #expect(lines.contains(line), "\(line)")
    }
    for name in [
      "process_resident_memory_bytes ", "process_open_fds ",
      "lookahead_feed_items{feed=\"newest\"} ",
      "lookahead_sqlite_file_bytes{file=\"wal\"} ", "lookahead_sqlite_refreshes_total ",
      "lookahead_http_sent_bytes_total{route=\"/rp/\"} ",
    ] {
      #expect(lines.contains { $0.hasPrefix(name) }, "\(name)")
    }
  }

  @Test func `the largest feeds are told of, as many as are wished, and no feed that is gone`()
    throws
  {
    let records = (0..<10).flatMap { feed in
      (0...feed).map { SeedRecord.ranked("p\(feed)-\($0)", $0, feed: "feed-\(feed)") }
    }
    let service = try RunningService(records) {
      $0.application.feedFigures = 3
      $0.application.writeTokens = .only(RunningService.token)
    }
    let client = try service.client()
    func told() throws -> [String] {
      try client.get("/metrics").text.split(separator: "\n").map(String.init)
        .filter { $0.hasPrefix("lookahead_feed_items") || $0.hasPrefix("lookahead_feeds") }
    }
    #expect(
      try told() == [
        #"lookahead_feed_items{feed="feed-7"} 8"#, #"lookahead_feed_items{feed="feed-8"} 9"#,
        #"lookahead_feed_items{feed="feed-9"} 10"#, "lookahead_feeds 10",
      ])
    let gone = try client.request("DELETE", "/v1/feeds/feed-8", RunningService.authorized)
    #expect(gone.status == 204)
    #expect(
      try told() == [
        #"lookahead_feed_items{feed="feed-6"} 7"#, #"lookahead_feed_items{feed="feed-7"} 8"#,
        #"lookahead_feed_items{feed="feed-9"} 10"#, "lookahead_feeds 9",
      ])
  }

  @Test func `requests are counted by feed, and those for feeds that are not told together`()
    throws
  {
    let records = (0..<4).map { SeedRecord.ranked("p\($0)", $0, feed: "feed-\($0)") }
    let service = try RunningService(records) { $0.application.feedFigures = 2 }
    let client = try service.client()
    let targets = [
      "/rp/?feed=feed-0", "/rp/?feed=feed-0", "/v1/feeds/feed-0/items",
      "/v1/feeds/feed-0/feed.json",
      "/v1/feeds/feed-1/feed.xml", "/rp/?feed=feed-2", "/rp/?feed=feed-2", "/rp/?feed=feed-3",
      // What is not there, or says nothing of posts, is not counted.
      "/rp/?feed=none", "/v1/feeds/none/feed.json", "/v1/feeds/none/events", "/v1/feeds/feed-0",
      "/rp/?feed=feed-0&limit=1000",
    ]
    for target in targets { _ = try client.get(target) }
    let tag = try client.get("/rp/?feed=feed-1").fields["etag"]!
    #expect(try client.get("/rp/?feed=feed-1", ["If-None-Match": tag]).status == 304)
    let listener = try service.client()
    #expect(try listener.get("/v1/feeds/feed-1/events").status == 200)
    let told = try client.get("/metrics").text.split(separator: "\n").map(String.init)
      .filter { $0.contains("lookahead_feed_requests") && !$0.hasPrefix("# HELP") }
    #expect(
      told == [
        "# TYPE lookahead_feed_requests_total counter",
        #"lookahead_feed_requests_total{feed="feed-0"} 4"#,
        #"lookahead_feed_requests_total{feed="feed-1"} 4"#,
        #"lookahead_feed_requests_total{overflow="true"} 3"#,
      ])
  }

  @Test func `the line of a refused request has what its request line said`() throws {
    let cases: [(sent: String, method: String, path: String, status: Int)] = [
      ("GET /a?secret=1 HTTP/1.1\r\nHost: a\r\nb c: d\r\n\r\n", "GET", "/a", 400),
      ("PUT /b HTTP/1.1\r\n\r\n", "PUT", "/b", 400),
      ("POST /c HTTP/1.1\r\nHost: a\r\nContent-Length: x\r\n\r\n", "POST", "/c", 400),
      ("BREW /d HTTP/1.1\r\nHost: a\r\n\r\n", "-", "/d", 501),
      (
        "GET /e HTTP/1.1\r\nHost: a\r\nX: \(String(repeating: "x", count: 20_000))\r\n\r\n",
        "GET", "/e", 431
      ),
      ("GET /f HTTP/9.9\r\nHost: a\r\n\r\n", "-", "", 505), ("nonsense\r\n\r\n", "-", "", 400),
    ]
    let folder = TemporaryFolder()
    let path = try folder.write("", to: "log")
    let handle = try #require(FileHandle(forWritingAtPath: path))
    let sink = LogSink(descriptor: handle.fileDescriptor, format: .json)
    let service = try RunningService([SeedRecord]()) { $0.application.requestLog = sink }
    for (sent, _, _, status) in cases {
      let client = try service.client()
      try client.send(Array(sent.utf8))
      #expect(try client.receive().status == status)
      #expect(try client.isClosed())
    }
    #expect(sink.flush())
    let lines = try String(contentsOfFile: path, encoding: .utf8).split(separator: "\n").map {
      try #require(try JSONSerialization.jsonObject(with: Data($0.utf8)) as? [String: Any])
    }
    try #require(lines.count == cases.count)
    for (line, (sent, method, path, status)) in zip(lines, cases) {
      #expect(line["method"] as? String == method && line["path"] as? String == path, "\(sent)")
      #expect(line["status"] as? Int == status)
    }
  }

  @Test func `every request has a line`() throws {
    let folder = TemporaryFolder()
    let path = try folder.write("", to: "log")
    let handle = try #require(FileHandle(forWritingAtPath: path))
    let sink = LogSink(descriptor: handle.fileDescriptor, format: .json)
    let service = try RunningService(PostGenerator(count: 3, seed: 1)) {
      $0.application.requestLog = sink
    }
    let client = try service.client()
    _ = try client.get("/rp/?feed=newest&limit=1", ["X-Request-Id": "mine"])
    _ = try client.get("/nowhere%0Aelse?secret=1", ["X-Request-Id": "other"])
    try client.send(Array("nonsense\r\n\r\n".utf8))
    _ = try client.receive()
    #expect(try client.isClosed())
    #expect(sink.flush())
    let text = try String(contentsOfFile: path, encoding: .utf8)
    let lines = try text.split(separator: "\n").map {
      try #require(try JSONSerialization.jsonObject(with: Data($0.utf8)) as? [String: Any])
    }
    try #require(lines.count == 3)
    #expect(lines[0]["route"] as? String == "/rp/" && lines[0]["path"] as? String == "/rp/")
    #expect(lines[0]["status"] as? Int == 200 && lines[0]["requestID"] as? String == "mine")
    #expect((lines[0]["bytes"] as? Int).map { $0 > 300 } == true)
    #expect(lines[0]["microseconds"] is Int && lines[0]["client"] as? String == "127.0.0.1")
    #expect(lines[1]["path"] as? String == "/nowhere%0Aelse" && lines[1]["status"] as? Int == 404)
    #expect(lines[2]["method"] as? String == "-" && lines[2]["status"] as? Int == 400)
    #expect(!text.contains("secret"))
  }
}
