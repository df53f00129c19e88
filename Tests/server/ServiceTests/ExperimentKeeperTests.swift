import Catalog
import Experiments
import Feed
import Logging
import Observability
import Prefetch
import Reports
import RowStore
import Synchronization
import TestSupport
import Testing

@testable import FeedServer

/// Servers that die while they decide, and clocks that jump, on real databases.
@Suite struct ExperimentKeeperTests {
  private static let hour = 500_000
  private static let ours = Policy(name: "ours", strategy: .expectedWait(WaitTuning()))

  /// A look of a server by its clock.
  private static func look(
    _ store: any PolicyStore & ExperimentStore & ReportStore, atHour hour: Int
  ) {
    let silent = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
    ExperimentKeeper(store, seconds: 60, PrometheusRegistry(), silent) { hour }.look()
  }

  /// No policy without its evidence, nothing half done, nothing done twice.
  private static func check(_ database: KeeperDatabase, _ place: String) throws {
    let (all, policy) = (try database.experiments(), try database.policy())
    let trial = try #require(all.first)
    var usual: [ExperimentStep.Kind] = [.started, .ramped, .ramped, .ramped, .applied]
    var shares = [10, 50, 250, 500, 0]
    // Which nothing can be concluded from: it ended as it was.
    if trial.steps.last?.kind == .stopped {
      usual[trial.steps.count - 1] = .stopped
      shares[trial.steps.count - 1] = 0
    }
    let kinds = trial.steps.map(\.kind)
    #expect(kinds == Array(usual.prefix(kinds.count)), "\(place)")
    #expect(trial.steps.map(\.sharePermille) == Array(shares.prefix(kinds.count)), "\(place)")
    let isApplied = kinds.last == .applied
    #expect(policy == (isApplied ? "ours" : "plain-5"), "\(place)")
    #expect(all.count == (isApplied ? 2 : 1), "\(place)")
    for step in trial.steps.dropFirst() {
      let evidence = String(decoding: step.evidence, as: UTF8.self)
      #expect(evidence.contains(#""finding":{"#), "\(place): \(evidence)")
    }
    if isApplied {
      #expect(all[1].kind == .holdout && all[1].setting.name == "plain-5", "\(place)")
      #expect(all[1].steps.map(\.kind) == [.started], "\(place)")
    }
  }

  /// An experiment hour by hour. At each call of each look a server dies, before the call and when it is done, and another
  /// one goes on; then servers look whose clocks are this many hours off.
  ///
  /// - Returns: what it came to.
  private static func life(
    of database: KeeperDatabase, _ id: Int, clocksOff: [Int], dying: Bool
  ) throws -> ExperimentStep.Kind? {
    let store = database.store
    var random = TestRandom()
    var (deaths, now) = (0, hour)
    func last() throws -> ExperimentStep? {
      try store.experiments(.one(id)).first?.steps.last
    }
    while let step = try last(), step.kind.isRunning, now < hour + 60 {
      let ofB = (0..<300).count { _ in random.number(0...999) < step.sharePermille }
      for (arm, count, loaders) in [("a", 300 - ofB, 4), ("b", ofB, 2)] {
        try database.report(hour: now, arm: "\(id).\(arm)", sessions: count) {
          $0.items = random.number(40...60)
          $0.loaders[.video] = max(0, loaders + random.number(-2...2))
        }
      }
      now += 1
      for isBehind in dying ? [false, true] : [] {
        for call in 1...100 {
          let server = DyingStore(store, atCall: call, isBehind: isBehind)
          look(server, atHour: now)
          try server.endLease()
          try check(database, "hour \(now), call \(call), \(isBehind)")
          guard server.isDead else { break }
          deaths += 1
        }
      }
      for hours in clocksOff {
        let server = DyingStore(store, atCall: .max, isBehind: false)
        look(server, atHour: now + hours)
        try server.endLease()
        try check(database, "hour \(now), a clock that is off by \(hours) hours")
      }
    }
    // A look has five calls at the least.
    if dying { #expect(deaths >= 10 * (now - hour - 1), "\(deaths) in \(now - hour) hours") }
    return try last()?.kind
  }

  private static func begin(_ database: KeeperDatabase) throws -> Int {
    try database.store.begin(
      NewTrial(feed: "featured", network: "3g", setting: ours, reason: "tested"),
      at: Timestamp(microseconds: Int64(hour) * 3_600_000_000))
  }

  @Test(arguments: KeeperDatabase.Kind.present)
  func `servers that die at any call, and clocks that are behind, leave whole steps`(
    _ kind: KeeperDatabase.Kind
  ) throws {
    let database = try KeeperDatabase(kind)
    let id = try Self.begin(database)
    #expect(try Self.life(of: database, id, clocksOff: [-3, -50], dying: true) == .applied)
    #expect(try database.store.check().isEmpty)
  }

  /// What one server takes for a stage of tomorrow has today's sessions by its share: their shares are wrong, and nothing is
  /// concluded.
  @Test func `a clock that is ahead ends an experiment at the worst`() throws {
    let database = try KeeperDatabase(.sqlite)
    let id = try Self.begin(database)
    let end = try Self.life(of: database, id, clocksOff: [0, 2], dying: false)
    #expect([.stopped, .applied].contains(end))
  }
}

/// A store as a server has it that dies at one of its calls: before it, or when it is done and nobody hears of it.
private final class DyingStore: PolicyStore, ExperimentStore, ReportStore {
  private struct Death: Error {}
  private struct State {
    var left: Int
    var lease: (name: String, holder: String)?
  }

