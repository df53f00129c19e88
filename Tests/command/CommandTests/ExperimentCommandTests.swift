import Catalog
import Feed
import Foundation
import PostgresTestSupport
import Prefetch
import Reports
import Service
import TestSupport
import Testing

/// `lookahead experiment` and `lookahead tune`.
@Suite struct ExperimentCommandTests {
  @Test func `an experiment is begun, shown and stopped`() throws {
    let program = Program()
    #expect(try program.run(["seed", "--generate", "50"]).status == 0)
    let none = try program.run(["experiment", "list"])
    #expect(none.output == "no experiments\n")
    let begun = try program.run([
      "experiment", "start", "--network", "3g", "--against", "expected-wait:price=500", "--share",
      "10",
    ])
    #expect(begun.status == 0, "\(begun.errors)")
    #expect(
      begun.output
        == "experiment 1 runs: expected-wait:price=500 for 10 of 1000 sessions at first\n")
    let again = try program.run(["experiment", "start", "--against", "weighted-5"])
    #expect(
      again.status == 1 && again.errors.contains("experiment 1 is running on the same sessions"))
    let listed = try program.run(["experiment", "list"]).output
    #expect(
      listed.hasPrefix(
        "experiment 1, trial: expected-wait:price=500 on all feeds without a policy of their own, 3g\n"
      ), "\(listed)")
    #expect(listed.contains("started at 1.0 %: lookahead experiment start\n"))
    #expect(listed.hasSuffix("now undecided: not enough data yet, 0 of 0 sessions with it\n"))
    let json = try program.run(["experiment", "list", "--format", "json"]).output
    #expect(json.contains(#""running":true"#) && json.contains(#""share":10"#))
    let stopped = try program.run(["experiment", "stop", "1"])
    #expect(stopped.output == "experiment 1 is stopped\n", "\(stopped.errors)")
    #expect(try program.run(["experiment", "stop", "1"]).errors.contains("experiment 1 is over"))
    #expect(
      try program.run(["experiment", "undo", "1"]).errors.contains("has no applied policy"))
    #expect(try program.run(["experiment", "undo", "2"]).errors.contains("no experiment 2"))
    #expect(try program.run(["check"]).status == 0)
  }

  @Test func `what cannot be tried is refused`() throws {
    let program = Program()
    #expect(try program.run(["seed", "--generate", "5"]).status == 0)
    for (arguments, status, words) in [
      (["--against", "best"], Int32(64), "there is no strategy"),
      (["--against", "plain-5", "--share", "51"], 64, "51 is more than 50"),
      (["--against", "plain-5", "--days", "0"], 64, "0 is less than 1"),
      (["--against", "plain-5", "--feed", "nope"], 1, "no feed \"nope\""),
      (["--against", "plain-5", "--network", "5g"], 1, "no network \"5g\""),
      ([], 64, "--against"),
    ] {
      let answer = try program.run(["experiment", "start"] + arguments)
      #expect(answer.status == status && answer.errors.contains(words), "\(arguments): \(answer)")
    }
  }

  @Test func `tune finds a better policy than a bad one, and begins an experiment`() throws {
    let program = Program()
    #expect(try program.run(["seed", "--generate", "60"]).status == 0)
    let feeds = try program.run(["check"]).output
    #expect(feeds.contains("featured"), "\(feeds)")
    let unheard = try program.run(["tune", "--feed", "featured"])
    #expect(unheard.errors.contains("no session of the feed was reported"), "\(unheard)")
    let arguments = [
      "tune", "--feed", "featured", "--network", "3g", "--items", "40", "--repeats", "6",
      "--price", "250,5000",
    ]
    let said = try program.run(arguments)
    #expect(said.status == 0 && said.output.hasPrefix("3g, 0 sessions a day: "), "\(said)")
    #expect(
      try program.run(["tune", "--network", "3g"]).errors.contains("--feed is missing"))
    #expect(try program.run(arguments + ["--price", "x"]).status == 64)
    #expect(try program.run(["experiment", "list"]).output == "no experiments\n")
    let asJSON = try program.run(arguments + ["--format", "json"])
    #expect(asJSON.output.hasPrefix(#"{"tunings":[{"feed":"featured","network":"3g","#))
    #expect(try program.run(arguments + ["--begin", "--suggest"]).status == 64)

    // Whatever it found is a line of the history, and a suggestion is begun or declined.
    let suggested = try program.run(arguments + ["--suggest", "--margin-percent", "0"])
    #expect(suggested.status == 0, "\(suggested)")
    let listed = try program.run(["experiment", "list"]).output
    if suggested.output.contains("experiment 1 is suggested: lookahead experiment begin 1") {
      #expect(listed.contains("suggested: lookahead tune on ") && listed.contains("waiting: "))
      let begun = try program.run(["experiment", "begin", "1"])
      #expect(begun.output.hasPrefix("experiment 1 runs: expected-wait:price="), "\(begun)")
      let again = try program.run(["experiment", "begin", "1"])
      #expect(again.status == 1 && again.errors.contains("is not a waiting suggestion"))
      #expect(
        try program.run(arguments + ["--begin"]).output == "3g: experiment 1 runs\n")
    } else {
      #expect(listed.contains("kept: lookahead tune on "), "\(listed)")
    }
    #expect(try program.run(["experiment", "begin", "9"]).errors.contains("no experiment 9"))
    #expect(try program.run(["check"]).status == 0)
  }
}

