import Catalog
import Feed
import Foundation
import ModelStore
import SHA2
import TestSupport
import Testing

@testable import FeedServer
@testable import System

/// Media files over HTTP: whole, checked, known at once, or nothing.
@Suite struct MediaUploadTests {
  private static let tokens = [
    WriteToken(name: "editor", secret: "e-token"),
    WriteToken(name: "camera", secret: "m-token", rights: media),
    WriteToken(name: "app", secret: "c-token", rights: counters),
  ]
  private static var media: WriteToken.Rights {
    var rights = WriteToken.Rights()
    rights.media = true
    return rights
  }
  private static var counters: WriteToken.Rights {
    var rights = WriteToken.Rights()
    rights.counters = true
    return rights
  }

  private let folder = TemporaryFolder()

  private func server(
    on store: ModelStore = ModelStore(), token: String = "m-token",
    _ configure: (inout ApplicationConfiguration) -> Void = { _ in }
  ) throws -> RunningServer {
    let root = folder.file("media")
    try FileManager.default.createDirectory(atPath: root, withIntermediateDirectories: true)
    return try RunningServer(on: store) {
      $0.mediaRoot = root
      $0.writeTokens = Self.tokens
      configure(&$0)
    }
  }

  /// A bitmap of one colour, 2 × 2, with a mark in its last byte.
  private static func picture(_ mark: UInt8 = 0) -> [UInt8] {
    func number(_ value: UInt32) -> [UInt8] { (0..<4).map { UInt8(value >> (8 * $0) & 255) } }
    let pixels = [UInt8](repeating: 90, count: 15) + [mark]
    return Array("BM".utf8) + number(54 + 16) + number(0) + number(54) + number(40) + number(2)
      + number(2) + [1, 0, 24, 0] + number(0) + number(16) + number(2835) + number(2835) + number(0)
      + number(0) + pixels
  }

  private func put(
    _ client: TestClient, _ path: String, _ body: [UInt8], _ fields: [String: String] = [:],
    token: String? = "m-token", method: String = "PUT /media/"
  ) throws -> TestAnswer {
    var fields = fields
    if let token { fields["Authorization"] = "Bearer \(token)" }
    let lines = fields.map { "\($0.key): \($0.value)\r\n" }.joined()
    let length = fields["Transfer-Encoding"] == nil ? "Content-Length: \(body.count)\r\n" : ""
    let head = "\(method)\(path) HTTP/1.1\r\nHost: localhost\r\n\(lines)\(length)\r\n"
    try client.send(Array(head.utf8) + body)
    return try client.receive()
  }

  /// The files of the media folder, hidden ones among them, but for the locks.
  private var files: [String] {
    let root = folder.file("media")
    let names = FileManager.default.enumerator(atPath: root)?.allObjects as? [String] ?? []
    return names.filter { name in
      var isFolder: ObjCBool = false
      let isThere = FileManager.default.fileExists(
        atPath: root + "/" + name, isDirectory: &isFolder)
      return isThere && !isFolder.boolValue && name != ".uploads/lock"
    }.sorted()
  }

