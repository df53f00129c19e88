import Feed
import MediaFormats
import System
import TestSupport
import Testing

@testable import MediaProbe

/// URLs are read by ranges, as little as tells, from hosts that are allowed.
@Suite struct RemoteProbeTests {
  /// No test is about how fast the machine is.
  private static var patient: ProbeSettings {
    var settings = ProbeSettings()
    settings.timeMilliseconds = 600_000
    return settings
  }

  private static let probe: MediaProbe = {
    var settings = patient
    settings.allowedHosts = [HostPattern("127.0.0.1")!]
    settings.allowsPrivateAddresses = true
    return MediaProbe(settings: settings)
  }()

  private static func problem(_ url: String, by probe: MediaProbe = probe) -> String {
    do {
      return "sound: \(try probe.probe(url: url))"
    } catch {
      return error.description
    }
  }

  @Test func `a URL is told what the same file is, but for its version`() throws {
    for path in MadeMedia.all {
      let server = try RangeServer(RangeServer.file(MadeMedia.bytes(path)))
      let remote = try Self.probe.probe(url: server.url)
      var local = try Self.probe.probe(file: path)
      local.truth.version = .entityTag("\"v1\"")
      #expect(remote == local, "\(path)")
    }
  }

  @Test func `of a file with its tables in front its head and 64 KB are read at the most`() throws {
    let bytes = try MadeMedia.bytes(MadeMedia.longClip)
    let server = try RangeServer(RangeServer.file(bytes))
    let report = try Self.probe.probe(url: server.url)
    let head = try #require(report.truth.start?.headBytes)
    #expect(report.notes == [] && report.truth.placeholder != nil)
    #expect(bytes.count > 4 * (head + 65_536), "the file is large enough to tell")
    #expect(server.sentBytes <= head + 65_536 + 1, "and one by which the size is proved")
    // All but the first are of the same version, or they would be refused.
    #expect(server.questions.dropFirst().allSatisfy { $0.fields["if-range"] == "\"v1\"" })
    #expect(server.questions.allSatisfy { $0.fields["accept-encoding"] == "identity" })
  }

  @Test func `of a file with its tables behind the two ends are read`() throws {
    let bytes = try MadeMedia.bytes(MadeMedia.longClipWithTablesBehind)
    let server = try RangeServer(RangeServer.file(bytes))
    let report = try Self.probe.probe(url: server.url)
    #expect(report.notes == [.tablesBehind] && report.truth.placeholder != nil)
    let needed = report.truth.start?.neededRanges.reduce(0) { $0 + $1.count } ?? 0
    #expect(needed > 0 && server.sentBytes <= needed + 2 * 65_536)
    #expect(server.sentBytes < bytes.count / 4)
  }

  @Test(arguments: [
    (["ETag: \"a b\""], MediaVersion.entityTag("\"a b\"")),
    (
      ["ETag: W/\"a\"", "Last-Modified: Sun, 06 Nov 1994 08:49:37 GMT"],
      .modified("Sun, 06 Nov 1994 08:49:37 GMT")
    ),
    (["ETag: W/\"a\""], nil), ([], nil),
  ])
  func `the version is what the server calls it`(fields: [String], version: MediaVersion?) throws {
    let server = try RangeServer(RangeServer.file(MadeMedia.bytes(MadeMedia.jpeg), fields: fields))
    #expect(try Self.probe.probe(url: server.url).truth.version == version)
  }

