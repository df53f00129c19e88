import Foundation
import System
import TestSupport
import Testing

@testable import ObjectStorage

/// What is made of a store that answers as it should, and of one that does not.
@Suite struct ObjectStoreTests {
  private typealias Reply = LoopbackServer.Reply

  private static let content = (0..<1_000).map { UInt8(truncatingIfNeeded: $0) }

  private static func store(
    _ server: LoopbackServer, adapt: (inout ObjectStore.Settings) -> Void = { _ in }
  ) throws -> ObjectStore {
    var settings = ObjectStore.Settings(
      endpoint: "http://127.0.0.1:\(server.port)", region: "r",
      credentials: .init(accessKey: "a", secretKey: "s"))
    settings.pauseMilliseconds = 1
    settings.tries = 2
    adapt(&settings)
    return ObjectStore(try ObjectAddress("s3://bucket/files"), settings)
  }

  private static func part(
    _ question: LoopbackServer.Question, cutAt: Int = .max, keeps: Bool = true
  ) -> Reply {
    let range = question.range ?? 0...0
    let last = min(range.upperBound, content.count - 1)
    return Reply(
      status: "206 Partial Content",
      fields: [
        ("ETag", "\"v1\""), ("Last-Modified", "Thu, 26 Nov 2026 01:02:03 GMT"),
        ("Content-Range", "bytes \(range.lowerBound)-\(last)/\(content.count)"),
      ], body: Array(content[range.lowerBound...last]), cutAt: cutAt, keepsConnection: keeps)
  }

