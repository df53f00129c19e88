import Foundation
import Glibc
import TestSupport
import Testing

@Suite struct ServeCommandTests {
  let program = Program()

  private func seed(_ arguments: String...) throws {
    let process = program.process(["seed"] + arguments)
    process.standardOutput = FileHandle.nullDevice
    try process.run()
    process.waitUntilExit()
    #expect(process.terminationStatus == 0)
  }

  private func ranked(_ ids: some Sequence<Int>) -> String {
    ids.enumerated().map {
      #"{"id":"p\#($0.element)","feeds":[{"name":"f","rank":\#($0.offset + 1)}],"type":"text"}"#
    }.joined(separator: "\n")
  }

  @Test func `it serves what was seeded and ends with 0 at SIGTERM`() throws {
    try seed("--generate", "100")
    let server = try ServingProgram(program)
    let answer = try TestClient(port: server.port).get("/rp/?feed=newest&limit=30")
    #expect(answer.status == 200 && answer.itemIDs.count == 30)
    #expect(server.terminate() == 0)
  }

  @Test func `an empty database is made and served`() throws {
    let server = try ServingProgram(program)
    let client = try TestClient(port: server.port)
    #expect(
      try client.get("/v1/feeds").text
        == #"{"total":0,"feeds":[],"paging":{"next":null,"prev":null,"links":{}}}"#)
    #expect(try client.get("/readyz").status == 200)
  }

  @Test func `a walk goes on beside seeds of another process`() throws {
    try seed(try program.folder.write(ranked(0..<200), to: "a.ndjson"))
    let server = try ServingProgram(program)
    let client = try TestClient(port: server.port)
    var met: [String] = []
    var target: String? = "/rp/?feed=f&limit=30"
    var round = 0
    while let current = target {
      let answer = try client.get(current)
      try #require(answer.status == 200, "\(answer.text)")
      met += answer.itemIDs
      target = answer.value("paging.links.next")
      round += 1
      let order = round % 2 == 1 ? Array((0..<200).reversed()) : Array(0..<200)
      try seed(try program.folder.write(ranked(order + [1_000 + round]), to: "b.ndjson"))
    }
    #expect(met.filter { $0.count < 5 } == (0..<200).map { "p\($0)" })
    #expect(Set(met).count == met.count)
    // A new walk has the new ranking, once the server has seen it.
    let top = round % 2 == 1 ? "p199" : "p0"
    var first: String?
    try eventually {
      first = try client.get("/rp/?feed=f&limit=1").itemIDs.first
      return first == top
    }
    #expect(first == top)
  }

  @Test func `a port in use is named`() throws {
    let server = try ServingProgram(program)
    let outcome = try program.run("serve", "--port", "\(server.port)")
    #expect(outcome.status == 1)
    #expect(outcome.errors.contains("127.0.0.1:\(server.port)"))
    #expect(outcome.errors.contains("Address already in use"))
    #expect(try TestClient(port: server.port).get("/healthz").status == 200)
  }

  @Test func `servers share a port where both say so, and one ends without the other`() throws {
    try seed("--generate", "10")
    let first = try ServingProgram(program, ["--share-port"])
    let second = try ServingProgram(program, ["--share-port", "--port", "\(first.port)"])
    #expect(second.port == first.port)
    let alone = try program.run("serve", "--port", "\(first.port)")
    #expect(alone.status == 1 && alone.errors.contains("Address already in use"))
    #expect(first.terminate() == 0)
    for _ in 0..<20 {
      #expect(try TestClient(port: second.port).get("/rp/?feed=newest").status == 200)
    }
    #expect(second.terminate() == 0)
  }

