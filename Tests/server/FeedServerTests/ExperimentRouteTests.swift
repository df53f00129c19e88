import Catalog
import Experiments
import Feed
import Foundation
import Logging
import ModelStore
import Observability
import Prefetch
import Reports
import Synchronization
import TestSupport
import Testing

@testable import FeedServer

/// `/v1/experiments`, the arms of pages, and what a server decides.
@Suite struct ExperimentRouteTests {
  private static let tokens = """
    tuner   t-token  policies
    editor  e-token  feed:featured counters media
    """

  private static func server() throws -> RunningServer {
    let tokens = try WriteTokenFile.tokens(in: tokens)
    return try RunningServer((1...9).map { .ranked("p\($0)", $0) }) { $0.writeTokens = tokens }
  }

  private static func write(
    _ client: TestClient, _ method: String, _ target: String, _ body: String? = nil,
    token: String = "t-token"
  ) throws -> TestAnswer {
    try client.request(
      method, target,
      ["Authorization": "Bearer \(token)", "Content-Type": "application/json"], body: body)
  }

  private static let body =
    #"{"feed":"featured","network":"3g","against":"weighted:leading=2,maxCost=2","share":10}"#

  @Test func `an experiment is begun, stands on pages, and is ended`() throws {
    let server = try Self.server()
    let client = try server.client()
    let page = "/rp/?feed=featured&network=3g&limit=3"
    let before = try client.get(page)
    #expect(before.value("prefetch.experiment", as: [String: Any].self) == nil)
    let begun = try Self.write(client, "POST", "/v1/experiments", Self.body)
    #expect(begun.status == 201 && begun.fields["location"] == "/v1/experiments/1", "\(begun.text)")

    let a = try client.get(page)
    let b = try client.get(page + "&arm=b")
    for (answer, arm, policy) in [
      (a, "a", "plain-5"), (b, "b", "weighted:leading=2,maxCost=2"),
      // An arm that there is not.
      (try client.get(page + "&arm=c"), "a", "plain-5"),
    ] {
      #expect(answer.value("prefetch.policy") == policy)
      #expect(answer.value("prefetch.experiment.id") == 1)
      #expect(answer.value("prefetch.experiment.arm") == arm)
      #expect(answer.value("prefetch.experiment.shares", as: [Int].self) == [990, 10])
    }
    #expect(a.fields["etag"] != b.fields["etag"] && a.fields["etag"] != before.fields["etag"])
    // Items and cursors are the same.
    #expect(a.value("paging.next", as: String.self) == b.value("paging.next", as: String.self))
    let (next, plain): (String, String) = (
      try #require(b.value("paging.links.next")), try #require(a.value("paging.links.next"))
    )
    #expect(next.contains("&arm=b") && !plain.contains("arm"))
    #expect(try client.get(next).value("prefetch.experiment.arm") == "b")
    // On other networks and feeds nothing is tried.
    let other = try client.get("/rp/?feed=featured&network=wifi&arm=b")
    #expect(other.value("prefetch.policy") == "plain-5")
    #expect(other.value("prefetch.experiment", as: [String: Any].self) == nil)
    let networks = try client.get("/v1/networks?feed=featured")
    #expect(
      networks.text.contains(
        #""experiment":{"id":1,"salt":"#), "\(networks.text.prefix(3_000))")

    #expect(try Self.write(client, "POST", "/v1/experiments", Self.body).status == 409)
    let listed = try client.get("/v1/experiments")
    #expect(listed.fields["cache-control"] == "no-store")
    let experiments: [[String: Any]] = try #require(listed.value("experiments"))
    #expect(experiments.count == 1 && experiments[0]["running"] as? Bool == true)
    #expect(experiments[0]["share"] as? Double == 10)
    #expect((experiments[0]["finding"] as? [String: Any])?["verdict"] as? String == "undecided")

    #expect(try Self.write(client, "DELETE", "/v1/experiments/1").status == 204)
    #expect(try Self.write(client, "DELETE", "/v1/experiments/1").status == 409)
    let after = try client.get(page)
    #expect(after.body == before.body && after.fields["etag"] == before.fields["etag"])
    #expect(try client.get(page + "&arm=b").value("prefetch.policy") == "plain-5")
    let steps = try client.get("/v1/experiments").text
    #expect(steps.contains(#""reason":"tuner began it""#))
    #expect(steps.contains(#""reason":"tuner ended it""#))
  }

  @Test func `a suggestion is begun by one request`() throws {
    let store = ModelStore()
    _ = try store.load([.ranked("p", 1)], batch: 10)
    let setting = Policy(name: "ours", strategy: .expectedWait(WaitTuning()))
    func suggest() throws -> Int {
      try store.add(
        NewTrial(
          feed: "featured", network: "3g", setting: setting, reason: "the lab says so",
          expected: LabExpectation(loadersPerThousand: (30, 12.5), kilobytes: (90, 100))),
        .suggested, after: nil, at: Timestamp(microseconds: 1))
    }
    let first = try suggest()
    let tokens = try WriteTokenFile.tokens(in: Self.tokens)
    let server = try RunningServer(on: store) { $0.writeTokens = tokens }
    let client = try server.client()
    let text = try client.get("/v1/experiments").text
    #expect(
      text.contains(
        #""kind":"suggested","share":0,"evidence":{"reason":"the lab says so","expected":{"loadersPer1000":[30,12.5],"#
          + #""kilobytesPerItem":[90,100]}}"#), "\(text)")
    let path = "/v1/experiments/\(first)"
    #expect(try Self.write(client, "POST", path, token: "e-token").status == 403)
    #expect(try Self.write(client, "POST", path).status == 204)
    #expect(try client.get("/rp/?feed=featured&network=3g").text.contains("\"experiment\""))
    #expect(try Self.write(client, "POST", path).status == 409)
    #expect(try Self.write(client, "POST", "/v1/experiments/99").status == 404)
    #expect(try Self.write(client, "DELETE", path).status == 204)
    // One that is declined.
    let second = try suggest()
    #expect(try Self.write(client, "DELETE", "/v1/experiments/\(second)").status == 204)
    #expect(try Self.write(client, "POST", "/v1/experiments/\(second)").status == 409)
    #expect(try client.get("/v1/experiments").text.contains(#""reason":"tuner ended it""#))
  }

  @Test func `what is no experiment is refused, and names the field`() throws {
    let server = try Self.server()
    let client = try server.client()
    for (body, status, words) in [
      ("{", 422, "not a JSON object"), ("[]", 422, "not a JSON object"),
      ("{}", 422, "against is missing"),
      (#"{"against":"best"}"#, 422, "there is no strategy"),
      (#"{"against":"plain:leading=500"}"#, 422, "cannot be 500"),
      (#"{"against":"plain-5","share":51}"#, 422, "share is not a whole number from 1 to 50"),
      (#"{"against":"plain-5","share":0}"#, 422, "share is not"),
      (#"{"against":"plain-5","days":1.5}"#, 422, "days is not"),
      (#"{"against":"plain-5","more":1}"#, 422, "\"more\" is unknown"),
      (#"{"":1}"#, 422, "\"\" is unknown"),
      (#"{"against":"plain-5","feed":""}"#, 422, "feed is not a string"),
      (#"{"against":"plain-5","feed":"nope"}"#, 404, "no feed \"nope\""),
      (#"{"against":"plain-5","network":"5g"}"#, 404, "no network \"5g\""),
    ] {
      let answer = try Self.write(client, "POST", "/v1/experiments", body)
      #expect(answer.status == status, "\(body): \(answer.text)")
      let detail: String = try #require(answer.value("detail"))
      #expect(detail.contains(words), "\(body): \(detail)")
    }
    for id in ["1", "0", "x", "99999999999999999999", "-1"] {
      let answer = try Self.write(client, "DELETE", "/v1/experiments/\(id)")
      #expect(answer.status == 404, "\(id): \(answer.text)")
    }
    for token in ["e-token", "nobody"] {
      let answer = try Self.write(client, "POST", "/v1/experiments", Self.body, token: token)
      #expect(answer.status == (token == "nobody" ? 401 : 403))
    }
    #expect(try client.get("/v1/experiments?x=1").status == 400)
  }

  @Test func `a plan is by the policy of the arm`() throws {
    let server = try Self.server()
    let client = try server.client()
    _ = try Self.write(
      client, "POST", "/v1/experiments", #"{"against":"endless","feed":"featured"}"#)
    func policy(_ arm: String) throws -> String {
      let state =
        #"{"feed":"featured","items":["p1","p2"],"active":"p1","activeForMs":0,"#
        + #""network":{"downlink":780,"rtt":200}\#(arm)}"#
      let answer = try client.request(
        "POST", "/v1/plan", ["Content-Type": "application/json"], body: state)
      #expect(answer.status == 200, "\(answer.text)")
      return try client.get("/metrics").text
    }
    #expect(try !policy("").contains(#"strategy="endless""#))
    #expect(try !policy(#","arm":"c""#).contains(#"strategy="endless""#))
    #expect(try policy(#","arm":"b""#).contains(#"strategy="endless""#))
  }

  // MARK: What a server decides

  private static func part(
    _ number: UInt64, hour: Int, arm: String, items: Int, loaders: Int
  ) -> CountedPart {
    var part = ReportPart(session: "s", part: 0)
    part.figures.items = items
    part.figures.loaders[.video] = loaders
    let key = ReportCellKey(
      hour: hour, feed: "featured", policy: "p", arm: arm, network: "3g")
    return CountedPart(fingerprint: number, key: key, cell: ReportCell(part))
  }

  /// Hours since 1970, as a test says.
  private final class Clock: Sendable {
    let hour = Atomic(500_000)
  }

  /// A whole life: ramped hour by hour, applied, and with the hold-out taken back.
  @Test func `what is better is applied hour by hour, and taken back when it turns out worse`()
    throws
  {
    let store = ModelStore()
    _ = try store.load([.ranked("p", 1)], batch: 10)
    let clock = Clock()
    let figures = PrometheusRegistry()
    let silent = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
    func keeper() -> ExperimentKeeper {
      ExperimentKeeper(store, seconds: 60, figures, silent) { clock.hour.load(ordering: .relaxed) }
    }
    let (first, second) = (keeper(), keeper())
    let setting = Policy(name: "ours", strategy: .expectedWait(WaitTuning()))
    let id = try store.begin(
      NewTrial(feed: "featured", network: "3g", setting: setting, salt: "s", reason: "tested"),
      at: Timestamp(microseconds: 500_000 * 3_600_000_000))
    var random = TestRandom(7)
    var number: UInt64 = 0
    /// An hour of sessions, as the share says; arm a has 4 loaders of 50 items, b this many.
    func pass(_ id: Int, loadersOfB: Int, share: Int) throws {
      let now = clock.hour.load(ordering: .relaxed)
      var parts: [CountedPart] = []
      for _ in 0..<300 {
        number += 1
        let isB = random.number(0...999) < share
        parts.append(
          Self.part(
            number, hour: now, arm: "\(id).\(isB ? "b" : "a")", items: random.number(40...60),
            loaders: max(0, (isB ? loadersOfB : 4) + random.number(-2...2))))
      }
      _ = try store.add(
        parts, at: now, after: 0, forgettingBefore: 0, cellsPerHour: 1_000, of: WatchLimits())
      first.look()
      // The other server finds nothing to do: it has no lease.
      second.look()
      clock.hour.add(1, ordering: .relaxed)
      first.look()
    }
    func steps(_ id: Int) throws -> [ExperimentStep] {
      try #require(try store.experiments(.one(id)).first).steps
    }
    for _ in 0..<30 where try steps(id).last?.kind.isRunning == true {
      try pass(id, loadersOfB: 2, share: try steps(id).last?.sharePermille ?? 0)
    }
    #expect(try steps(id).map(\.kind) == [.started, .ramped, .ramped, .ramped, .applied])
    #expect(try steps(id).map(\.sharePermille) == [10, 50, 250, 500, 0])
    let hours = try steps(id).map(\.hour)
    #expect(zip(hours, hours.dropFirst()).allSatisfy { $0 <= $1 } && hours[1] > hours[0])
    let book = try store.snapshot().policyBook
    let network = try #require(book.networks.first { $0.name == "3g" })
    #expect(book.policy(feed: "featured", network: network).name == "ours")
    let evidence = String(decoding: try #require(try steps(id).last).evidence, as: UTF8.self)
    #expect(evidence.contains(#""judged":[{"setting":"ours","loaders":"#), "\(evidence)")

    // The world has changed: what was better has twice the loaders of before.
    let holdout = id + 1
    for _ in 0..<60 where try steps(holdout).last?.kind.isRunning == true {
      try pass(holdout, loadersOfB: 1, share: 50)
    }
    #expect(try steps(holdout).map(\.kind) == [.started, .takenBack])
    #expect(
      try store.snapshot().policyBook.policy(feed: "featured", network: network).name == "plain-5")
    let text = String(decoding: figures.text(), as: UTF8.self)
    #expect(text.contains("lookahead_experiment_steps_total{kind=\"takenBack\"} 1"), "\(text)")
  }
}