  private let store: any DatabaseStore
  private let isBehind: Bool
  private let state: Mutex<State>

  init(_ store: any DatabaseStore, atCall number: Int, isBehind: Bool) {
    (self.store, self.isBehind) = (store, isBehind)
    state = Mutex(State(left: number))
  }

  var isDead: Bool { state.withLock { $0.left <= 0 } }

  /// What a lease comes to whose holder died, once its time is over: nobody's.
  func endLease() throws {
    guard let (name, holder) = state.withLock({ $0.lease }) else { return }
    _ = try store.holdLease(name, holder: holder, milliseconds: 0, now: 0)
  }

  private func call<Result>(_ body: () throws -> Result) throws -> Result {
    let left = state.withLock { state in
      state.left -= 1
      return state.left
    }
    guard left > 0 || left == 0 && isBehind else { throw Death() }
    let result = try body()
    guard left > 0 else { throw Death() }
    return result
  }

  func snapshot() throws -> any StoreSnapshot { try call { try store.snapshot() } }
  func experiments(_ selection: ExperimentSelection) throws -> [PolicyExperiment] {
    try call { try store.experiments(selection) }
  }
  func add(
    _ trial: NewTrial, _ kind: ExperimentStep.Kind, after last: NewestStep?, at time: Timestamp
  ) throws -> Int { try call { try store.add(trial, kind, after: last, at: time) } }
  func take(
    _ kind: ExperimentStep.Kind, sharePermille: Int, evidence: [UInt8], of experiment: Int,
    after last: Int?, at time: Timestamp
  ) throws {
    try call {
      try store.take(
        kind, sharePermille: sharePermille, evidence: evidence, of: experiment, after: last,
        at: time)
    }
  }
  func holdLease(
    _ name: String, holder: String, milliseconds: Int, now: Int64
  ) throws -> Bool {
    try call {
      let isHeld = try store.holdLease(
        name, holder: holder, milliseconds: milliseconds, now: now)
      if isHeld { state.withLock { $0.lease = (name, holder) } }
      return isHeld
    }
  }
  func readReportCells(
    since hour: Int, _ body: (ReportCellKey, ReportCell) throws -> Void
  ) throws { try call { try store.readReportCells(since: hour, body) } }

  // No decision asks for these.

  func add(
    _ parts: [CountedPart], at hour: Int, after batch: Int64, forgettingBefore oldest: Int64,
    cellsPerHour: Int, of limits: WatchLimits
  ) throws -> [ReportMemory.Batch] { throw Death() }
  func reportBatches() throws -> [ReportMemory.Batch] { throw Death() }
  func dropReports(
    before hour: Int, fingerprintsBefore other: Int, of limits: WatchLimits
  ) throws { throw Death() }
  func watchedItems(after id: String?, limit: Int) throws -> [WatchedItem] { throw Death() }
  func watchedClasses() throws -> [ClipClass: WatchRecord] { throw Death() }
  func publish(_ curves: [(item: String, survival: [WatchPoint])]) throws { throw Death() }
  func promises(_ keys: [PromiseKey]) throws -> [PromiseRecord?] { throw Death() }
  func promises(_ state: PromiseRecord.State, limit: Int) throws -> [PromiseKey] {
    throw Death()
  }
  func worstPromises(leastViews: Int, limit: Int) throws -> [(
    key: PromiseKey, record: PromiseRecord
  )] { throw Death() }
  func note(_ state: PromiseRecord.State, of keys: [PromiseKey]) throws { throw Death() }
}
