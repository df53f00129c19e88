import Catalog
import Feed
import Foundation
import ModelStore
import SHA2
import TestSupport
import Testing

@testable import FeedServer
@testable import System

/// Uploads that are continued after an interruption: draft-ietf-httpbis-resumable-upload-12.
@Suite struct ResumableUploadTests {
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
  private static let patchType = ["Content-Type": "application/partial-upload"]

  private let folder = TemporaryFolder()

  private func server(
    _ configure: (inout ApplicationConfiguration) -> Void = { _ in }
  ) throws -> RunningServer {
    let root = folder.file("media")
    try FileManager.default.createDirectory(atPath: root, withIntermediateDirectories: true)
    return try RunningServer(on: ModelStore()) {
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

  /// Sends the head and what of the body is given.
  private func begin(
    _ client: TestClient, _ request: String, _ body: ArraySlice<UInt8>, of length: Int? = nil,
    _ fields: [String: String], token: String = "m-token", version: String = "1.1"
  ) throws {
    let lines = fields.merging(["Authorization": "Bearer \(token)"]) { $1 }
      .map { "\($0.key): \($0.value)\r\n" }.joined()
    let head =
      "\(request) HTTP/\(version)\r\nHost: localhost\r\n\(lines)Content-Length: \(length ?? body.count)\r\n\r\n"
    try client.send(Array(head.utf8) + body)
  }

  private func send(
    _ server: RunningServer, _ request: String, _ body: ArraySlice<UInt8> = [],
    _ fields: [String: String] = [:], token: String = "m-token"
  ) throws -> TestAnswer {
    let client = try server.client()
    try begin(client, request, body, fields, token: token)
    return try client.receive(hasBody: !request.hasPrefix("HEAD"))
  }

  private func append(
    _ server: RunningServer, _ upload: String, at offset: Int, _ body: ArraySlice<UInt8>,
    isLast: Bool, _ fields: [String: String] = [:]
  ) throws -> TestAnswer {
    let said = ["Upload-Offset": "\(offset)", "Upload-Complete": isLast ? "?1" : "?0"]
    return try send(
      server, "PATCH \(upload)", body,
      Self.patchType.merging(said) { $1 }.merging(fields) { $1 })
  }

  /// Where the server says that the upload is.
  private func offset(_ server: RunningServer, _ upload: String) throws -> String? {
    try send(server, "HEAD \(upload)").fields["upload-offset"]
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

  @Test func `an upload in parts is what it would be in one`() throws {
    let server = try server()
    let content = Self.picture(7)
    let begun = try send(
      server, "PUT /media/a/b.bmp", content[..<10],
      [
        "Upload-Complete": "?0", "Upload-Length": "\(content.count)",
        "Repr-Digest": DigestFields.text(.sha256, SHA256.hash(content)),
      ])
    #expect(begun.status == 201 && begun.fields["upload-offset"] == "10", "\(begun.text)")
    let upload = try #require(begun.fields["location"])
    #expect(upload.hasPrefix("/v1/uploads/") && begun.fields["upload-limit"] != nil)
    #expect(try server.client().get("/media/a/b.bmp").status == 404)
    let early = try append(server, upload, at: 11, content[11...], isLast: true)
    #expect(early.status == 409 && early.fields["upload-offset"] == "10")
    #expect(early.value("expected-offset") == 10 && early.value("provided-offset") == 11)
    #expect(
      early.value("type")
        == "https://iana.org/assignments/http-problem-types#mismatching-upload-offset")
    let second = try append(server, upload, at: 10, content[10..<20], isLast: false)
    #expect(second.status == 204 && second.fields["upload-complete"] == "?0")
    let state = try send(server, "HEAD \(upload)")
    #expect(state.status == 204 && state.fields["upload-offset"] == "20")
    #expect(state.fields["upload-complete"] == "?0" && state.fields["cache-control"] == "no-store")
    #expect(state.fields["upload-length"] == "\(content.count)")
    let last = try append(server, upload, at: 20, content[20...], isLast: true)
    #expect(last.status == 201 && last.fields["upload-complete"] == "?1", "\(last.text)")
    #expect(last.value("path") == "/media/a/b.bmp" && last.value("media.width") == 2)
    #expect(try server.client().get("/media/a/b.bmp").body == content)
    // Who lost that answer asks, and may not append any more.
    let complete = try send(server, "HEAD \(upload)")
    #expect(complete.fields["upload-complete"] == "?1")
    #expect(complete.fields["upload-offset"] == "\(content.count)")
    #expect(complete.fields["content-location"] == "/media/a/b.bmp")
    #expect(try append(server, upload, at: content.count, [], isLast: true).status == 410)
    #expect(try append(server, upload, at: content.count, [1], isLast: true).status == 400)
    #expect(try send(server, "DELETE \(upload)").status == 204)
    #expect(try send(server, "HEAD \(upload)").status == 404)
    #expect(files == ["a/b.bmp"])
  }

  @Test func `whoever sends all at once is told where to go on, and goes on there`() throws {
    let server = try server()
    let content = Self.picture(8)
    let said = ["Upload-Complete": "?1", "Upload-Draft-Interop-Version": "9"]
    for (cut, request) in [
      (0, "PUT /media/a.bmp"), (1, "POST /v1/media"), (69, "PUT /media/c.bmp"),
    ] {
      let client = try server.client()
      try begin(client, request, [], of: content.count, said)
      let interim = try client.receive()
      #expect(interim.status == 104 && interim.fields["upload-draft-interop-version"] == "9")
      #expect(interim.fields["upload-limit"]?.contains("max-size=") == true)
      let upload = try #require(interim.fields["location"])
      try client.send(Array(content[..<cut]))
      // Another request ends that one, whose client is still there; what has come by then counts.
      var here = try #require(try offset(server, upload).flatMap(Int.init))
      #expect((0...cut).contains(here))
      let ended = try client.receive()
      #expect(ended.status == 409 && ended.text.contains("upload-superseded"), "\(ended.text)")
      for end in [min(here + 7, 69), content.count] {
        let answer = try append(
          server, upload, at: here, content[here..<end], isLast: end == content.count)
        #expect([204, 201].contains(answer.status), "\(answer.text)")
        here = end
      }
    }
    #expect(try server.client().get("/media/a.bmp").body == content)
    // As it is in one go; and for a client that does not know interim answers, or not these.
    for (fields, version) in [
      (said, "1.1"), (said, "1.0"), (["Upload-Complete": "?1"], "1.1"),
      (said.merging(["Upload-Draft-Interop-Version": "8"]) { $1 }, "1.1"),
      (["Upload-Complete": "true"], "1.1"),
    ] {
      let client = try server.client()
      try begin(client, "PUT /media/whole.bmp", content[...], fields, version: version)
      var answer = try client.receive()
      if fields == said, version == "1.1" {
        #expect(answer.status == 104)
        answer = try client.receive()
      }
      #expect([200, 201].contains(answer.status), "\(fields) \(answer.text)")
      #expect((answer.fields["upload-complete"] == "?1") == (fields == said))
    }
  }

  @Test func `an upload outlives its server`() throws {
    let content = Self.picture(9)
    var upload = ""
    do {
      let server = try server()
      let begun = try send(
        server, "POST /v1/media?faststart=1", content[..<33], ["Upload-Complete": "?0"])
      upload = try #require(begun.fields["location"])
      #expect(begun.status == 201 && begun.fields["upload-length"] == nil)
    }
    // What a killed server leaves of a request that was answered, and of one that was not.
    let id = try #require(upload.split(separator: "/").last)
    let path = folder.file("media/.uploads/part-\(id)")
    let file = try FileHandle(forWritingTo: URL(fileURLWithPath: path))
    try file.seekToEnd()
    try file.write(contentsOf: content[33..<40])
    try file.close()
    try Data("{".utf8).write(to: URL(fileURLWithPath: path + ".note.new"))
    try Data([1]).write(to: URL(fileURLWithPath: folder.file("media/.uploads/part-without")))
    let server = try server()
    #expect(try offset(server, upload) == "40")
    let last = try append(server, upload, at: 40, content[40...], isLast: true)
    #expect(last.status == 201, "\(last.text)")
    let digits = DeliveredMedia.digits(of: content)
    let name = "content/\(digits.prefix(2))/\(digits).bmp"
    #expect(files == [".uploads/part-\(id).note", name])
  }

  @Test func `who has the token that began it, and what is not the same`() throws {
    let server = try server()
    let content = Self.picture()
    let begun = try send(server, "PUT /media/a.bmp", content[..<5], ["Upload-Complete": "?0"])
    let upload = try #require(begun.fields["location"])
    for (request, fields, body, token, status) in [
      ("HEAD \(upload)", [:], 0..<0, "e-token", 404), ("HEAD \(upload)", [:], 0..<0, "x", 401),
      ("HEAD \(upload)", [:], 0..<0, "c-token", 403),
      ("DELETE \(upload)", [:], 0..<0, "e-token", 404),
      ("HEAD /v1/uploads/x", [:], 0..<0, "m-token", 404),
      ("PATCH \(upload)", ["Upload-Offset": "5"], 5..<9, "m-token", 400),
      ("PATCH \(upload)", ["Upload-Complete": "?0"], 5..<9, "m-token", 400),
      ("PATCH \(upload)", ["Upload-Offset": "-5", "Upload-Complete": "?0"], 5..<9, "m-token", 400),
      (
        "PATCH \(upload)",
        ["Upload-Offset": "5", "Upload-Complete": "?0", "Content-Type": "text/plain"], 5..<9,
        "m-token", 415
      ),
      (
        "PATCH \(upload)", ["Upload-Offset": "5", "Upload-Complete": "?0"], 5..<9, "e-token", 404
      ),
      (
        "PATCH \(upload)",
        ["Upload-Offset": "5", "Upload-Complete": "?1", "Upload-Length": "70"], 5..<9, "m-token",
        400
      ),
      (
        "PUT /media/b.bmp",
        ["Upload-Complete": "?1", "Upload-Length": "9", "Upload-Draft-Interop-Version": "9"],
        0..<5, "m-token", 400
      ),
    ] as [(String, [String: String], Range<Int>, String, Int)] {
      let answer = try send(
        server, request, content[body], Self.patchType.merging(fields) { $1 }, token: token)
      #expect(answer.status == status, "\(request) \(fields) \(answer.text)")
    }
    #expect(try offset(server, upload) == "5")
    // What was said of the length is held against what comes.
    #expect(
      try append(server, upload, at: 5, content[5..<6], isLast: false, ["Upload-Length": "70"])
        .status == 204)
    let other = try append(
      server, upload, at: 6, content[6..<7], isLast: false, ["Upload-Length": "71"])
    #expect(other.status == 400 && other.text.contains("inconsistent-upload-length"))
    let long = content[6...] + [0]
    #expect(try append(server, upload, at: 6, long, isLast: false).status == 400)
    #expect(try send(server, "HEAD \(upload)").status == 404)
    #expect(files == [])
  }

  @Test func `digests of a part and of the whole`() throws {
    let server = try server()
    let content = Self.picture(3)
    let wrong = DigestFields.text(.sha256, SHA256.hash([1]))
    let begun = try send(
      server, "PUT /media/a.bmp", [], ["Upload-Complete": "?0", "Repr-Digest": wrong])
    let upload = try #require(begun.fields["location"])
    let refused = try append(
      server, upload, at: 0, content[..<30], isLast: false, ["Content-Digest": wrong])
    #expect(refused.status == 400 && refused.text.contains("wrong-digest"))
    #expect(try offset(server, upload) == "0")
    let part = DigestFields.text(.sha256, SHA256.hash(Array(content[..<30])))
    #expect(
      try append(server, upload, at: 0, content[..<30], isLast: false, ["Content-Digest": part])
        .status == 204)
    let last = try append(server, upload, at: 30, content[30...], isLast: true)
    #expect(last.status == 400 && last.fields["upload-complete"] == "?1", "\(last.text)")
    #expect(try send(server, "HEAD \(upload)").status == 404)
    #expect(files == [])
  }