  @Test func `a server that sends all is stopped, unless all is no more than was asked for`() throws
  {
    let long = try MadeMedia.bytes(MadeMedia.longClip)
    let server = try RangeServer { _, _ in .init(status: "200 OK", body: long) }
    #expect(
      Self.problem(server.url)
        == "its server sends the whole file instead of the requested ranges")
    // What lay in buffers, and nothing like all of it.
    #expect(server.sentBytes < long.count)
    let gif = try MadeMedia.bytes(MadeMedia.gif)
    let small = try RangeServer { _, _ in .init(status: "200 OK", body: gif) }
    #expect(gif.count <= 65_536)
    #expect(try Self.probe.probe(url: small.url).truth.kind == .animation)
  }

  @Test func `a file that changes between two ranges is noticed`() throws {
    let bytes = try MadeMedia.bytes(MadeMedia.longClipWithTablesBehind)
    let changes: [@Sendable (RangeServer.Question) -> RangeServer.Answer] = [
      { RangeServer.part(of: bytes, $0, ["ETag: \"v2\""]) },
      { RangeServer.part(of: bytes + [0], $0, ["ETag: \"v1\""]) },
      { _ in .init(status: "200 OK", fields: ["ETag: \"v2\""], body: bytes) },
      { _ in .init(status: "412 Precondition Failed") },
    ]
    for change in changes {
      let server = try RangeServer { question, before in
        before == 0 ? RangeServer.part(of: bytes, question, ["ETag: \"v1\""]) : change(question)
      }
      #expect(Self.problem(server.url) == "it changed while it was read")
    }
  }

  @Test(arguments: [
    (100_000_000, "its server's answer is malformed: it stated 100000000 bytes, but has none at"),
    (100_000_000_000_000_000, "its server's answer is malformed: its Content-Range says 10"),
  ])
  func `a size that is only named is not believed`(size: Int, words: String) throws {
    let bytes = try MadeMedia.bytes(MadeMedia.longClip)
    let server = try RangeServer { question, before in
      if before > 0 {
        return .init(
          status: "416 Range Not Satisfiable", fields: ["Content-Range: bytes */\(bytes.count)"])
      }
      return .init(
        status: "206 Partial Content", fields: ["Content-Range: bytes 0-65535/\(size)"],
        body: Array(bytes.prefix(65_536)))
    }
    let problem = Self.problem(server.url)
    #expect(problem.hasPrefix(words), "\(problem)")
  }

  @Test func `answers that break rules are errors`() throws {
    let bytes = try MadeMedia.bytes(MadeMedia.jpeg)
    let answers: [(RangeServer.Answer, String)] = [
      (.init(status: "404 Not Found"), "its server answered with status 404"),
      (.init(status: "206 P", body: bytes), "its server's answer is malformed: its Content-Range"),
      (
        .init(status: "206 P", fields: ["Content-Range: bytes 5-9/100"], body: [1, 2, 3, 4, 5]),
        "its server's answer is malformed: it is not the requested range"
      ),
      (
        .init(status: "206 P", fields: ["Content-Range: bytes 0-99/100"], body: [1, 2, 3]),
        "its server's answer is malformed: it is not the requested range"
      ),
      (
        .init(status: "200 OK", fields: ["Content-Encoding: gzip"], body: bytes),
        "its server's answer is malformed: it has the Content-Encoding gzip"
      ),
      (
        .init(status: "206 P", fields: ["Content-Length: 1000"], body: [1]),
        "it could not be fetched: "
      ),
      (.init(status: "416 No", fields: ["Content-Range: bytes */0"]), "the file is empty"),
      (
        .init(status: "302 Found", fields: ["Location: file:///etc/passwd"]),
        "the scheme file is not"
      ),
      (.init(status: "302 Found", fields: ["Location: http://user@a/"]), "it is not a URL"),
      (
        .init(status: "302 Found", fields: ["Location: http://example.org/"]),
        "the host example.org is not allowed"
      ),
      (.init(status: "302 Found"), "its server answered with status 302"),
    ]
    for (answer, words) in answers {
      let server = try RangeServer { _, _ in answer }
      let problem = Self.problem(server.url)
      #expect(problem.hasPrefix(words), "\(problem)")
    }
  }

  @Test func `redirections are followed where they may lead, and not for ever`() throws {
    let bytes = try MadeMedia.bytes(MadeMedia.jpeg)
    let server = try RangeServer { question, _ in
      question.target == "/file"
        ? .init(status: "302 Found", fields: ["Location: /there?x=1"])
        : RangeServer.part(of: bytes, question, [])
    }
    #expect(try Self.probe.probe(url: server.url).truth.mimeType == "image/jpeg")
    #expect(server.questions.dropFirst().allSatisfy { $0.target == "/there?x=1" })
    let circle = try RangeServer { _, _ in .init(status: "301 M", fields: ["Location: /file"]) }
    #expect(Self.problem(circle.url) == "it is redirected more than 5 times")
    #expect(circle.questions.count == 6)
  }

  @Test func `only hosts that are allowed are asked, and no private ones unless they are`() throws {
    let server = try RangeServer(RangeServer.file([1, 2, 3]))
    let strict = MediaProbe()
    #expect(
      Self.problem(server.url, by: strict)
        == "the host 127.0.0.1 is not allowed; --allow-host 127.0.0.1 allows it")
    var settings = Self.patient
    settings.allowedHosts = [HostPattern("*")!]
    let open = MediaProbe(settings: settings)
    for host in ["127.0.0.1", "localhost", "[::1]", "[64:ff9b::7f00:1]"] {
      let problem = Self.problem("http://\(host):\(server.port)/file", by: open)
      #expect(problem.contains("which is not on the public Internet"), "\(problem)")
    }
    // An address of IPv4 is written as such.
    #expect(
      Self.problem("http://[::ffff:127.0.0.1]:\(server.port)/file", by: open)
        == "it is not a URL that can be fetched: its host is not an IPv6 address")
    #expect(server.questions.isEmpty)
    settings.allowsPrivateAddresses = true
    let name = MediaProbe(settings: settings)
    #expect(
      Self.problem("http://localhost:\(server.port)/file", by: name)
        == "not a known image, video or sound format")
    #expect(!server.questions.isEmpty)
  }

  @Test func `no more of a URL is read than may be`() throws {
    var settings = Self.patient
    settings.allowedHosts = [HostPattern("*")!]
    settings.allowsPrivateAddresses = true
    settings.remoteBytes = 65_536
    let server = try RangeServer(
      RangeServer.file(MadeMedia.bytes(MadeMedia.longClipWithTablesBehind)))
    #expect(
      Self.problem(server.url, by: MediaProbe(settings: settings))
        == "more than 65536 bytes of it would have to be read")
    #expect(server.sentBytes <= 65_536 + 1)
  }

  @Test func `a server that does not answer is not waited for for ever`() throws {
    var settings = ProbeSettings()
    settings.allowedHosts = [HostPattern("*")!]
    settings.allowsPrivateAddresses = true
    settings.timeMilliseconds = 300
    let never = Monitor(false)
    let server = try RangeServer { _, _ in
      never.wait { $0 ? () : nil }
      return .init(status: "204 No Content")
    }
    #expect(
      Self.problem(server.url, by: MediaProbe(settings: settings))
        == "it was not fetched within 300 ms")
    never.withLock { $0 = true }
    never.notify()
  }

  @Test func `without curl no URL is read, and nothing is asked of a file's name`() {
    let bare = MediaProbe(tools: MediaTools())
    #expect(Self.problem("http://example.org/", by: bare).hasPrefix("curl is not installed"))
    #expect(Self.problem("file:///etc/passwd") == "the scheme file is not http or https")
  }
}
