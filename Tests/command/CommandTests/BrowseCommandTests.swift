import Feed
import Foundation
import PostJSON
import Prefetch
import SQLiteStore
import TestSupport
import Testing

@testable import lookahead

/// `lookahead browse`, as a user runs it, on the fixtures and with their media.
@Suite struct BrowseCommandTests {
  let program = Program()

  private static let fixtures = Repository.url("Fixtures")

  private func server() throws -> ServingProgram {
    let fixtures = Self.fixtures.path
    try #require(try program.run("seed", fixtures + "/featured.ndjson").status == 0)
    return try ServingProgram(program, ["--media-root", fixtures + "/media"])
  }

  private func object(_ text: String) throws -> [String: Any] {
    try #require(try JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any])
  }

  @Test(arguments: TestRandom.some(3, of: Policy.Strategy.usual))
  func `a feed is looked at with every strategy over a link, item by item`(
    strategy: Policy.Strategy
  ) throws {
    let server = try server()
    let outcome = try program.run(
      "browse", "http://127.0.0.1:\(server.port)/rp/?feed=featured&limit=15", "--items", "30",
      "--pace", "500ms", "--speed", "20", "--network", "lte", "--strategy", strategy.name, "--json",
      "--record", "record.ndjson", "--store", "kept")
    #expect(outcome.status == 0, "\(outcome.errors)")
    let figures = try object(outcome.output)
    #expect(figures["items"] as? Int == 30)
    #expect(figures["strategy"] as? String == strategy.text)
    #expect((figures["pageRequests"] as? Int ?? 0) >= 2)
    let stalled = try #require(figures["stalledMs"] as? Int)
    #expect((figures["stalls"] as? Int ?? -1) >= 0 && stalled >= 0 && stalled <= 15_000)
    let bytes = try #require(figures["bytes"] as? Int)
    #expect(bytes > 0 && bytes >= figures["wastedBytes"] as? Int ?? .max)
    let log = try Data(contentsOf: URL(fileURLWithPath: program.folder.file("record.ndjson")))
    let session = try SessionLog(Array(log))
    #expect(session.looks.count == 30 && !session.isCut)
    #expect(session.looks.allSatisfy { $0.dwellMilliseconds != nil && !$0.isGoingUp })
    #expect(session.looks.last?.atMilliseconds ?? 0 >= 29 * 500)
    // What the engine said is what it says again: the record is an input of `plan`.
    let said = String(decoding: log, as: UTF8.self).split(separator: "\n")
      .filter { $0.contains(#""actions":[{"#) }
    let again = try program.run("plan", "record.ndjson").output.split(separator: "\n")
      .filter { $0.contains(#""actions":[{"#) }
    // How many there are is a matter of how busy the machine is.
    #expect(!said.isEmpty && said == again)
  }

  @Test func `a folder that holds everything is not asked for again, and the feed's end is said`()
    throws
  {
    let server = try server()
    let arguments = [
      "browse", "http://127.0.0.1:\(server.port)", "--feed", "featured", "--items", "1000",
      "--pace", "100ms", "--speed", "5", "--store", "kept", "--strategy", "plain:leading=3",
    ]
    let first = try program.run(arguments)
    #expect(first.status == 0, "\(first.errors)")
    #expect(first.output.contains("plain:leading=3 on this network: 40 items, "))
    #expect(first.output.hasSuffix("the feed ended\n"))
    // What the person left before it was there comes with one of the next times.
    for _ in 0..<20 {
      let again = try object(program.run(arguments + ["--json"]).output)
      let requests = try #require(again["requests"] as? Int)
      if requests == again["pageRequests"] as? Int { return }
    }
    Issue.record("files that the folder holds are asked for again and again")
  }

  @Test func `what is reported counts to the policy that the server has`() throws {
    let server = try server()
    let arguments = [
      "browse", "http://127.0.0.1:\(server.port)", "--feed", "featured", "--items", "5", "--pace",
      "100ms", "--speed", "10",
    ]
    // Without a strategy, with the word for it, and by a strategy's own name.
    for (more, strategy) in [
      (["--report"], "plain:leading=5"), (["--report", "--strategy", "policy"], "plain:leading=5"),
      (["--report", "--strategy", "endless"], "endless"), ([], "expected-wait"),
      (["--strategy", "policy", "--network", "wifi"], "plain:leading=5"),
    ] {
      let outcome = try program.run(arguments + more + ["--json"])
      #expect(outcome.status == 0, "\(outcome.errors)")
      let used = try #require(object(outcome.output)["strategy"] as? String)
      #expect(used.hasPrefix(strategy), "\(more): \(used)")
    }
    var policies: [String: Int] = [:]
    eventually {
      let live = try? program.run(
        "live", "--format", "json", environment: ["LOOKAHEAD_REPORT_LEAST_SESSIONS": "1"])
      let groups =
        ((try? object(live?.output ?? ""))?["policies"] as? [String: Any])?["groups"]
        as? [[String: Any]]
      policies = [:]
      for group in groups ?? [] {
        policies[group["policy"] as? String ?? "", default: 0] += group["sessions"] as? Int ?? 0
      }
      return policies.values.reduce(0, +) == 3
    }
    #expect(policies == ["plain-5": 2, "endless": 1])
  }

  @Test func `a viewer draws an arm of the experiment, loads by its policy and reports it`() throws
  {
    let server = try server()
    let begun = try program.run([
      "experiment", "start", "--feed", "featured", "--network", "3g", "--against", "endless",
    ])
    #expect(begun.status == 0, "\(begun.errors)")
    // Half of the sessions, so that each arm is drawn soon.
    let store = try SQLiteStore(path: program.database)
    try store.take(
      .ramped, sharePermille: 500, evidence: Array("{}".utf8), of: 1, after: nil,
      at: Timestamp(microseconds: 1))
    try store.close()
    let arguments = [
      "browse", "http://127.0.0.1:\(server.port)", "--feed", "featured", "--items", "2", "--pace",
      "100ms", "--speed", "20", "--report", "--network", "3g", "--json",
    ]
    var arms: [String: Set<String>] = [:]
    for _ in 0..<40 where arms.count < 2 {
      let outcome = try program.run(arguments)
      let figures = try object(outcome.output)
      // Servers learn of the experiment a moment later.
      guard let arm = figures["arm"] as? String else { continue }
      arms[arm, default: []].insert(try #require(figures["strategy"] as? String))
    }
    #expect(arms == ["1.a": ["plain:leading=5"], "1.b": ["endless"]])
    // Elsewhere nothing is tried, and who names a strategy draws none.
    for more in [["--network", "wifi"], ["--strategy", "plain"]] {
      let figures = try object(program.run(arguments + more).output)
      #expect(figures["arm"] == nil, "\(more)")
    }
  }

  @Test(arguments: [
    ["browse"], ["browse", "https://example.org/"], ["browse", "http://127.0.0.1:1"],
    ["browse", "http://127.0.0.1:1", "--feed", "a", "--items", "0"],
    ["browse", "http://127.0.0.1:1", "--feed", "a", "--pace", "1"],
    ["browse", "http://127.0.0.1:1", "--feed", "a", "--speed", "101"],
    ["browse", "http://127.0.0.1:1", "--feed", "a", "--strategy", "best"],
    ["browse", "http://127.0.0.1:1", "--feed", "a", "--strategy", "plain:leading=x"],
    ["browse", "http://127.0.0.1:1", "--feed", "a", "--strategy", "plain:trailing=1"],
    ["browse", "http://127.0.0.1:1/?limit=0", "--feed", "a"],
  ])
  func `arguments that make no sense are refused`(arguments: [String]) throws {
    let outcome = try program.run(arguments)
    #expect(outcome.status == 64, "\(outcome.output)")
  }

  @Test func `a server that is not there, a feed and a network that are not, are said`() throws {
    let gone = try program.run("browse", "http://127.0.0.1:1", "--feed", "a")
    #expect(gone.status == 1 && gone.errors.contains("cannot be reached"), "\(gone.errors)")
    let server = try server()
    let url = "http://127.0.0.1:\(server.port)"
    let feed = try program.run("browse", url, "--feed", "none")
    #expect(feed.status == 1 && feed.errors.contains("unknown-feed"), "\(feed.errors)")
    let network = try program.run("browse", url, "--feed", "featured", "--network", "5g")
    #expect(network.status == 1)
    #expect(network.errors.contains("no network \"5g\"; known networks: "), "\(network.errors)")
  }

  @Test(arguments: Policy.Strategy.usual)
  func `a strategy's text is read back`(strategy: Policy.Strategy) throws {
    #expect(try Policy.Strategy(text: strategy.text) == strategy)
    #expect(try Policy.Strategy(text: strategy.name) == strategy)
  }
}
