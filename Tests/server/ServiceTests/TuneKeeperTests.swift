import Catalog
import Experiments
import Feed
import Foundation
import Logging
import Observability
import Prefetch
import Reports
import RowStore
import System
import TestSupport
import Testing

@testable import Service

/// A night's look for a better policy that ends in the middle, or comes too late: on real databases, with a program of the
/// test's in place of the lab's.
@Suite struct TuneKeeperTests {
  private static let answer = TuningAnswer(
    feed: "featured", network: nil, against: "expected-wait:price=900", limits: ExperimentLimits(),
    reason: "the lab says so",
    expected: LabExpectation(loadersPerThousand: (300, 100), kilobytes: (90, 90)))

  private static func database(_ kind: KeeperDatabase.Kind) throws -> KeeperDatabase {
    let database = try KeeperDatabase(kind)
    try database.report(hour: WallClock.secondsSince1970 / 3_600, sessions: 70) { $0.items = 50 }
    return database
  }

  /// A server's keeper, with its figures; the program is a script of the shell, which finds the answer in `$ANSWER`.
  private static func keeper(
    _ database: KeeperDatabase, _ mode: TuningSettings.Mode = .auto, program: String
  ) throws -> (keeper: TuneKeeper, figures: PrometheusRegistry) {
    let name = "lab-\(UInt32.random(in: 0 ... .max))"
    let answer = try database.folder.write(
      String(decoding: TuningAnswer.json([answer]), as: UTF8.self), to: "\(name).json")
    var settings = TuningSettings()
    settings.mode = mode
    // The night has begun in this hour, and lasts for the next five.
    settings.hour = WallClock.secondsSince1970 / 3_600 % 24
    settings.sessions = 10
    settings.nice = 0
    settings.program = try database.folder.writeProgram(program, to: name)
    settings.environment = ["PATH=/usr/bin:/bin", "ANSWER=\(answer)"]
    let figures = PrometheusRegistry()
    let silent = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
    let keeper = try #require(
      TuneKeeper(
        settings, intervalSeconds: 1, of: database.location, store: database.store,
        logger: silent, figures: figures))
    try keeper.start()
    return (keeper, figures)
  }

  private static func runs(_ figures: PrometheusRegistry, _ outcome: TuneKeeper.Outcome) -> Bool {
    String(decoding: figures.text(), as: UTF8.self)
      .contains("lookahead_tuning_runs_total{outcome=\"\(outcome)\"} 1\n")
  }

  @Test(arguments: KeeperDatabase.Kind.present)
  func `a lab that is killed, or whose answer is none, leaves no line of the history`(
    _ kind: KeeperDatabase.Kind
  ) throws {
    let database = try Self.database(kind)
    // One after the other gets the lease: each tries once.
    let servers = try [
      "exit 1", "kill -9 $$", "cat $ANSWER; kill -9 $$", "cat $ANSWER; exit 3",
      "head -c 100 $ANSWER", "echo '{\"tunings\":[{}]}'", "",
    ].map { try Self.keeper(database, program: $0) }
    for server in servers {
      let hasFailed = eventually { Self.runs(server.figures, .failed) }
      #expect(hasFailed)
    }
    #expect(try database.experiments().isEmpty && database.policy() == "plain-5")
    // Whoever comes then finds all as it was.
    let last = try Self.keeper(database, program: "cat $ANSWER")
    let hasStarted = eventually { Self.runs(last.figures, .started) }
    #expect(hasStarted)
    #expect(try database.experiments().map { $0.steps.map(\.kind) } == [[.started]])
    for server in servers + [last] { server.keeper.stop() }
  }

  /// However many sessions are reported meanwhile.
  @Test func `a part that failed is tried again after an hour, and others at once`() {
    func part(_ feed: String, _ network: String?, sessions: Int) -> TuningPart {
      TuningPart(feed: feed, network: network, profiles: [], sessionsPerDay: sessions)
    }
    var retries = TuningRetries()
    let now: UInt64 = 5_000
    let hourLater = now + TuningRetries.pauseMilliseconds
    retries.failed(part("featured", "3g", sessions: 70), at: now)
    for sessions in [70, 71, 10_000] {
      let same = part("featured", "3g", sessions: sessions)
      #expect(retries.isDue(same, at: hourLater))
      #expect(!retries.isDue(same, at: hourLater - 1))
    }
    for other in [part("featured", nil, sessions: 70), part("newest", "3g", sessions: 70)] {
      #expect(retries.isDue(other, at: now))
    }
    retries.failed(part("newest", nil, sessions: 1), at: hourLater)
    #expect(!retries.isDue(part("newest", nil, sessions: 2), at: hourLater))
  }

  /// A server that stood still for longer than its lease has lost it: here another one has a clock that is so far ahead, which
  /// in PostgreSQL is of no matter, for the database's clock decides.
  @Test(arguments: KeeperDatabase.Kind.present)
  func `who loses the lease while the lab runs writes nothing`(
    _ kind: KeeperDatabase.Kind
  ) throws {
    let database = try Self.database(kind)
    let (began, may) = (database.folder.file("began"), database.folder.file("may"))
    let (keeper, figures) = try Self.keeper(
      database, program: "echo >\(began); until [ -e \(may) ]; do sleep 0.02; done; cat $ANSWER")
    let hasBegun = eventually { FileManager.default.fileExists(atPath: began) }
    #expect(hasBegun)
    let isTaken = try database.store.holdLease(
      "tuning", holder: "another", milliseconds: 60_000,
      now: Int64(MonotonicClock.milliseconds) + 200_000)
    #expect(isTaken == (kind == .sqlite))
    try database.folder.write("", to: "may")
    let hasEnded = eventually { Self.runs(figures, isTaken ? .failed : .started) }
    #expect(hasEnded)
    #expect(try database.experiments().count == (isTaken ? 0 : 1))
    keeper.stop()
  }

  @Test(arguments: KeeperDatabase.Kind.present)
  func `what somebody did while the lab ran stands, and the answer is not written`(
    _ kind: KeeperDatabase.Kind
  ) throws {
    for step in [ExperimentStep.Kind.started, .suggested, .kept] {
      let database = try Self.database(kind)
      let (began, may) = (database.folder.file("began"), database.folder.file("may"))
      let (keeper, figures) = try Self.keeper(
        database, .suggest,
        program: "echo >\(began); until [ -e \(may) ]; do sleep 0.02; done; cat $ANSWER")
      let hasBegun = eventually { FileManager.default.fileExists(atPath: began) }
      #expect(hasBegun)
      // By a clock that is ahead, too.
      _ = try database.store.add(
        NewTrial(
          feed: "featured", network: "3g",
          setting: Policy(name: "by hand", strategy: .plain(leading: 2)), reason: "tested"),
        step, after: nil,
        at: Timestamp(microseconds: Int64(WallClock.secondsSince1970 + 86_400) * 1_000_000))
      try database.folder.write("", to: "may")
      let hasFailed = eventually { Self.runs(figures, .failed) }
      #expect(hasFailed, "\(step)")
      #expect(try database.experiments().map { $0.steps.map(\.kind) } == [[step]])
      keeper.stop()
    }
  }

  @Test(arguments: KeeperDatabase.Kind.present)
  func `a server that ends while its lab runs gives the lease to the next one at once`(
    _ kind: KeeperDatabase.Kind
  ) throws {
    let database = try Self.database(kind)
    let began = database.folder.file("began")
    let first = try Self.keeper(database, program: "echo >\(began); sleep 3600; cat $ANSWER")
    let hasBegun = eventually { FileManager.default.fileExists(atPath: began) }
    #expect(hasBegun)
    first.keeper.stop()
    #expect(try database.experiments().isEmpty)
    let second = try Self.keeper(database, .suggest, program: "cat $ANSWER")
    let hasSuggested = eventually { Self.runs(second.figures, .suggested) }
    #expect(hasSuggested)
    #expect(try database.experiments().map { $0.steps.map(\.kind) } == [[.suggested]])
    second.keeper.stop()
  }
}
