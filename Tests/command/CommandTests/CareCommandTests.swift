import Foundation
import Glibc
import TestSupport
import Testing

/// The commands and signals that keep a service going, beside a server that runs.
@Suite struct CareCommandTests {
  let program = Program()

  @Test func `a server sees at once what was pruned and vacuumed beside it`() throws {
    #expect(try program.run("seed", "--generate", "500").status == 0)
    let server = try ServingProgram(program)
    let client = try TestClient(port: server.port)
    func total() throws -> Int { try client.get("/v1/feeds/newest").value("total") ?? -1 }
    #expect(try total() == 500)
    let dry = try program.run("prune", "--keep-posts", "40", "--dry-run")
    #expect(dry.status == 0 && dry.output.contains("would be deleted"), "\(dry.output)")
    #expect(try total() == 500)
    let prune = try program.run("prune", "--keep-posts", "40")
    #expect(prune.status == 0 && prune.output.contains(" deleted, in "), "\(prune.errors)")
    try eventually { try total() != 500 }
    let left = try total()
    #expect(left >= 40 && left < 200)
    let vacuum = try program.run("vacuum")
    #expect(vacuum.status == 0, "\(vacuum.errors)")
    #expect(try client.get("/rp/?feed=newest&limit=40").itemIDs.count == 40)
    #expect(server.terminate() == 0)
    #expect(try program.run("check").status == 0)
  }

  @Test func `arguments of prune that cannot be used are named`() throws {
    #expect(try program.run("seed", "--generate", "1").status == 0)
    let cases: [(arguments: [String], status: Int32, says: String)] = [
      ([], 64, "one of --older-than, --keep-posts and --kept-rankings"),
      (["--older-than=-1"], 64, "--older-than: -1 is less than 0"),
      (["--older-than", "99999999"], 64, "--older-than"),
      (["--kept-rankings", "0"], 64, "--kept-rankings: 0 is less than 1"),
      (["--keep-posts", "1", "--feed", "none"], 1, "there is no feed \"none\""),
    ]
    for (arguments, status, says) in cases {
      let outcome = try program.run(["prune"] + arguments)
      #expect(outcome.status == status && outcome.errors.contains(says), "\(outcome.errors)")
    }
  }

  @Test func `SIGHUP opens the log anew, and ends nobody`() throws {
    let log = program.folder.file("log")
    let server = try ServingProgram(program, ["--log-file", log, "--log-level", "info"])
    let client = try TestClient(port: server.port)
    #expect(try client.get("/v1/feeds").status == 200)
    func text(_ path: String) -> String {
      (try? String(contentsOfFile: path, encoding: .utf8)) ?? ""
    }
    eventually { text(log).contains("/v1/feeds") }
    try FileManager.default.moveItem(atPath: log, toPath: log + ".1")
    kill(server.process.processIdentifier, SIGHUP)
    eventually { text(log).contains("log reopened") }
    #expect(try client.get("/v1/networks").status == 200)
    eventually { text(log).contains("/v1/networks") }
    #expect(text(log).contains("/v1/networks") && !text(log).contains("/v1/feeds"))
    #expect(text(log + ".1").contains("/v1/feeds"))
    #expect(server.terminate() == 0)

    let plain = try ServingProgram(program)
    kill(plain.process.processIdentifier, SIGHUP)
    #expect(try TestClient(port: plain.port).get("/healthz").status == 200)
    #expect(plain.terminate() == 0)
  }