  @Test func `ranges come over one connection, signed, of the version that was named`() throws {
    let server = try LoopbackServer { Self.part($0) }
    let store = try Self.store(server)
    for range in [0..<1, 0..<1_000, 5..<17, 999..<1_000, 900..<2_000] {
      let piece = try #require(try store.read("files/a b", range, of: "\"v1\""))
      #expect(piece.bytes.elementsEqual(Self.content[range.clamped(to: 0..<1_000)]))
      #expect(piece.look.bytes == 1_000 && piece.look.entityTag == "\"v1\"")
      #expect(piece.look.modifiedSeconds == 1_795_654_923)
    }
    #expect(server.connections == 1)
    let question = try #require(server.questions.first)
    #expect(question.target == "/bucket/files/a%20b" && question.fields["if-match"] == "\"v1\"")
    #expect(
      question.fields["authorization"]?.contains("SignedHeaders=host;if-match;range;") == true)
    #expect(store.counts.count(of: .read, .ok) == 5)
  }

  @Test func `what passes is asked again, what does not is not`() throws {
    for (status, isPassing) in [
      ("500 X", true), ("503 X", true), ("429 X", true), ("403 X", false), ("400 X", false),
      ("301 X", false),
    ] {
      let server = try LoopbackServer { _ in Reply(status: status) }
      let store = try Self.store(server)
      let error = #expect(throws: ObjectStoreError.self) { try store.read("files/a", 0..<10) }
      #expect(error?.isPassing == isPassing, "\(status): \(String(describing: error))")
      #expect(server.questions.count == (isPassing ? 2 : 1), "\(status)")
    }
    let server = try LoopbackServer {
      $0.number == 0 ? Reply(status: "500 X") : Self.part($0)
    }
    #expect(try Self.store(server).read("files/a", 0..<10)?.bytes.count == 10)
  }

  @Test func `a refusal says what the store said, and which setting that is`() throws {
    let cases: [(status: String, code: String, words: [String])] = [
      ("403 X", "SignatureDoesNotMatch", ["403 SignatureDoesNotMatch", "AWS_SECRET_ACCESS_KEY"]),
      ("403 X", "InvalidAccessKeyId", ["InvalidAccessKeyId", "AWS_ACCESS_KEY_ID"]),
      ("403 X", "RequestTimeTooSkewed", ["RequestTimeTooSkewed", "clock"]),
      ("400 X", "AuthorizationHeaderMalformed", ["AWS_REGION"]),
      ("301 X", "", ["301 PermanentRedirect", "The bucket is in r-2.", "AWS_REGION"]),
      ("307 X", "TemporaryRedirect", ["307", "AWS_ENDPOINT_URL"]),
    ]
    for (status, code, words) in cases {
      let server = try LoopbackServer { _ in
        Reply(
          status: status, fields: [("x-amz-bucket-region", "r-2")],
          body: code.isEmpty ? [] : Array("<Error><Code>\(code)</Code></Error>".utf8))
      }
      let error = #expect(throws: ObjectStoreError.self) {
        try Self.store(server).read("files/a", 0..<10)
      }
      let text = error?.description ?? ""
      #expect(words.allSatisfy { text.contains($0) }, "\(text)")
      #expect(error?.isPassing == false && server.questions.count == 1)
    }
  }

  @Test func `answers that are cut, wrong or too long are none`() throws {
    let cases: [(name: String, isPassing: Bool, @Sendable (LoopbackServer.Question) -> Reply)] = [
      ("a short body", true, { Self.part($0, cutAt: 5, keeps: false) }),
      ("half a head", true, { _ in Reply([Array("HTTP/1.1 206 X\r\nETag: \"v".utf8)]) }),
      ("no head", true, { _ in Reply([Array("hello\r\n\r\n".utf8)]) }),
      ("nothing", true, { _ in Reply([]) }),
      (
        "another range", false,
        { _ in
          Reply(
            status: "206 X", fields: [("Content-Range", "bytes 5-9/1000")], body: [1, 2, 3, 4, 5])
        }
      ),
      (
        "no range", false, { _ in Reply(status: "206 X", body: [1, 2]) }
      ),
      ("all of it", false, { _ in Reply(status: "200 OK", body: Self.content) }),
    ]
    for (name, isPassing, answer) in cases {
      let server = try LoopbackServer(answer)
      let store = try Self.store(server)
      let error = #expect(throws: ObjectStoreError.self, "\(name)") {
        try store.read("files/a", 0..<10)
      }
      #expect(error?.isPassing == isPassing, "\(name): \(String(describing: error))")
    }
  }

  @Test func `what is not there is none, and what was replaced says so`() throws {
    let missing = try LoopbackServer { _ in Reply(status: "404 X") }
    #expect(try Self.store(missing).read("files/a", 0..<10) == nil)
    #expect(try Self.store(missing).look(at: "files/a") == nil)
    let replaced = try LoopbackServer { _ in Reply(status: "412 X") }
    #expect(throws: ObjectStoreError.changed) {
      try Self.store(replaced).read("files/a", 5..<10, of: "\"v0\"")
    }
    let bucket = try LoopbackServer { _ in
      Reply(status: "404 X", body: Array("<Error><Code>NoSuchBucket</Code></Error>".utf8))
    }
    #expect(throws: ObjectStoreError.self) { try Self.store(bucket).read("files/a", 0..<10) }
  }

  @Test func `a store that says nothing is waited for no longer than that`() throws {
    let server = try LoopbackServer { _ in
      Reply([[], Array("HTTP/1.1 200 OK\r\n\r\n".utf8)], pauseMilliseconds: 20_000)
    }
    let store = try Self.store(server) { settings in
      settings.answerMilliseconds = 300
      settings.tries = 1
    }
    let error = #expect(throws: ObjectStoreError.self) { try store.read("files/a", 0..<10) }
    #expect(error?.isPassing == true)
    #expect(store.counts.count(of: .read, .failed) == 1 && store.busyCount == 0)
  }

  private static func file(_ bytes: [UInt8]) throws -> OpenFile {
    let scratch = try ScratchFile(folder: NSTemporaryDirectory())
    try scratch.write(bytes, at: 0)
    return try #require(OpenFile(scratch.descriptor))
  }

  /// Answers the requests of an upload in parts.
  private static func upload(
    _ question: LoopbackServer.Question, partStatus: String = "200 OK"
  ) -> Reply {
    let target = question.target
    if target.hasSuffix("uploads=") {
      return Reply(status: "200 OK", body: Array("<R><UploadId>u1</UploadId></R>".utf8))
    }
    if target.contains("partNumber=") {
      return Reply(status: partStatus, fields: [("ETag", "\"p\(question.body.count)\"")])
    }
    return Reply(status: "200 OK", body: Array("<R></R>".utf8))
  }

  @Test func `a file of several parts is put together behind the last`() throws {
    let server = try LoopbackServer { Self.upload($0) }
    let store = try Self.store(server) { $0.partBytes = 400 }
    try store.put(
      Self.file(Self.content), as: "files/a", type: "video/mp4", note: "n1", if: .absent)
    let questions = server.questions
    #expect(questions.count == 5)
    #expect(questions[0].fields["content-type"] == "video/mp4")
    #expect(questions[0].fields["x-amz-meta-lookahead"] == "n1")
    #expect(questions[1...3].flatMap(\.body) == Self.content)
    #expect(questions[4].fields["if-none-match"] == "*")
    #expect(
      String(decoding: questions[4].body, as: UTF8.self)
        == "<CompleteMultipartUpload>"
        + [(1, 400), (2, 400), (3, 200)].map {
          "<Part><PartNumber>\($0.0)</PartNumber><ETag>\"p\($0.1)\"</ETag></Part>"
        }.joined() + "</CompleteMultipartUpload>")
    #expect(store.counts.sentBytes >= 1_000)
  }

  @Test func `what came of a file is taken away where a part fails`() throws {
    let server = try LoopbackServer { Self.upload($0, partStatus: "500 X") }
    let store = try Self.store(server) { $0.partBytes = 400 }
    #expect(throws: ObjectStoreError.self) {
      try store.put(Self.file(Self.content), as: "files/a")
    }
    // Begun, two tries of the first part, given up.
    #expect(server.questions.map(\.target).last == "/bucket/files/a?uploadId=u1")
    #expect(server.questions.count == 4)
  }

  @Test func `a file that the store fails to put together may be sent again`() throws {
    let server = try LoopbackServer { question in
      question.target.contains("partNumber=") || !question.target.contains("uploadId=")
        ? Self.upload(question)
        : Reply(
          status: "200 OK",
          body: Array(
            "<Error><Code>InternalError</Code><Message>Try again.</Message></Error>".utf8))
    }
    let store = try Self.store(server) { $0.partBytes = 400 }
    let error = #expect(throws: ObjectStoreError.self) {
      try store.put(Self.file(Self.content), as: "files/a")
    }
    #expect(error?.isPassing == true)
    #expect(server.questions.map(\.target).last == "/bucket/files/a?uploadId=u1")
  }

  @Test func `a condition that does not hold is told from a lost answer by what is there`() throws {
    for (note, isOurs) in [("n1", true), ("n2", false)] {
      let server = try LoopbackServer { question in
        question.body.isEmpty
          ? Reply([
            Array(
              "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 5\r\nx-amz-meta-lookahead: \(note)\r\n\r\n"
                .utf8)
          ]) : Reply(status: "412 X")
      }
      let store = try Self.store(server)
      let file = try Self.file([1, 2, 3, 4, 5])
      if isOurs {
        try store.put(file, as: "files/a", note: "n1", if: .absent)
      } else {
        #expect(throws: ObjectStoreError.preconditionFailed) {
          try store.put(file, as: "files/a", note: "n1", if: .absent)
        }
      }
    }
  }

  @Test func `uploads that were begun long ago are told from others`() throws {
    let server = try LoopbackServer { _ in
      let uploads = [("a", "2026-11-24T00:00:00.000Z"), ("b", "2026-11-26T00:00:00Z"), ("c", "?")]
      let body = uploads.map {
        "<Upload><Key>files/\($0.0)</Key><UploadId>u</UploadId><Initiated>\($0.1)</Initiated></Upload>"
      }.joined()
      return Reply(status: "200 OK", body: Array("<R>\(body)</R>".utf8))
    }
    let store = try Self.store(server)
    // 2026-11-25, and what a clock says that was never set.
    #expect(try store.unfinished(begunBefore: 1_795_564_800).map(\.key) == ["files/a"])
    #expect(try store.unfinished(begunBefore: -86_400).isEmpty)
  }

  @Test func `a list is read page by page, and one without end is none`() throws {
    let server = try LoopbackServer { question in
      let isSecond = question.target.contains("start-after=files%2Fb")
      let keys = isSecond ? ["files/c"] : ["files/a", "files/b"]
      let body = keys.map {
        "<Contents><Key>\($0)</Key><Size>3</Size><ETag>&quot;t&quot;</ETag></Contents>"
      }.joined()
      return Reply(
        status: "200 OK",
        body: Array("<R><IsTruncated>\(!isSecond)</IsTruncated>\(body)</R>".utf8))
    }
    let objects = try Self.store(server).list()
    #expect(objects.map(\.key) == ["files/a", "files/b", "files/c"])
    #expect(objects.allSatisfy { $0.entityTag == "\"t\"" && $0.bytes == 3 })
    let endless = try LoopbackServer { _ in
      Reply(status: "200 OK", body: Array("<R><IsTruncated>true</IsTruncated></R>".utf8))
    }
    #expect(throws: ObjectStoreError.self) { try Self.store(endless).list() }
    #expect(endless.questions.count == 1)
  }
}
