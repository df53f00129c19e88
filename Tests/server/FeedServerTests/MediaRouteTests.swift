import Feed
import Foundation
import Seeding
import TestSupport
import Testing

/// Media files over HTTP: validators, ranges, types, and no way out of the folder.
@Suite struct MediaRouteTests {
  private static let folder: TemporaryFolder = {
    let folder = TemporaryFolder()
    let manager = FileManager.default
    try! manager.createDirectory(
      atPath: folder.file("media/deep er"), withIntermediateDirectories: true)
    try! Data(bytes).write(to: URL(fileURLWithPath: folder.file("media/deep er/n\u{e4}me %25.gif")))
    try! Data(bytes).write(to: URL(fileURLWithPath: folder.file("media/a.gif")))
    try! folder.write(
      "<svg xmlns=\"http://www.w3.org/2000/svg\"><script/></svg>", to: "media/a.svg")
    try! folder.write("<html><script>1</script>", to: "media/b.png")
    try! folder.write("", to: "media/empty.mp4")
    try! folder.write("GIF89a", to: "media/large.gif")
    truncate(folder.file("media/large.gif"), 100 << 20)
    try! folder.write("secret", to: "secret.gif")
    try! folder.write("secret", to: "media/.hidden.gif")
    try! manager.createSymbolicLink(
      atPath: folder.file("media/link.gif"), withDestinationPath: folder.file("secret.gif"))
    // Older than the time in which a tag is weak.
    for name in ["media/a.gif", "media/deep er/n\u{e4}me %25.gif", "media/a.svg"] {
      try! manager.setAttributes(
        [.modificationDate: Date(timeIntervalSince1970: 1_700_000_000)],
        ofItemAtPath: folder.file(name))
    }
    return folder
  }()

  private static let bytes: [UInt8] =
    Array("GIF89a".utf8) + (0..<200_000).map { UInt8(truncatingIfNeeded: $0 &* 7 &+ $0 >> 8) }

  private static let service = try! RunningServer([SeedRecord]()) {
    $0.mediaRoot = folder.file("media")
  }