  @Test func `what the whole file is refused for ends the upload`() throws {
    let server = try server()
    let content = Self.picture()
    for (path, body, fields, status) in [
      ("a.bmp", [], [:], 415), ("a.bmp", [1], [:], 415), ("a.bmp", Array("<svg/>".utf8), [:], 415),
      ("a.png", content, [:], 415),
      ("a.bmp", content, [:], 201), ("a.bmp", content, ["If-None-Match": "*"], 412),
      ("b.bmp", content, ["If-None-Match": "*"], 201), ("a.bmp", content, [:], 200),
    ] as [(String, [UInt8], [String: String], Int)] {
      let first = body.prefix(3)
      let begun = try send(
        server, "PUT /media/\(path)", first, fields.merging(["Upload-Complete": "?0"]) { $1 })
      if begun.status == 412 { continue }
      let upload = try #require(begun.fields["location"], "\(begun.text)")
      let last = try append(server, upload, at: first.count, body[first.count...], isLast: true)
      #expect(last.status == status && last.fields["upload-complete"] == "?1", "\(last.text)")
      #expect(try send(server, "HEAD \(upload)").status == (status < 300 ? 204 : 404))
    }
    // What nobody takes is refused as soon as it is seen, not behind its last byte.
    let html = Array("<!DOCTYPE html>".utf8) + [UInt8](repeating: 32, count: 100_000)
    let answer = try send(server, "PUT /media/c.bmp", html[...], ["Upload-Complete": "?0"])
    #expect(answer.status == 415)
    #expect(files.filter { !$0.hasSuffix(".note") } == ["a.bmp", "b.bmp"])
  }

