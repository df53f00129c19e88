import Foundation
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
  }
}