  @Test func `a file is served whole, with what a cache and a player need`() throws {
    let client = try Self.service.client()
    for target in ["/media/a.gif", "/media/deep%20er/n%C3%A4me%20%2525.gif"] {
      let answer = try client.get(target)
      #expect(answer.status == 200 && answer.body == Self.bytes)
      #expect(answer.fields["content-type"] == "image/gif")
      #expect(answer.fields["accept-ranges"] == "bytes")
      #expect(answer.fields["cache-control"] == "max-age=2592000")
      #expect(answer.fields["last-modified"] == "Tue, 14 Nov 2023 22:13:20 GMT")
      #expect(answer.fields["x-content-type-options"] == "nosniff")
      #expect(answer.fields["access-control-allow-origin"] == "*")
      #expect(answer.fields["content-disposition"] == nil)
      let tag = try #require(answer.fields["etag"])
      #expect(tag.hasPrefix("\""))
      let head = try client.request("HEAD", target, ["Range": "bytes=0-0"])
      #expect(head.status == 200 && head.fields["content-length"] == "\(Self.bytes.count)")
      for condition in [
        ["If-None-Match": tag], ["If-Modified-Since": "Tue, 14 Nov 2023 22:13:20 GMT"],
        ["If-None-Match": tag, "Range": "bytes=0-0"],
      ] {
        let again = try client.get(target, condition)
        #expect(again.status == 304 && again.fields["etag"] == tag, "\(condition)")
      }
      #expect(
        try client.get(target, ["If-Modified-Since": "Tue, 14 Nov 2023 22:13:19 GMT"]).status == 200
      )
      #expect(try client.get(target, ["If-Match": "\"x\""]).status == 412)
      #expect(
        try client.get(target, ["If-Unmodified-Since": "Tue, 14 Nov 2023 22:13:19 GMT"]).status
          == 412)
    }
  }

  @Test func `ranges are what was asked for`() throws {
    let client = try Self.service.client()
    let count = Self.bytes.count
    let cases: [(range: String, expected: Range<Int>?)] = [
      ("bytes=0-0", 0..<1), ("bytes=0-99", 0..<100), ("bytes=100-", 100..<count),
      ("bytes=-5", (count - 5)..<count), ("bytes=0-99999999", 0..<count),
      ("BYTES=5-5", 5..<6), ("bytes=-99999999", 0..<count), ("bytes=x", nil), ("bytes=5-4", nil),
      ("items=0-1", nil), ("bytes=0-0,-1,x", nil),
    ]
    for (range, expected) in cases {
      let answer = try client.get("/media/a.gif", ["Range": range])
      #expect(answer.status == (expected == nil ? 200 : 206), "\(range)")
      #expect(answer.body == Array(Self.bytes[expected ?? 0..<count]), "\(range)")
      let said = expected.map { "bytes \($0.lowerBound)-\($0.upperBound - 1)/\(count)" }
      #expect(answer.fields["content-range"] == said)
      #expect(answer.fields["content-type"] == "image/gif")
    }
    for range in ["bytes=\(count)-", "bytes=-0", "bytes=9999999-,9999998-"] {
      let answer = try client.get("/media/a.gif", ["Range": range])
      #expect(answer.status == 416 && answer.fields["content-range"] == "bytes */\(count)")
      #expect(answer.value("type") == "urn:lookahead:problem:range-not-satisfiable")
    }
    #expect(try client.get("/media/empty.mp4", ["Range": "bytes=0-0"]).status == 416)
    #expect(try client.get("/media/empty.mp4").status == 200)
  }

  @Test func `several ranges come as parts`() throws {
    let client = try Self.service.client()
    let answer = try client.get("/media/a.gif", ["Range": "bytes=0-5, 100-100 ,-3"])
    #expect(answer.status == 206 && answer.fields["content-range"] == nil)
    let type = try #require(answer.fields["content-type"])
    #expect(type.hasPrefix("multipart/byteranges; boundary="))
    let boundary = String(type.split(separator: "=")[1])
    let count = Self.bytes.count
    var expected: [UInt8] = []
    for (index, range) in [0..<6, 100..<101, (count - 3)..<count].enumerated() {
      let head =
        "\(index == 0 ? "" : "\r\n")--\(boundary)\r\nContent-Type: image/gif\r\n"
        + "Content-Range: bytes \(range.lowerBound)-\(range.upperBound - 1)/\(count)\r\n\r\n"
      expected += Array(head.utf8) + Self.bytes[range]
    }
    expected += Array("\r\n--\(boundary)--\r\n".utf8)
    #expect(answer.body == expected)
    // The attack of RFC 9110 section 17.15.
    let many = (0..<1000).map { _ in "0-" }.joined(separator: ",")
    #expect(try client.get("/media/a.gif", ["Range": "bytes=\(many)"]).status == 200)
    #expect(try client.get("/media/a.gif", ["Range": "bytes=0-,0-,0-"]).body == Self.bytes)
  }

  @Test func `a range is of the representation that the client has, or there is none`() throws {
    let client = try Self.service.client()
    let tag = try #require(try client.get("/media/a.gif").fields["etag"])
    let cases: [(condition: String, status: Int)] = [
      (tag, 206), ("\"x\"", 200), ("W/" + tag, 200), ("Tue, 14 Nov 2023 22:13:20 GMT", 206),
      ("Tue, 14 Nov 2023 22:13:21 GMT", 200), ("nonsense", 200),
    ]
    for (condition, status) in cases {
      let answer = try client.get("/media/a.gif", ["Range": "bytes=0-0", "If-Range": condition])
      #expect(answer.status == status, "\(condition)")
    }
  }

  @Test func `a file that has just changed has no strong tag yet`() throws {
    let client = try Self.service.client()
    try Self.folder.write("GIF89a one", to: "media/new.gif")
    let new = try client.get("/media/new.gif")
    #expect(new.fields["last-modified"] == nil)
    let tag = try #require(new.fields["etag"])
    #expect(tag.hasPrefix("W/"))
    #expect(
      try client.get("/media/new.gif", ["Range": "bytes=0-0", "If-Range": tag]).status == 200)
  }

  @Test func `what could run in a browser is handed over as bytes to keep`() throws {
    let client = try Self.service.client()
    for target in ["/media/a.svg", "/media/b.png"] {
      let answer = try client.get(target)
      #expect(answer.status == 200)
      #expect(answer.fields["content-type"] == "application/octet-stream")
      #expect(answer.fields["content-disposition"] == "attachment")
      #expect(answer.fields["content-security-policy"] == "default-src 'none'; sandbox")
      #expect(answer.fields["x-content-type-options"] == "nosniff")
    }
  }

  @Test func `files that wait for their turn hold one descriptor each connection`() throws {
    let service = try RunningServer([SeedRecord]()) {
      $0.mediaRoot = Self.folder.file("media")
      $0.server.unsentBytes = 1
    }
    // Of a file of its own: others may just be closed.
    try Self.folder.write("GIF89a", to: "media/waits.gif")
    let path = Self.folder.file("media/waits.gif")
    truncate(path, 100 << 20)
    func openCount() -> Int {
      let names = (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd")) ?? []
      return names.count {
        (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/\($0)")) == path
      }
    }
    var clients: [TestClient] = []
    for _ in 0..<20 {
      let client = try service.client()
      let request = "GET /media/waits.gif HTTP/1.1\r\nHost: a\r\n\r\n"
      try client.send(Array(String(repeating: request, count: 50).utf8))
      clients.append(client)
    }
    // Each is being sent one that it does not take.
    eventually { openCount() >= 20 }
    #expect(openCount() >= 20)
    // None has another that waits behind it.
    #expect(openCount() <= 30)
  }

  @Test func `more files than may be open are refused and not waited for`() throws {
    let service = try RunningServer([SeedRecord]()) {
      $0.mediaRoot = Self.folder.file("media")
      $0.openMediaFiles = 0
    }
    let client = try service.client()
    let answer = try client.get("/media/a.gif")
    #expect(answer.status == 503 && answer.value("type") == "urn:lookahead:problem:overloaded")
    #expect(try client.get("/healthz").status == 200)
  }

  @Test func `nothing outside of the folder is served`() throws {
    let client = try Self.service.client()
    for target in [
      "/media/../secret.gif", "/media/%2e%2e/secret.gif", "/media/..%2fsecret.gif",
      "/media/deep%20er/../../secret.gif", "/media//secret.gif", "/media/link.gif",
      "/media/.hidden.gif", "/media/deep%20er", "/media/deep%20er/", "/media/", "/media/.",
      "/media/a.gif/", "/media/a.gif/b", "/media/%5c..%5csecret.gif", "/media/nothing.gif",
      "/media/deep%20er%2fn%C3%A4me%20%2525.gif", "/%6dedia/a.gif", "/medi%61/a.gif",
      "/media/%61.gif", "/media/a%2egif", "/media/d%65ep%20er/n%C3%A4me%20%2525.gif",
    ] {
      let answer = try client.get(target)
      #expect(answer.status == 404, "\(target)")
      #expect(!answer.text.contains("secret\n"))
    }
    #expect(try client.get("/media/a%00.gif").status == 400)
    #expect(try client.get("/media/%zz").status == 400)
    #expect(try client.get("/media/a.gif?x=1").status == 400)
    #expect(try client.request("POST", "/media/a.gif", body: "x").status == 405)
    let other = try RunningServer()
    #expect(try other.client().get("/media/a.gif").status == 404)
  }

  @Test func `a folder that is not there keeps the server from starting`() {
    #expect(throws: (any Error).self) {
      _ = try RunningServer([SeedRecord]()) { $0.mediaRoot = "/nowhere/at/all" }
    }
  }
}