  @Test func `limits in number, in bytes and in time`() throws {
    let content = Self.picture()
    let server = try server {
      $0.mediaUploadBytes = content.count
      $0.maximumPartialUploads = 2
      $0.partialUploadBytes = 2 * content.count + 1
    }
    func begin(_ length: Int?, _ body: ArraySlice<UInt8> = []) throws -> TestAnswer {
      var fields = ["Upload-Complete": "?0"]
      if let length { fields["Upload-Length"] = "\(length)" }
      return try send(server, "PUT /media/a.bmp", body, fields)
    }
    let options = try send(server, "OPTIONS /media/a.bmp")
    #expect(options.fields["accept-patch"] == "application/partial-upload")
    #expect(options.fields["upload-limit"] == "max-size=\(content.count), max-age=86400")
    #expect(try send(server, "OPTIONS /v1/feeds").fields["accept-patch"] == nil)
    for answer in [
      try begin(content.count + 1), try begin(nil, (content + [0])[...]),
      try send(
        server, "PUT /media/a.bmp", (content + [0])[...],
        ["Upload-Complete": "?1", "Upload-Draft-Interop-Version": "9"]),
    ] {
      #expect(answer.status == 413 && answer.fields["upload-limit"] != nil, "\(answer.text)")
    }
    // One of unknown length may come to have as many as are allowed.
    let first = try #require(try begin(nil).fields["location"])
    let second = try begin(content.count)
    #expect(second.status == 201)
    let third = try begin(1)
    #expect(third.status == 503 && third.text.contains("--maximum-partial-uploads"))
    #expect(try send(server, "DELETE \(first)").status == 204)
    #expect(try begin(nil).status == 201)
    #expect(try send(server, "DELETE \(try #require(second.fields["location"]))").status == 204)
    // 1 byte is left, and one more upload.
    #expect(try begin(content.count + 0).status == 201)
    #expect(files.count == 4)
    for name in files {
      guard name.hasSuffix(".note") else { continue }
      let path = folder.file("media/" + name)
      let note = try String(contentsOfFile: path, encoding: .utf8)
      let old = note.replacing(#/"createdSeconds":[0-9]+/#, with: "\"createdSeconds\":1")
      try old.write(toFile: path, atomically: false, encoding: .utf8)
    }
    // All are over by now, and the next one has room.
    let next = try begin(3, [66, 77])
    #expect(next.status == 201, "\(next.text)")
    #expect(files.count == 2)
    let upload = try #require(next.fields["location"])
    #expect(try append(server, upload, at: 2, [1, 2], isLast: false).status == 400)
    let whole = try #require(try begin(content.count, content[..<9]).fields["location"])
    let rest = content[9...] + [0]
    #expect(try append(server, whole, at: 9, rest, isLast: true).status == 400)
    #expect(try append(server, whole, at: 9, content[9...], isLast: true).status == 201)
  }

  @Test func `of two that append at once one is first, and nothing is mixed`() throws {
    let server = try server()
    let content = Self.picture(5)
    for round in 0..<4 {
      let begun = try send(
        server, "PUT /media/\(round).bmp", content[..<1], ["Upload-Complete": "?0"])
      let upload = try #require(begun.fields["location"])
      let statuses = Monitor<[Int]>([])
      DispatchQueue.concurrentPerform(iterations: 6) { _ in
        let status = try? append(server, upload, at: 1, content[1...], isLast: true).status
        statuses.withLock { $0.append(status ?? 0) }
      }
      let said = statuses.withLock { $0 }
      // Behind the first one it is complete: 400, or has another offset: 409.
      #expect(said.count { $0 == 201 } <= 1, "\(said)")
      #expect(said.allSatisfy { [201, 400, 409].contains($0) }, "\(said)")
      let state = try send(server, "HEAD \(upload)")
      if state.fields["upload-complete"] == "?0" {
        let here = try #require(state.fields["upload-offset"].flatMap(Int.init))
        #expect(try append(server, upload, at: here, content[here...], isLast: true).status == 201)
      }
      #expect(try server.client().get("/media/\(round).bmp").body == content)
    }
  }
}
