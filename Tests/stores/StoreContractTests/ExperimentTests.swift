import Catalog
import Experiments
import Feed
import Prefetch
import TestSupport
import Testing

/// Experiments, in every store.
@Suite struct ExperimentTests {
  private static let ours = Policy(
    name: "expected-wait:price=900", strategy: .expectedWait(WaitTuning(price: 900)))
  private static func time(_ second: Int) -> Timestamp {
    Timestamp(microseconds: Int64(second) * 1_000_000)
  }
  private static let evidence = Array(#"{"reason":"tested"}"#.utf8)

  private static func trial(feed: String? = "featured", network: String? = "3g") -> NewTrial {
    NewTrial(feed: feed, network: network, setting: ours, salt: "salt", reason: "tested")
  }

  private static func policy(
    _ store: any PolicyStore, _ feed: String?, _ network: String
  ) throws -> String {
    let book = try store.snapshot().policyBook
    let profile = try #require(book.networks.first { $0.name == network })
    return book.policy(feed: feed, network: profile).name
  }

  private static func kinds(_ store: any ExperimentStore) throws -> [[String]] {
    try store.experiments(.newest(10)).map { $0.steps.map(\.kind.rawValue) }
  }

  @Test(arguments: StoreKind.allCases)
  func `a policy is tried, applied with its hold-out, and taken back`(_ kind: StoreKind) throws {
    let test = try TestStore(kind)
    let store = test.store
    try store.load([.ranked("a", 1)])
    _ = try store.snapshot()
    let version = store.version
    let id = try store.begin(Self.trial(), at: Self.time(5))
    // Pages that are kept have it.
    #expect(!store.isUnchanged(feed: "featured", posts: [], since: version))
    let book = try store.snapshot().policyBook
    let network = try #require(book.networks.first { $0.name == "3g" })
    let other = try #require(book.networks.first { $0.name == "lte" })
    let running = try #require(book.experiment(feed: "featured", network: network))
    #expect(running.id == id && running.sharePermille == 10 && running.salt == "salt")
    #expect(running.setting.strategy == Self.ours.strategy)
    #expect(book.experiment(feed: "featured", network: other) == nil)
    #expect(book.experiment(feed: nil, network: network) == nil)
    #expect(book.policy(feed: "featured", network: network, arm: .b).name == Self.ours.name)
    #expect(book.policy(feed: "featured", network: other, arm: .b).name == "plain-5")

    let first = try #require(try store.experiments(.newest(10)).first?.steps.last?.id)
    try store.take(
      .ramped, sharePermille: 500, evidence: Self.evidence, of: id, after: first, at: Self.time(6))
    // Two that decided on the same step: the second has changed nothing.
    #expect(throws: ExperimentError.hasMovedOn(id)) {
      try store.take(
        .rolledBack, sharePermille: 0, evidence: Self.evidence, of: id, after: first,
        at: Self.time(7))
    }
    try store.take(
      .applied, sharePermille: 0, evidence: Self.evidence, of: id, after: nil, at: Self.time(8))
    #expect(try Self.policy(store, "featured", "3g") == Self.ours.name)
    let experiments = try store.experiments(.newest(10))
    #expect(experiments.map(\.kind) == [.holdout, .trial])
    #expect(experiments[0].setting.name == "plain-5" && experiments[0].isRunning)
    #expect(experiments[0].running?.sharePermille == 50 && experiments[0].network == "3g")
    #expect(experiments[1].steps.map(\.sharePermille) == [10, 500, 0])
    #expect(experiments[1].steps.map(\.takenAt) == [5, 6, 8].map(Self.time))

    // The one of before was better.
    try store.take(
      .takenBack, sharePermille: 0, evidence: Self.evidence, of: experiments[0].id, after: nil,
      at: Self.time(9))
    #expect(try Self.policy(store, "featured", "3g") == "plain-5")
    #expect(
      try Self.kinds(store) == [["started", "takenBack"], ["started", "ramped", "applied"]])
    #expect(try store.snapshot().policyBook.experiments.isEmpty)
    #expect(throws: ExperimentError.isOver(experiments[0].id)) {
      try store.take(
        .stopped, sharePermille: 0, evidence: Self.evidence, of: experiments[0].id, after: nil,
        at: Self.time(10))
    }
  }

  @Test(arguments: StoreKind.allCases)
  func `one of all feeds and networks is applied on each, and undone`(_ kind: StoreKind) throws {
    let test = try TestStore(kind)
    let store = test.store
    try store.load([.ranked("a", 1)])
    let id = try store.begin(Self.trial(feed: nil, network: nil), at: Self.time(5))
    // One of a single network would try a second policy on the same sessions.
    #expect(throws: ExperimentError.overlaps(id)) {
      try store.begin(Self.trial(feed: nil), at: Self.time(6))
    }
    // A feed with a policy of its own is another matter.
    let own = try store.begin(Self.trial(), at: Self.time(6))
    let book = try store.snapshot().policyBook
    let network = try #require(book.networks.first { $0.name == "3g" })
    #expect(book.experiment(feed: "featured", network: network)?.id == own)
    #expect(book.experiment(feed: "videos", network: network)?.id == id)
    try store.take(
      .applied, sharePermille: 0, evidence: Self.evidence, of: id, after: nil, at: Self.time(8))
    #expect(try Self.policy(store, nil, "3g") == Self.ours.name)
    #expect(try Self.policy(store, nil, "edge") == Self.ours.name)
    #expect(try Self.policy(store, "featured", "edge") == "plain-5")
    try store.take(
      .undone, sharePermille: 0, evidence: Self.evidence, of: id, after: nil, at: Self.time(9))
    #expect(try Self.policy(store, nil, "3g") == "expected-wait")
    #expect(try Self.policy(store, nil, "offline") == "weighted-0")
    #expect(try store.snapshot().policyBook.experiments.map(\.id) == [own])
    #expect(throws: ExperimentError.nothingApplied(id)) {
      try store.take(
        .undone, sharePermille: 0, evidence: Self.evidence, of: id, after: nil, at: Self.time(9))
    }
    // Another trial on the same policies may begin now.
    #expect(try store.begin(Self.trial(feed: nil), at: Self.time(10)) > id)
  }

  @Test(arguments: StoreKind.allCases)
  func `undo takes back what the experiment itself applied`(_ kind: StoreKind) throws {
    let test = try TestStore(kind)
    let store = test.store
    try store.load([.ranked("a", 1)])
    func apply(_ policy: Policy, _ second: Int) throws -> Int {
      let trial = NewTrial(feed: "featured", network: "3g", setting: policy, reason: "tested")
      let id = try store.begin(trial, at: Self.time(second))
      try store.take(
        .applied, sharePermille: 0, evidence: Self.evidence, of: id, after: nil,
        at: Self.time(second))
      return id
    }
    func undo(_ id: Int) throws {
      try store.take(
        .undone, sharePermille: 0, evidence: Self.evidence, of: id, after: nil, at: Self.time(99))
    }
    let first = try apply(Self.ours, 1)
    let second = try apply(Policy(name: "later", strategy: .plain(leading: 2)), 2)
    #expect(throws: ExperimentError.changedSince) { try undo(first) }
    #expect(try Self.policy(store, "featured", "3g") == "later")
    try undo(second)
    #expect(try Self.policy(store, "featured", "3g") == Self.ours.name)
    try undo(first)
    #expect(try Self.policy(store, "featured", "3g") == "plain-5")
    #expect(try store.snapshot().policyBook.experiments.isEmpty)
  }

  @Test(arguments: StoreKind.allCases)
  func `a suggestion waits until it is begun, declined or replaced`(_ kind: StoreKind) throws {
    let test = try TestStore(kind)
    let store = test.store
    try store.load([.ranked("a", 1)])
    func newest() throws -> NewestStep {
      NewestStep(of: try store.experiments(.newest(10)), feed: "featured", network: "3g")
    }
    let before = try newest()
    #expect(before.id == 0)
    let first = try store.add(Self.trial(), .suggested, after: before, at: Self.time(1))
    // It changes nothing, and no page names it.
    #expect(try store.snapshot().policyBook.experiments.isEmpty)
    #expect(try store.experiments(.waiting).map(\.id) == [first])
    #expect(try store.experiments(.running).isEmpty)
    // Of two tuners that began on the same history one has written.
    for kind in [ExperimentStep.Kind.suggested, .started, .kept] {
      #expect(throws: ExperimentError.hasMovedOn(first)) {
        try store.add(Self.trial(), kind, after: before, at: Self.time(2))
      }
    }
    // What is done about other sessions is another matter.
    let other = try store.begin(Self.trial(network: "lte"), at: Self.time(2))
    let second = try store.add(Self.trial(), .suggested, after: newest(), at: Self.time(3))
    #expect(try store.experiments(.waiting).map(\.id) == [second])
    #expect(
      try Self.kinds(store) == [["suggested"], ["started"], ["suggested", "ended"]])
    for kind in [ExperimentStep.Kind.ramped, .applied, .undone, .ended] {
      #expect(throws: ExperimentError.self) {
        try store.take(
          kind, sharePermille: 0, evidence: Self.evidence, of: second, after: nil, at: Self.time(4))
      }
    }
    try store.take(
      .started, sharePermille: 10, evidence: Self.evidence, of: second, after: nil,
      at: Self.time(4))
    #expect(try store.snapshot().policyBook.experiments.map(\.id).sorted() == [other, second])
    #expect(throws: ExperimentError.notWaiting(second)) {
      try store.take(
        .started, sharePermille: 10, evidence: Self.evidence, of: second, after: nil,
        at: Self.time(5))
    }
    // While it runs nothing is suggested for its sessions, nor for all networks.
    for network in ["3g", nil] {
      #expect(throws: ExperimentError.self) {
        try store.add(Self.trial(network: network), .suggested, after: nil, at: Self.time(5))
      }
    }
    for id in [second, other] {
      try store.take(
        .stopped, sharePermille: 0, evidence: Self.evidence, of: id, after: nil, at: Self.time(6))
    }
    let third = try store.add(
      Self.trial(network: nil), .suggested, after: nil, at: Self.time(7))
    try store.take(
      .stopped, sharePermille: 0, evidence: Self.evidence, of: third, after: nil, at: Self.time(8))
    #expect(throws: ExperimentError.notWaiting(third)) {
      try store.take(
        .started, sharePermille: 10, evidence: Self.evidence, of: third, after: nil,
        at: Self.time(9))
    }
    #expect(try store.experiments(.waiting).isEmpty)
  }

  @Test(arguments: StoreKind.allCases)
  func `a policy that is kept night after night is one line of the history`(
    _ kind: StoreKind
  ) throws {
    let test = try TestStore(kind)
    let store = test.store
    try store.load([.ranked("a", 1)])
    func keep(_ network: String?, _ second: Int) throws -> Int {
      try store.add(Self.trial(network: network), .kept, after: nil, at: Self.time(second))
    }
    let waiting = try store.add(Self.trial(), .suggested, after: nil, at: Self.time(1))
    let first = try keep("3g", 2)
    #expect(try keep("3g", 3) == first)
    let other = try keep(nil, 4)
    #expect(other != first && other != waiting)
    #expect(try keep("3g", 5) == first)
    #expect(
      try Self.kinds(store) == [["kept"], ["kept", "kept", "kept"], ["suggested", "ended"]])
    // A hold-out goes on.
    let id = try store.begin(Self.trial(), at: Self.time(6))
    try store.take(
      .applied, sharePermille: 0, evidence: Self.evidence, of: id, after: nil, at: Self.time(7))
    _ = try keep("3g", 8)
    #expect(try store.experiments(.running).map(\.kind) == [.holdout])
  }

  @Test(arguments: StoreKind.allCases)
  func `what there is not is refused by name`(_ kind: StoreKind) throws {
    let test = try TestStore(kind)
    let store = test.store
    try store.load([.ranked("a", 1)])
    #expect(throws: ExperimentError.unknownFeed("x")) {
      try store.begin(Self.trial(feed: "x"), at: Self.time(1))
    }
    #expect(throws: ExperimentError.self) {
      try store.begin(Self.trial(network: "5g"), at: Self.time(1))
    }
    #expect(throws: ExperimentError.unknown(7)) {
      try store.take(
        .stopped, sharePermille: 0, evidence: Self.evidence, of: 7, after: nil, at: Self.time(1))
    }
    #expect(try store.experiments(.newest(10)).isEmpty)
  }

  /// The database's clock decides in PostgreSQL: a lease there is over after real time alone.
  @Test(arguments: StoreKind.allCases) func `one holds a lease`(_ kind: StoreKind) throws {
    let test = try TestStore(kind)
    let store = test.store
    func hold(_ holder: String, _ milliseconds: Int, _ now: Int64 = 1_000) throws -> Bool {
      try store.holdLease("l", holder: holder, milliseconds: milliseconds, now: now)
    }
    #expect(try hold("a", 60_000))
    #expect(try hold("a", 60_000))
    #expect(try !hold("b", 60_000))
    #expect(try store.holdLease("m", holder: "b", milliseconds: 1, now: 1_000))
    // Given up.
    #expect(try hold("a", 0))
    #expect(try hold("b", 60_000, 1_001))
    #expect(try !hold("a", 60_000, 1_001))
    // Its holder died: another one goes on once its time is over, and the first one, where it only slept, no longer.
    #expect(try hold("b", 40, 2_000))
    guard kind == .postgres else {
      #expect(try !hold("c", 60_000, 2_039))
      #expect(try hold("c", 60_000, 2_040))
      #expect(try !hold("b", 60_000, 2_041))
      // A clock that was far ahead when it took it holds nobody up for ever.
      #expect(try hold("c", 60_000, 9_000_000))
      #expect(try hold("b", 60_000, 2_100))
      return
    }
    let isOver = try eventually { try hold("c", 60_000, 0) }
    #expect(isOver)
    // Clocks of servers are of no matter.
    #expect(try !hold("b", 60_000, 9_000_000_000_000))
  }
}