  @Test func `a file is whole, known at once, and on every page that names it`() throws {
    let store = ModelStore()
    let post = Post(id: "p", type: .image, media: [Media(kind: .image, url: "/media/a/b%20c.bmp")])
    try store.load([.post(post, placements: [Placement(feed: "f", rank: 1)])])
    let server = try server(on: store)
    let client = try server.client()
    #expect(try client.get("/rp/?feed=f").file("immutableUrl") == nil)
    var tags: Set<String?> = []
    for (mark, status) in [(UInt8(1), 201), (1, 200), (2, 200)] {
      let content = Self.picture(mark)
      let answer = try put(client, "a/b%20c.bmp", content)
      #expect(answer.status == status, "\(answer.text)")
      #expect(answer.value("path") == "/media/a/b%20c.bmp")
      #expect(answer.value("bytes") == content.count)
      #expect(
        answer.value("media.width") == 2 && answer.value("media.start.headBytes") == content.count)
      let url = "/media/a/b%20c.bmp?version=" + DeliveredMedia.version(of: content)
      #expect(answer.value("immutableUrl") == url)
      #expect(try client.get("/rp/?feed=f").file("immutableUrl") == url)
      #expect(try client.get(url).body == content)
      #expect(try client.get("/media/a/b%20c.bmp").body == content)
      tags.insert(answer.fields["etag"])
    }
    #expect(tags.count > 1)
    // What names the content that is gone has nothing else.
    let gone = "/media/a/b%20c.bmp?version=" + DeliveredMedia.version(of: Self.picture(1))
    #expect(try client.get(gone).status == 404)
    #expect(files == ["a/b c.bmp"])
  }

  @Test(arguments: [
    "", "a//b.bmp", "a/", "../a.bmp", "a/../b.bmp", "%2e%2e/a.bmp", "a/%2e%2e/b.bmp", ".a.bmp",
    "a/.b/c.bmp", "a%2fb.bmp", "a%00.bmp", "a%0a.bmp", "a%1b.bmp", "a%7f.bmp", "a%c2%85.bmp",
    "a%e2%80%ae.bmp", "a%ff.bmp", "a%zz.bmp", "_renditions/a.bmp", "x/_renditions/a.bmp",
    "a.bmp.partial", "a.bmp.none", "a.faststart.partial", "%61.bmp", ".uploads/put-a.bmp",
  ])
  func `a hostile path is refused by name`(_ path: String) throws {
    let server = try server()
    let answer = try put(server.client(), path, Self.picture())
    #expect([400, 404].contains(answer.status) && answer.status != 500, "\(answer.text)")
    #expect(files == [])
  }

  @Test func `long and deep paths have bounds`() throws {
    let server = try server()
    for (path, status) in [
      (String(repeating: "a", count: 251) + ".bmp", 201),
      (String(repeating: "a", count: 252) + ".bmp", 400),
      (String(repeating: "d/", count: 31) + "a.bmp", 201),
      (String(repeating: "d/", count: 32) + "a.bmp", 400),
    ] {
      #expect(try put(server.client(), path, Self.picture()).status == status, "\(path)")
    }
  }

  @Test func `folders, links and files are not taken for each other`() throws {
    let server = try server()
    let client = try server.client()
    #expect(try put(client, "a/b.bmp", Self.picture()).status == 201)
    symlink("/etc/hostname", folder.file("media/link.bmp"))
    symlink("/tmp", folder.file("media/out"))
    for path in ["a", "a/b.bmp/c.bmp", "link.bmp", "out/x.bmp"] {
      let answer = try put(server.client(), path, Self.picture())
      #expect(answer.status == 409, "\(path) \(answer.text)")
      #expect(answer.value("type") == "urn:lookahead:problem:media-conflict")
    }
    #expect(!FileManager.default.fileExists(atPath: "/tmp/x.bmp"))
  }

  private static let refused: [(name: String, content: String, words: String)] = [
    ("a.svg", "<svg xmlns='http://www.w3.org/2000/svg'/>", "SVG"),
    ("a.png", " <?xml version='1.0'?><svg/>", "SVG"), ("a.html", "<!DOCTYPE html><p>", "HTML"),
    ("a.jpg", "<script>alert(1)</script>", "HTML"), ("a.js", "alert(1)", "script"),
    ("a.m3u8", "#EXTM3U\n", "mpegurl"), ("a.vtt", "WEBVTT\n", "vtt"), ("a.pdf", "%PDF-1.7", "PDF"),
    ("a.png", "#!/bin/sh\n", "script"), ("a.png", "\u{7f}ELF\u{1}", "ELF"), ("a.png", "", "empty"),
    ("a.png", "PK\u{3}\u{4}", "ZIP"),
  ]

  @Test(arguments: refused.indices)
  func `what is no picture, clip or sound is refused, and called what it is`(_ index: Int) throws {
    let (name, content, words) = Self.refused[index]
    let server = try server()
    let answer = try put(server.client(), name, Array(content.utf8))
    #expect(answer.status == 415, "\(answer.text)")
    #expect(answer.value("detail", as: String.self)?.contains(words) == true, "\(answer.text)")
    #expect(files == [])
  }

  @Test func `the extension fits, and what is broken is refused`() throws {
    let server = try server()
    let wrong = try put(server.client(), "a.png", Self.picture())
    #expect(wrong.status == 415 && wrong.text.contains(".bmp"))
    #expect(try put(server.client(), "a", Self.picture()).status == 415)
    #expect(try put(server.client(), "A.BMP", Self.picture()).status == 201)
    let cut = try put(server.client(), "cut.bmp", Self.picture().dropLast(7))
    #expect(cut.status == 422 && cut.value("type") == "urn:lookahead:problem:broken-media")
    #expect(files == ["A.BMP"])
  }

  @Test func `digests are compared, and both are told`() throws {
    let server = try server()
    let content = Self.picture()
    let right = DigestFields.text(.sha256, SHA256.hash(content))
    var sha512 = SHA512()
    sha512.update(content)
    let right512 = DigestFields.text(.sha512, sha512.finalize())
    let wrong = DigestFields.text(.sha256, SHA256.hash([1]))
    for (fields, status) in [
      (["Repr-Digest": right], 201), (["Content-Digest": right], 200),
      (["Repr-Digest": "\(right), \(right512), md5=:AAAA:"], 200), (["Repr-Digest": wrong], 400),
      (["Content-Digest": wrong], 400), (["Repr-Digest": "\(right512), \(wrong)"], 400),
      (["Repr-Digest": "md5=:AAAA:"], 400), (["Repr-Digest": "sha-256=:AAAA:"], 400),
      (["Repr-Digest": "sha-256"], 400), (["Repr-Digest": "sha-256=\(right)"], 400),
    ] {
      let answer = try put(server.client(), "a.bmp", content, fields)
      #expect(answer.status == status, "\(fields) \(answer.text)")
      guard answer.value("type") == "urn:lookahead:problem:wrong-digest" else { continue }
      #expect(answer.text.contains(right) && answer.text.contains(wrong))
    }
  }

  @Test func `rights, conditions, and fields that would mean something else`() throws {
    let server = try server()
    let content = Self.picture()
    for (token, status) in [
      (nil, 401), ("x", 401), ("c-token", 403), ("m-token", 201), ("e-token", 200),
    ] as [(String?, Int)] {
      #expect(try put(server.client(), "a.bmp", content, token: token).status == status)
    }
    try FileManager.default.setAttributes(
      [.modificationDate: Date(timeIntervalSince1970: 1_600_000_000)],
      ofItemAtPath: folder.file("media/a.bmp"))
    let tag = try #require(try server.client().get("/media/a.bmp").fields["etag"])
    for (path, fields, status) in [
      ("a.bmp", ["If-None-Match": "*"], 412), ("new.bmp", ["If-None-Match": "*"], 201),
      ("other.bmp", ["If-Match": "*"], 412), ("a.bmp", ["If-Match": "\"x\""], 412),
      ("a.bmp", ["If-Match": "x"], 412), ("b.bmp", ["If-None-Match": "x"], 412),
      ("a.bmp", ["If-Match": tag], 200), ("a.bmp", ["If-Match": tag], 412),
      ("b.bmp", ["Content-Range": "bytes 0-1/70"], 400),
      ("b.bmp", ["Content-Encoding": "gzip"], 415),
      ("b.bmp", ["Content-Type": "multipart/form-data; boundary=x"], 415),
      ("b.bmp?version=00000000000000000000000000000000", [:], 400), ("b.bmp?x=1", [:], 400),
      ("b.bmp?faststart=maybe", [:], 400),
    ] {
      let answer = try put(server.client(), path, content, fields)
      #expect(answer.status == status, "\(path) \(fields) \(answer.text)")
    }
    #expect(files == ["a.bmp", "new.bmp"])
  }

  @Test func `a body is bounded, with a length, in chunks, and as a whole with all others`() throws
  {
    let content = Self.picture()
    let server = try server {
      $0.mediaUploadBytes = content.count
      $0.mediaQuotaBytes = 2 * content.count
    }
    let longer = content + [0]
    let chunks = Array("\(String(content.count, radix: 16))\r\n".utf8) + content
    let chunked = ["Transfer-Encoding": "chunked"]
    #expect(try put(server.client(), "a.bmp", longer).status == 413)
    #expect(
      try put(server.client(), "a.bmp", chunks + Array("\r\n1\r\n0\r\n0\r\n\r\n".utf8), chunked)
        .status == 413)
    #expect(try put(server.client(), "a.bmp", content).status == 201)
    #expect(try put(server.client(), "b.bmp", content).status == 201)
    let full = try put(server.client(), "c.bmp", content)
    #expect(full.status == 507 && full.value("type") == "urn:lookahead:problem:quota-exceeded")
    #expect(files == ["a.bmp", "b.bmp"])
  }

  @Test func `a body in chunks is taken`() throws {
    let content = Self.picture()
    let server = try server()
    var chunks = Array("1\r\n".utf8) + content[..<1]
    chunks += Array("\r\n\(String(content.count - 1, radix: 16))\r\n".utf8)
    chunks += content[1...] + Array("\r\n0\r\n\r\n".utf8)
    let answer = try put(server.client(), "a.bmp", chunks, ["Transfer-Encoding": "chunked"])
    #expect(answer.status == 201, "\(answer.text)")
    #expect(try server.client().get("/media/a.bmp").body == content)
  }

  @Test func `what is cut off leaves nothing, and neither does what a killed process left`() throws
  {
    let content = Self.picture()
    try FileManager.default.createDirectory(
      atPath: folder.file("media/.uploads"), withIntermediateDirectories: true)
    try Data(content).write(to: URL(fileURLWithPath: folder.file("media/.uploads/put-dead")))
    // As another server writes one.
    let alive = try Descriptor(
      folder.file("media/.uploads/put-alive"), [.readingAndWriting, .creating])
    #expect(alive.tryLock())
    let server = try server()
    #expect(files == [".uploads/put-alive"])
    for count in [0, 1, 53, content.count - 1] {
      let head =
        "PUT /media/a.bmp HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer m-token\r\n"
        + "Content-Length: \(content.count)\r\n\r\n"
      let client = try server.client()
      try client.send(Array(head.utf8) + content[..<count])
    }
    // Each was begun, and ends with its connection.
    #expect(try put(server.client(), "b.bmp", content).status == 201)
    #expect(eventually { files == [".uploads/put-alive", "b.bmp"] })
    withExtendedLifetime(alive) {}
  }

  @Test func `writers of one path follow each other, each whole`() throws {
    let server = try server { $0.maximumMediaUploads = 8 }
    let contents = (0..<16).map { Self.picture(UInt8($0)) }
    DispatchQueue.concurrentPerform(iterations: 16) { index in
      let answer = try? put(try server.client(), "same.bmp", contents[index])
      #expect(answer.map { [200, 201].contains($0.status) } == true)
    }
    let client = try server.client()
    #expect(contents.contains(try client.get("/media/same.bmp").body))
    #expect(files == ["same.bmp"])
    let winners = DispatchQueue.concurrentCount(16) { (index: Int) in
      (try? put(
        try server.client(), "once.bmp", contents[index], ["If-None-Match": "*"]
      ).status) == 201
    }
    #expect(winners == 1)
  }

  @Test func `a deleted file is gone for all, and pages say so`() throws {
    let store = ModelStore()
    let post = Post(id: "p", type: .image, media: [Media(kind: .image, url: "/media/a/b.bmp")])
    try store.load([.post(post, placements: [Placement(feed: "f", rank: 1)])])
    let server = try server(on: store) { $0.mediaQuotaBytes = 2 * Self.picture().count }
    let client = try server.client()
    @Sendable func delete(
      _ path: String, _ fields: [String: String] = [:], token: String? = "m-token"
    ) throws -> TestAnswer {
      try put(server.client(), path, [], fields, token: token, method: "DELETE /media/")
    }
    let made = try put(client, "a/b.bmp", Self.picture())
    let tag = try #require(made.fields["etag"])
    for (path, fields, token, status) in [
      ("a/b.bmp", [:], nil, 401), ("a/b.bmp", [:], "c-token", 403),
      ("a/b.bmp", ["If-Match": "\"x\""], "m-token", 412), ("a/c.bmp", [:], "m-token", 404),
      ("a/c.bmp", ["If-Match": "*"], "m-token", 412), ("a", [:], "m-token", 409),
      ("a/b.bmp/c.bmp", [:], "m-token", 409), ("../b.bmp", [:], "m-token", 400),
      (".uploads/lock", [:], "m-token", 400), ("a/b.bmp?version=1", [:], "m-token", 400),
      ("", [:], "m-token", 400), ("a/b.bmp", ["If-None-Match": tag], "m-token", 412),
      ("a/b.bmp", [:], "m-token", 409), ("a/b.bmp?force=0", ["If-Match": "*"], "m-token", 409),
      ("a/b.bmp?force=1", ["If-Match": "\"x\""], "m-token", 412),
      ("a/b.bmp?force=yes", [:], "m-token", 400), ("a/c.bmp?force=1", [:], "m-token", 404),
    ] as [(String, [String: String], String?, Int)] {
      let answer = try delete(path, fields, token: token)
      #expect(answer.status == status, "\(path) \(fields) \(answer.text)")
    }
    #expect(files == ["a/b.bmp"])
    let refused = try delete("a/b.bmp")
    #expect(refused.value("type") == "urn:lookahead:problem:media-in-use")
    #expect(refused.value("items") == ["p"], "\(refused.text)")
    #expect(try put(client, "b.bmp", Self.picture(1)).status == 201)
    #expect(try put(client, "c.bmp", Self.picture(2)).status == 507)
    #expect(try delete("a/b.bmp?force=1").status == 204)
    #expect(try delete("a/b.bmp?force=1").status == 404)
    #expect(files == ["b.bmp"])
    #expect(try client.get("/media/a/b.bmp").status == 404)
    let page = try client.get("/rp/?feed=f")
    #expect(page.text.contains("unavailable"), "\(page.text)")
    // Its bytes are free again, and so is its name.
    #expect(try put(client, "a/b.bmp", Self.picture(3)).status == 201)
    #expect(try !client.get("/rp/?feed=f").text.contains("unavailable"))
    let deleted = DispatchQueue.concurrentCount(16) { (_: Int) in
      (try? delete("a/b.bmp?force=true").status) == 204
    }
    #expect(deleted == 1)
    // No item names it.
    #expect(try delete("b.bmp").status == 204)
  }

  @Test func `a content names its file, and the same one twice is one file`() throws {
    let server = try server { $0.mediaUploadBytes = 100_000 }
    @Sendable func post(_ body: [UInt8], _ query: String = "", token: String? = "m-token") throws
      -> TestAnswer
    {
      try put(server.client(), query, body, token: token, method: "POST /v1/media")
    }
    let content = Self.picture()
    let digits = DeliveredMedia.digits(of: content)
    let path = "/media/content/\(digits.prefix(2))/\(digits).bmp"
    for status in [201, 200] {
      let answer = try post(content)
      #expect(answer.status == status && answer.value("path") == path, "\(answer.text)")
      #expect(answer.fields["location"] == (status == 201 ? path : nil))
    }
    #expect(try server.client().get(path).body == content)
    for (body, query, token, status) in [
      (content, "", nil, 401), (content, "", "c-token", 403), ([], "", "m-token", 415),
      (Array("<svg/>".utf8), "", "m-token", 415), (content, "?x=1", "m-token", 400),
      (content, "?version=1", "m-token", 400),
      ([UInt8](repeating: 0, count: 100_001), "", "m-token", 413),
    ] as [([UInt8], String, String?, Int)] {
      let answer = try post(body, query, token: token)
      #expect(answer.status == status, "\(query) \(answer.text)")
    }
    let made = DispatchQueue.concurrentCount(16) { (_: Int) in
      (try? post(Self.picture(7)).status) == 201
    }
    #expect(made == 1)
    #expect(files.count == 2)
  }

  @Test func `the files are listed in pages, with what is known of each`() throws {
    let server = try server()
    let client = try server.client()
    func list(_ query: String, token: String? = "m-token") throws -> TestAnswer {
      try client.get(
        "/v1/media" + query, token.map { ["Authorization": "Bearer \($0)"] } ?? [:])
    }
    #expect(try list("").text.hasPrefix("{\"files\":[],"))
    // In the order of bytes, folder by folder; names in two normal forms are two.
    let paths = ["Z.bmp", "a/b/c.bmp", "a/b d.bmp", "a/d.bmp", "a-b.bmp", "e\u{301}.bmp", "é.bmp"]
    for (index, path) in paths.enumerated() {
      let target = path.addingPercentEncoding(withAllowedCharacters: .urlPathAllowed)!
      #expect(try put(client, target, Self.picture(UInt8(index))).status == 201, "\(path)")
    }
    let root = folder.file("media")
    try FileManager.default.createDirectory(
      atPath: root + "/a/_renditions", withIntermediateDirectories: true)
    for name in ["a/_renditions/x.bmp", ".hidden.bmp", "unknown.txt"] {
      try Data([1]).write(to: URL(fileURLWithPath: root + "/" + name))
    }
    let sorted = ["Z.bmp", "a/b/c.bmp", "a/b d.bmp", "a/d.bmp", "a-b.bmp", "e\u{301}.bmp"]
    let expected =
      (["Z.bmp", "a-b.bmp"] + ["a/b/c.bmp", "a/b d.bmp", "a/d.bmp"])
      .sorted { first, second in
        first.split(separator: "/").map { Array($0.utf8) }
          .lexicographicallyPrecedes(second.split(separator: "/").map { Array($0.utf8) }) {
            $0.lexicographicallyPrecedes($1)
          }
      } + ["e\u{301}.bmp", "unknown.txt", "é.bmp"]
    #expect(Set(sorted).isSubset(of: expected))
    for limit in [1, 2, 3, 8, 1000] {
      var found: [String] = []
      var query: String? = "?limit=\(limit)"
      while let asked = query {
        let answer = try list(asked)
        #expect(answer.status == 200 && answer.fields["cache-control"] == "no-store")
        let files: [[String: Any]] = try #require(answer.value("files"))
        #expect(files.count <= limit)
        for file in files {
          let path = try #require(file["path"] as? String)
          found.append(String(path.dropFirst("/media/".count)).removingPercentEncoding!)
          #expect((file["media"] != nil) == path.hasSuffix(".bmp"), "\(file)")
          #expect((file["immutableUrl"] != nil) == path.hasSuffix(".bmp"), "\(file)")
          #expect(file["bytes"] as? Int == (path.hasSuffix(".bmp") ? Self.picture().count : 1))
        }
        query = answer.value("paging.links.next", as: String.self)
          .map { String($0.dropFirst("/v1/media".count)) }
      }
      #expect(found.map(ByteText.init) == expected.map(ByteText.init), "limit \(limit)")
    }
    // Behind what is gone, a folder among it, the list goes on.
    try FileManager.default.removeItem(atPath: root + "/a/b")
    let rest: [[String: Any]] = try #require(try list("?after=/media/a/b/c.bmp").value("files"))
    #expect(rest.first?["path"] as? String == "/media/a/b%20d.bmp")
    // What another program changed since is not what is known.
    try Data(Self.picture(99)).write(to: URL(fileURLWithPath: root + "/Z.bmp"))
    let first: [[String: Any]] = try #require(try list("?limit=1").value("files"))
    #expect(first[0]["media"] == nil && first[0]["immutableUrl"] == nil)
    for (query, token, status) in [
      ("", nil, 401), ("", "c-token", 403), ("?limit=0", "m-token", 400),
      ("?limit=1001", "m-token", 400), ("?after=x", "m-token", 400),
      ("?after=/media/", "m-token", 400), ("?x=1", "m-token", 400),
    ] as [(String, String?, Int)] {
      #expect(try list(query, token: token).status == status, "\(query)")
    }
  }

  @Test func `without a folder, nothing is taken`() throws {
    let server = try RunningServer(on: ModelStore()) { $0.writeTokens = Self.tokens }
    let answer = try put(server.client(), "a.bmp", Self.picture())
    #expect(answer.status == 403 && answer.text.contains("--media-root"))
  }
}

extension DispatchQueue {
  /// How many times it held.
  fileprivate static func concurrentCount(
    _ iterations: Int, _ body: @Sendable (Int) -> Bool
  ) -> Int {
    let count = Monitor(0)
    concurrentPerform(iterations: iterations) { index in
      if body(index) { count.withLock { $0 += 1 } }
    }
    return count.withLock { $0 }
  }
}