/// `lookahead serve --tune`.
@Suite struct ServeTuneTests {
  /// On which database.
  enum Database: CaseIterable {
    case sqlite, postgres

    static let present = allCases.filter { $0 == .sqlite || PostgresCluster.isPresent }
  }

  private let program = Program()
  private static let lab = [
    "LOOKAHEAD_ITEMS": "30", "LOOKAHEAD_REPEATS": "3", "LOOKAHEAD_PRICE": "1000",
    "LOOKAHEAD_WRITE_TOKEN": "token-1",
  ]
  private static let authorization = ["Authorization": "Bearer token-1"]

  private func run(_ arguments: [String], on address: String) throws -> Program.Outcome {
    try program.run(arguments, environment: ["LOOKAHEAD_DATABASE": address])
  }

  /// A feed with a policy that loads nothing ahead, of which sessions on 3G have reported.
  ///
  /// - Returns: the database's address.
  private func seed(_ database: Database) throws -> String {
    let address =
      database == .sqlite ? program.database : PostgresCluster.shared!.freshSchema().address
    #expect(try run(["seed", "--generate", "60"], on: address).status == 0)
    let store = try StoreOpening().open(existing: StoreLocation(address)).store
    let now = Int(Date().timeIntervalSince1970)
    try store.apply(
      Policy(name: "bad", strategy: .plain(leading: 1)), feed: "featured", network: "3g",
      evidence: Array("{}".utf8), at: Timestamp(microseconds: Int64(now) * 1_000_000))
    let parts = (0..<700).map { session in
      var part = ReportPart(session: "\(session)", part: 0)
      part.figures.items = 50
      return CountedPart(
        fingerprint: UInt64(session),
        key: ReportCellKey(
          hour: now / 3_600 - 1, feed: "featured", policy: "bad", arm: "", network: "3g"),
        cell: ReportCell(part))
    }
    _ = try store.add(
      parts, at: now / 3_600, after: 0, forgettingBefore: 0, cellsPerHour: 100, of: WatchLimits())
    try store.close()
    return address
  }

  /// The night has begun in this hour, and lasts for the next five. The lab takes as much of the processors as other
  /// work does: beside the other tests it would wait for its turn for ever.
  private func serve(
    _ mode: String, _ more: [String] = [], on address: String,
    lab: [String: String] = ServeTuneTests.lab
  ) throws -> ServingProgram {
    var lab = lab
    lab["LOOKAHEAD_DATABASE"] = address
    let hour = Int(Date().timeIntervalSince1970) / 3_600 % 24
    return try ServingProgram(
      program,
      [
        "--tune", mode, "--tune-hour", "\(hour)", "--tune-sessions", "100", "--tune-nice", "0",
        "--experiment-seconds", "1",
      ] + more, environment: lab)
  }

