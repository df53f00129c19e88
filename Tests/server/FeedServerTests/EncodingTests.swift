import Foundation
import Seeding
import TestSupport
import Testing

/// Content codings, point 11 of the API.
@Suite struct EncodingTests {
  private static let service = try! RunningServer(PostGenerator(count: 60, seed: 1))
  private static let target = "/rp/?feed=newest&limit=30"

  @Test func `the coding that the client likes best is answered, with its own tag`() throws {
    let client = try Self.service.client()
    let plain = try client.get(Self.target)
    #expect(plain.fields["content-encoding"] == nil && plain.fields["vary"] != nil)
    let cases: [(accept: String, coding: String?)] = [
      ("gzip", "gzip"), ("br", "br"), ("gzip, br", "br"), ("gzip, deflate, br, zstd", "br"),
      ("gzip;q=1, br;q=0.5", "gzip"), ("br;q=0, *", "gzip"), ("*", "br"), ("", nil),
      ("identity", nil), ("deflate", nil), ("x-gzip", "gzip"), ("identity;q=0, gzip;q=0.1", "gzip"),
      ("identity, gzip;q=0.5", nil),
    ]
    for (accept, coding) in cases {
      // The second answer comes out of the cache.
      for _ in 0..<2 {
        let answer = try client.get(Self.target, ["Accept-Encoding": accept])
        #expect(answer.status == 200)
        #expect(answer.fields["content-encoding"] == coding, "\(accept)")
        #expect(answer.fields["vary"] == plain.fields["vary"])
        let tag = try #require(answer.fields["etag"])
        #expect((tag == plain.fields["etag"]) == (coding == nil), "\(accept)")
        if coding == nil {
          #expect(answer.body == plain.body)
        } else {
          #expect(answer.body.count < plain.body.count / 2)
        }
        let again = try client.get(Self.target, ["Accept-Encoding": accept, "If-None-Match": tag])
        #expect(again.status == 304 && again.fields["etag"] == tag)
      }
    }
    let other = try #require(plain.fields["etag"])
    let mismatch = try client.get(Self.target, ["Accept-Encoding": "gzip", "If-None-Match": other])
    #expect(mismatch.status == 200)
  }

  @Test func `a client that takes nothing is told so`() throws {
    let client = try Self.service.client()
    for accept in ["identity;q=0", "*;q=0", "identity;q=0, deflate"] {
      let answer = try client.get(Self.target, ["Accept-Encoding": accept])
      #expect(answer.status == 406, "\(accept)")
      #expect(answer.value("type") == "urn:lookahead:problem:not-acceptable")
    }
  }

  @Test func `a small body is compressed only where it must be`() throws {
    let client = try Self.service.client()
    #expect(
      try client.get("/v1/feeds", ["Accept-Encoding": "gzip"]).fields["content-encoding"] == nil)
    let forced = try client.get("/v1/feeds", ["Accept-Encoding": "gzip, identity;q=0"])
    #expect(forced.fields["content-encoding"] == "gzip")
  }

  @Test func `an answer that no cache may keep is compressed, too`() throws {
    let client = try Self.service.client()
    let page = try client.get("/rp/?feed=newest&limit=60")
    let ids = page.text.matches(of: /"id":"(g[^".]*)"/).map { "\"\($0.1)\"" }
    let state =
      "{\"items\":[\(ids.joined(separator: ","))],\"strategy\":{\"name\":\"plain\",\"parameters\":"
      + "{\"leading\":50}},\"settings\":{\"parallelTransfers\":64}}"
    func plan(_ accept: String) throws -> TestAnswer {
      try client.request(
        "POST", "/v1/plan", ["Content-Type": "application/json", "Accept-Encoding": accept],
        body: state)
    }
    let plain = try plan("identity")
    #expect(plain.status == 200 && plain.body.count > 4_000)
    for (accept, coding) in [("gzip", "gzip"), ("br, gzip", "br"), ("identity;q=0, zstd", nil)] {
      let answer = try plan(accept)
      #expect(answer.fields["content-encoding"] == coding)
      #expect(answer.fields["cache-control"] == "no-store")
      #expect(coding == nil ? answer.body == plain.body : answer.body.count < plain.body.count / 2)
    }
  }

  @Test func `HEAD says what GET would`() throws {
    let client = try Self.service.client()
    let get = try client.get(Self.target, ["Accept-Encoding": "br"])
    let head = try client.request("HEAD", Self.target, ["Accept-Encoding": "br"])
    for name in ["content-length", "content-encoding", "etag", "vary"] {
      #expect(head.fields[name] == get.fields[name])
    }
  }

  @Test func `the time that an answer took is told to who asks`() throws {
    let client = try Self.service.client()
    let fields = ["Prefer": "respond-async, Server-Timing"]
    for (target, pattern) in [
      // Made for this request, then at hand.
      (
        Self.target + "&budget=4711",
        /cut;dur=[0-9]+\.[0-9]{3}, read;dur=[0-9.]+, encode;dur=[0-9.]+, total;dur=[0-9.]+/
      ),
      (Self.target + "&budget=4711", /total;dur=[0-9.]+/),
    ] {
      let timing = try #require(try client.get(target, fields).fields["server-timing"])
      #expect(timing.wholeMatch(of: pattern) != nil, "\(timing)")
    }
    #expect(try client.get(Self.target).fields["server-timing"] == nil)
    // Where items have to be read from the store, the page is begun twice: each step is told once.
    let withoutItems = try RunningServer(PostGenerator(count: 60, seed: 1)) { $0.itemFileBytes = 0 }
    let read = try withoutItems.client().get(Self.target, fields)
    let pattern = /cut;dur=[0-9.]+, read;dur=[0-9.]+, encode;dur=[0-9.]+, total;dur=[0-9.]+/
    let timing = try #require(read.fields["server-timing"])
    #expect(timing.wholeMatch(of: pattern) != nil, "\(timing)")
    #expect(try client.get("/nowhere", ["Prefer": "server-timing"]).fields["server-timing"] != nil)
  }
}