  @Test(arguments: [false, true])
  func `who has started it hears when it serves and when it ends`(_ isAbstract: Bool) throws {
    let path = program.folder.file("notify")
    let manager = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
    defer { close(manager) }
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    withUnsafeMutableBytes(of: &address.sun_path) { room in
      room.copyBytes(from: path.utf8)
      if isAbstract { room[0] = 0 }
    }
    let length = socklen_t(2 + path.utf8.count)
    let isBound = withUnsafePointer(to: &address) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { bind(manager, $0, length) == 0 }
    }
    try #require(isBound)
    func heard() -> String {
      var buffer = [UInt8](repeating: 0, count: 100)
      let count = recv(manager, &buffer, buffer.count, 0)
      return String(decoding: buffer.prefix(max(0, count)), as: UTF8.self)
    }
    let name = isAbstract ? "@" + path.dropFirst() : path
    let server = try ServingProgram(program, environment: ["NOTIFY_SOCKET": name])
    #expect(heard() == "READY=1")
    #expect(server.terminate() == 0)
    #expect(heard() == "STOPPING=1")
    // One that is not there any more keeps nobody from serving.
    let other = try ServingProgram(program, environment: ["NOTIFY_SOCKET": "/nowhere/notify"])
    #expect(try TestClient(port: other.port).get("/healthz").status == 200)
  }

  @Test func `arguments and variables that cannot be used are named, with status 64`() throws {
    let cases: [(arguments: [String], environment: [String: String], says: String)] = [
      (["serve", "--port", "99999"], [:], "99999"),
      (["serve", "--port", "http"], [:], "http"),
      (["serve", "--event-loops", "0"], [:], "--event-loops: 0 is less than 1"),
      (["serve"], ["LOOKAHEAD_PORT": "99999"], "LOOKAHEAD_PORT: 99999 is more than 65535"),
      (["serve", "--nonsense"], [:], "--nonsense"),
      (["serve"], ["LOOKAHEAD_PORT": "http"], "LOOKAHEAD_PORT: \"http\" is not a whole number"),
      (["serve"], ["LOOKAHEAD_LOG_LEVEL": "loud"], "LOOKAHEAD_LOG_LEVEL"),
      (["seed"], ["LOOKAHEAD_STRICT": "maybe"], "LOOKAHEAD_STRICT"),
      (["seed", "--generate", "5", "file"], [:], "--generate"),
      (["seed", "--batch-records", "0"], [:], "--batch-records: 0 is less than 1"),
      (["sow"], [:], "sow"),
      (["serve", "--write-token", "a b"], [:], "--write-token takes one token"),
      (["serve", "--write-token", "ä"], [:], "a token must be of the characters"),
      (["serve", "--write-token-file", "/nope"], [:], "--write-token-file: /nope cannot be read"),
      (["serve", "--write-token", "a", "--write-token-file", "b"], [:], "exclude each other"),
      (["serve", "--trusted-proxies", "10.0.0.0/99"], [:], "--trusted-proxies: \"10.0.0.0/99\""),
      (
        ["serve", "--allowed-host", "http://a/"], [:], "--allowed-host: \"http://a/\" is not a host"
      ),
      (["serve"], ["LOOKAHEAD_ALLOWED_HOST": "a,b..c"], "--allowed-host: \"b..c\" is not a host"),
      (
        ["serve", "--public-url", "http://a..b/"], [:],
        "--public-url: \"http://a..b/\" is not a URL"
      ),
      (["serve", "--purge-url", "https://a/"], [:], "--purge-url: \"https://a/\" is not a URL"),
      (["serve", "--purge-url", "http://a/,b"], [:], "--purge-url: \"b\" is not a URL"),
      (["serve", "--surrogate-key-field", "ETag"], [:], "--surrogate-key-field: \"ETag\""),
      (
        ["serve", "--surrogate-key-field", "none", "--purge-url", "http://a/"], [:],
        "answers have no keys"
      ),
      (["serve", "--log-format", "xml"], [:], "xml"),
      (["serve"], ["LOOKAHEAD_LOG_FORMAT": "xml"], "is not one of text, json"),
      (["serve"], ["LOOKAHEAD_ACCESS_LOG": "maybe"], "LOOKAHEAD_ACCESS_LOG"),
    ]
    for (arguments, environment, says) in cases {
      let process = program.process(arguments, environment: environment)
      let errors = try program.folder.write("", to: "errors")
      process.standardError = FileHandle(forWritingAtPath: errors)
      process.standardOutput = FileHandle.nullDevice
      try process.run()
      process.waitUntilExit()
      #expect(process.terminationStatus == 64, "\(arguments) \(environment)")
      let text = try String(contentsOfFile: errors, encoding: .utf8)
      #expect(text.contains(says), "\(text)")
    }
  }

  @Test func `a database that cannot be used is refused in words`() throws {
    let text = try program.folder.write(String(repeating: "no database", count: 50), to: "text")
    let cases: [(path: String, says: String)] = [
      (text, "is not a SQLite database"),
      (program.folder.path, "it is a folder"),
      (program.folder.file("none/feed.sqlite"), "there is no folder"),
    ]
    for (path, says) in cases {
      for command in [
        ["serve", "--port", "0"], ["seed", "--generate", "1"], ["check"], ["export"],
      ] {
        let process = program.process(command + ["--database", path])
        let errors = try program.folder.write("", to: "errors")
        process.standardError = FileHandle(forWritingAtPath: errors)
        process.standardOutput = FileHandle.nullDevice
        try process.run()
        process.waitUntilExit()
        #expect(process.terminationStatus == 1)
        let said = try String(contentsOfFile: errors, encoding: .utf8)
        #expect(said.contains(says) || said.contains("there is no database"), "\(said)")
        #expect(said.split(separator: "\n").count == 1, "\(said)")
      }
    }
  }
}
