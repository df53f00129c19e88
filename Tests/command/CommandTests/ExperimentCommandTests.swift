import Catalog
import Feed
import Foundation
import Prefetch
import Reports
import SQLiteStore
import TestSupport
import Testing

/// `lookahead experiment` and `lookahead tune`.
@Suite struct ExperimentCommandTests {
  @Test func `an experiment is begun, shown and stopped`() throws {
    let program = Program()
    #expect(try program.run(["seed", "--generate", "50"]).status == 0)
    let none = try program.run(["experiment", "list"])
    #expect(none.output == "there was no experiment yet\n")
    let begun = try program.run([
      "experiment", "start", "--network", "3g", "--against", "expected-wait:price=500", "--share",
      "10",
    ])
    #expect(begun.status == 0, "\(begun.errors)")
    #expect(
      begun.output
        == "experiment 1 runs: expected-wait:price=500 for 10 of 1000 sessions at first\n")
    let again = try program.run(["experiment", "start", "--against", "weighted-5"])
    #expect(again.status == 1 && again.errors.contains("experiment 1 on the same sessions runs"))
    let listed = try program.run(["experiment", "list"]).output
    #expect(
      listed.hasPrefix(
        "experiment 1, trial: expected-wait:price=500 on all feeds without a policy of their own, 3g\n"
      ), "\(listed)")
    #expect(listed.contains("started at 1.0 %: lookahead experiment start\n"))
    #expect(listed.hasSuffix("now undecided: nothing to be said yet, of 0 sessions with it 0\n"))
    let json = try program.run(["experiment", "list", "--format", "json"]).output
    #expect(json.contains(#""running":true"#) && json.contains(#""share":10"#))
    let stopped = try program.run(["experiment", "stop", "1"])
    #expect(stopped.output == "experiment 1 is stopped\n", "\(stopped.errors)")
    #expect(try program.run(["experiment", "stop", "1"]).errors.contains("experiment 1 is over"))
    #expect(
      try program.run(["experiment", "undo", "1"]).errors.contains("has applied no policy"))
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
    #expect(try program.run(["experiment", "list"]).output == "there was no experiment yet\n")
    let asJSON = try program.run(arguments + ["--format", "json"])
    #expect(asJSON.output.hasPrefix(#"{"tunings":[{"feed":"featured","network":"3g","#))
    #expect(try program.run(arguments + ["--begin", "--suggest"]).status == 64)

    // Whatever it found is a line of the history, and a suggestion is begun or declined.
    let suggested = try program.run(arguments + ["--suggest", "--margin-percent", "0"])
    #expect(suggested.status == 0, "\(suggested)")
    let listed = try program.run(["experiment", "list"]).output
    if suggested.output.contains("experiment 1 is suggested: lookahead experiment begin 1") {
      #expect(listed.contains("suggested: lookahead tune on ") && listed.contains("it waits: "))
      let begun = try program.run(["experiment", "begin", "1"])
      #expect(begun.output.hasPrefix("experiment 1 runs: expected-wait:price="), "\(begun)")
      let again = try program.run(["experiment", "begin", "1"])
      #expect(again.status == 1 && again.errors.contains("no suggestion that waits"))
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
  private let program = Program()
  private static let lab = [
    "LOOKAHEAD_ITEMS": "30", "LOOKAHEAD_REPEATS": "3", "LOOKAHEAD_PRICE": "1000",
    "LOOKAHEAD_WRITE_TOKEN": "token-1",
  ]
  private static let authorization = ["Authorization": "Bearer token-1"]

  /// A feed with a policy that loads nothing ahead, of which sessions on 3G have reported.
  private func seed() throws {
    #expect(try program.run("seed", "--generate", "60").status == 0)
    let store = try SQLiteStore(path: program.database)
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
  }

  private func serve(
    _ mode: String, _ more: [String] = [], lab: [String: String] = ServeTuneTests.lab
  ) throws -> ServingProgram {
    // The night has begun in this hour, and lasts for the next five.
    let hour = Int(Date().timeIntervalSince1970) / 3_600 % 24
    return try ServingProgram(
      program,
      [
        "--tune", mode, "--tune-hour", "\(hour)", "--tune-sessions", "100", "--experiment-seconds",
        "1",
      ] + more, environment: lab)
  }

  private static func wait(until holds: () throws -> Bool) throws {
    for _ in 0..<1_200 {
      if try holds() { return }
      Thread.sleep(forTimeInterval: 0.1)
    }
    Issue.record("it did not come about in two minutes")
  }

  @Test func `of two servers one looks for a better policy, and one request begins the experiment`()
    throws
  {
    try seed()
    let servers = [try serve("suggest"), try serve("suggest")]
    let client = try TestClient(port: servers[0].port)
    try Self.wait { try client.get("/v1/experiments").text.contains("expected-wait:price=1000") }
    let waiting = try client.get("/v1/experiments").text
    #expect(waiting.contains(#""id":1,"kind":"trial","feed":"featured","#), "\(waiting)")
    #expect(waiting.contains(#""kind":"suggested""#) && waiting.contains(#""expected":{"#))
    #expect(!waiting.contains(#""id":2"#))
    func sum(_ figure: String) throws -> Int {
      try servers.map { server in
        let text = try TestClient(port: server.port).get("/metrics").text
        let line = text.split(separator: "\n").first { $0.hasPrefix(figure + " ") }
        return Int(line?.split(separator: " ").last ?? "") ?? 0
      }.reduce(0, +)
    }
    #expect(try sum(#"lookahead_tuning_runs_total{outcome="suggested"}"#) == 1)
    // Both tell that it waits.
    try Self.wait { try sum("lookahead_experiments_suggested") == 2 }
    #expect(
      try client.request("POST", "/v1/experiments/1", Self.authorization).status == 204)
    #expect(try client.get("/rp/?feed=featured&network=3g").text.contains(#""salt""#))
    // With an experiment on its sessions nothing is due.
    #expect(try sum("lookahead_tuning_running") == 0)
    for server in servers { #expect(server.terminate() == 0) }
    #expect(try program.run(["check"]).status == 0)
  }

  @Test func `a run that takes too long, and one whose server ends, leave nothing`() throws {
    try seed()
    var long = Self.lab
    (long["LOOKAHEAD_ITEMS"], long["LOOKAHEAD_REPEATS"]) = ("100000", "10000")
    let first = try serve("auto", ["--tune-seconds", "1"], lab: long)
    let client = try TestClient(port: first.port)
    try Self.wait {
      try client.get("/metrics").text.contains(
        #"lookahead_tuning_runs_total{outcome="failed"} 1"#)
    }
    #expect(first.terminate() == 0)
    let second = try serve("auto", lab: long)
    let other = try TestClient(port: second.port)
    try Self.wait { try other.get("/metrics").text.contains("lookahead_tuning_running 1") }
    #expect(second.terminate() == 0)
    #expect(try program.run(["experiment", "list"]).output == "there was no experiment yet\n")
    // The lease was given up: the next one begins at once.
    let third = try serve("auto")
    let last = try TestClient(port: third.port)
    try Self.wait { try last.get("/v1/experiments").text.contains(#""kind":"started""#) }
    #expect(third.terminate() == 0)
  }
}