  /// Waits for ten minutes, and then says what every server shows.
  private func wait(
    for words: String, of servers: [ServingProgram], until holds: ([Shown]) throws -> Bool
  ) throws {
    let clients = try servers.map { try TestClient(port: $0.port) }
    let end = ContinuousClock.now + .seconds(600)
    var shown: [Shown] = []
    repeat {
      shown = try clients.map { try Shown($0) }
      if try holds(shown) { return }
      Thread.sleep(forTimeInterval: 0.1)
    } while ContinuousClock.now < end
    Issue.record("in ten minutes not: \(words)\n\(shown.map(\.text).joined(separator: "\n"))")
  }

  /// What a server shows of its tuning.
  private struct Shown {
    let experiments: String
    let figures: [String: Int]

    init(_ client: TestClient) throws {
      experiments = try client.get("/v1/experiments").text
      figures = try client.get("/metrics").text.split(separator: "\n")
        .filter { $0.hasPrefix("lookahead_tuning_") || $0.hasPrefix("lookahead_experiment") }
        .reduce(into: [:]) { figures, line in
          let words = line.split(separator: " ")
          if words.count == 2 { figures[String(words[0])] = Int(words[1]) }
        }
    }

    var isRunning: Bool { figures["lookahead_tuning_running"] == 1 }
    func runs(_ outcome: String) -> Int {
      figures["lookahead_tuning_runs_total{outcome=\"\(outcome)\"}"] ?? 0
    }

    var text: String {
      experiments + "\n"
        + figures.sorted { $0.key < $1.key }.map { "\($0.key) \($0.value)\n" }.joined()
    }
  }

  @Test(arguments: Database.present)
  func `of two servers one looks for a better policy, and one request begins the experiment`(
    database: Database
  ) throws {
    let address = try seed(database)
    let servers = [try serve("suggest", on: address), try serve("suggest", on: address)]
    // The outcome is counted behind what is written, and both servers come to hear of that.
    try wait(for: "one suggestion, which both tell", of: servers) { shown in
      shown.reduce(0) { $0 + $1.runs("suggested") } == 1
        && shown.allSatisfy { $0.figures["lookahead_experiments_suggested"] == 1 }
    }
    let client = try TestClient(port: servers[0].port)
    let waiting = try client.get("/v1/experiments").text
    #expect(waiting.contains("expected-wait:price=1000"), "\(waiting)")
    #expect(waiting.contains(#""id":1,"kind":"trial","feed":"featured","#), "\(waiting)")
    #expect(waiting.contains(#""kind":"suggested""#) && waiting.contains(#""expected":{"#))
    #expect(!waiting.contains(#""id":2"#))
    #expect(
      try client.request("POST", "/v1/experiments/1", Self.authorization).status == 204)
    #expect(try client.get("/rp/?feed=featured&network=3g").text.contains(#""salt""#))
    // With an experiment on its sessions nothing is due.
    try wait(for: "nobody looks any more", of: servers) { $0.allSatisfy { !$0.isRunning } }
    #expect(!(try client.get("/v1/experiments").text.contains(#""id":2"#)))
    for server in servers { #expect(server.terminate() == 0) }
    #expect(try run(["check"], on: address).status == 0)
  }

  @Test(arguments: Database.present)
  func `a run that takes too long, and one whose server ends, leave nothing`(
    database: Database
  ) throws {
    let address = try seed(database)
    // More than any machine does within the time of this test.
    var long = Self.lab
    (long["LOOKAHEAD_ITEMS"], long["LOOKAHEAD_REPEATS"]) = ("100000", "10000")
    let first = try serve("auto", ["--tune-seconds", "1"], on: address, lab: long)
    try wait(for: "the run is given up", of: [first]) { $0[0].runs("failed") == 1 }
    #expect(first.terminate() == 0)
    let second = try serve("auto", on: address, lab: long)
    try wait(for: "the second server looks", of: [second]) { $0[0].isRunning }
    #expect(second.terminate() == 0)
    #expect(
      try run(["experiment", "list"], on: address).output == "no experiments\n")
    // The lease was given up: the next one need not wait for its end.
    let third = try serve("auto", on: address)
    try wait(for: "the third server begins an experiment", of: [third]) {
      $0[0].experiments.contains(#""kind":"started""#)
    }
    #expect(third.terminate() == 0)
  }
}