  @Test func `SIGHUP reads the tokens anew, and leaves them where the file is not right`() throws {
    let log = program.folder.file("log")
    let file = try program.folder.write("a first-token-of-1 everything\n", to: "tokens")
    chmod(file, 0o600)
    let server = try ServingProgram(
      program, ["--log-file", log, "--log-level", "info", "--write-token-file", file])
    func status(_ token: String) throws -> Int {
      try TestClient(port: server.port).request(
        "DELETE", "/v1/items/gone", ["Authorization": "Bearer \(token)"]
      ).status
    }
    func reload(_ text: String, saying words: String) throws {
      try text.write(toFile: file, atomically: false, encoding: .utf8)
      kill(server.process.processIdentifier, SIGHUP)
      func isSaid() -> Bool {
        (try? String(contentsOfFile: log, encoding: .utf8))?.contains(words) ?? false
      }
      eventually { isSaid() }
      #expect(isSaid(), "\(words)")
    }
    #expect(try status("first-token-of-1") == 404)
    try reload("b second-token-of-2 counters\n", saying: #""names":"b""#)
    #expect(try status("first-token-of-1") == 401 && status("second-token-of-2") == 404)
    try reload("b second-token-of-2 counter\n", saying: "line 1: counter is not a right")
    #expect(try status("second-token-of-2") == 404)
    #expect(server.terminate() == 0)
    let text = try String(contentsOfFile: log, encoding: .utf8)
    #expect(text.contains(#""user":"b""#) && !text.contains("token-of-2"))
  }

  @Test func `two servers on one database serve and write side by side`() throws {
    let token = ["LOOKAHEAD_WRITE_TOKEN": "0123456789abcdef"]
    let authorization = ["Authorization": "Bearer 0123456789abcdef"]
    let servers = try (0..<2).map { _ in try ServingProgram(program, environment: token) }
    let clients = try servers.map { try TestClient(port: $0.port) }
    for number in 0..<60 {
      let put = try clients[number % 2].request(
        "PUT", "/v1/items/p\(number)", authorization,
        body: #"{"type":"image","feeds":[{"name":"f","rank":\#(number)}]}"#)
      #expect(put.status == 201, "\(put.text)")
    }
    for client in clients {
      var ids: [String] = []
      try eventually {
        ids = try client.get("/rp/?feed=f&limit=100").itemIDs
        return ids.count >= 60
      }
      #expect(ids == (0..<60).map { "p\($0)" })
    }
    for server in servers { #expect(server.terminate() == 0) }
    #expect(try program.run("check").status == 0)
  }

  // MARK: Output that cannot be written

  /// The status and standard error of the program in a shell's command.
  private func shell(_ command: String) throws -> (status: Int32, errors: String) {
    let process = Process()
    process.executableURL = URL(fileURLWithPath: "/bin/bash")
    let path = program.folder.file("errors")
    process.arguments = ["-c", "exec 9>\(path); " + command]
    process.currentDirectoryURL = URL(fileURLWithPath: program.folder.path)
    process.environment = ["L": Program.url.path, "LOOKAHEAD_DATABASE": program.database]
    try process.run()
    process.waitUntilExit()
    return (process.terminationStatus, (try? String(contentsOfFile: path, encoding: .utf8)) ?? "")
  }

  @Test(arguments: ["2>/dev/full", "2>&-", "2> >(exit 0)"])
  func `errors that nobody can be told end nothing`(_ redirection: String) throws {
    try program.folder.write(
      #"{"id":"a","type":"text"}"# + "\nbad\n" + #"{"id":"b","type":"text"}"#, to: "bad.ndjson")
    #expect(try shell("$L seed bad.ndjson \(redirection)").status == 1)
    #expect(try program.run("export").output.split(separator: "\n").count == 2)
    #expect(try shell("$L seed no.ndjson \(redirection)").status == 1)
  }

  @Test(arguments: [
    "migrate status", "config", "check", "prune --keep-posts 1 --dry-run", "export",
    "seed --generate 3", "--help", "--version", "serve --help",
  ])
  func `what cannot be written to standard output is status 1 with plain words`(_ command: String)
    throws
  {
    #expect(try program.run("seed", "--generate", "3").status == 0)
    for redirection in [">/dev/full", ">&-"] {
      let outcome = try shell("$L \(command) \(redirection) 2>&9")
      #expect(outcome.status == 1, "\(redirection)")
      #expect(outcome.errors.contains("cannot write standard output: "), "\(outcome.errors)")
      #expect(!outcome.errors.contains("NSCocoaErrorDomain"))
    }
    // Closed streams are no file's place: nothing was written into the database.
    #expect(try program.run("check").status == 0)
    // Who stops reading ends the command, without a word.
    let quiet = try shell("$L \(command) 2>&9 > >(exit 0); exit $?")
    #expect(quiet.errors == "" && [0, 1, 141].contains(quiet.status), "\(quiet)")
  }
}
