import Feed
import GRDB
import Migrations
import Prefetch
import TestSupport
import Testing

@testable import SQLiteStore

/// Policies as they lie in the database.
@Suite struct PolicyTests {
  let folder = TemporaryFolder()
  var path: String { folder.file("feed.sqlite") }

  /// As somebody writes who knows the file alone: without foreign keys.
  private func write(_ sql: String) throws {
    var configuration = Configuration()
    configuration.foreignKeysEnabled = false
    try DatabaseQueue(path: path, configuration: configuration).write { try $0.execute(sql: sql) }
  }

  private static let dropTriggers =
    "DROP TRIGGER policy_checked; DROP TRIGGER policy_checked_again;"
  private static let unknown =
    "UPDATE policy SET strategy = 'later' WHERE feed = 'featured' AND network = '3g';"
  private static let error = PolicyError(
    feed: "featured", network: "3g", strategy: "later", reason: .unknown("later"))

  private func strategy(_ store: SQLiteStore, feed: String?, network: String) throws -> Policy {
    let book = try store.snapshot().policyBook
    let profile = try #require(book.networks.first { $0.name == network })
    return book.policy(feed: feed, network: profile)
  }

  @Test(arguments: [
    ("later", #"{"leading":5}"#), ("", #"{"leading":5}"#), ("plain", "[]"), ("plain", "5"),
    ("plain", "{"), ("plain", #"{"leading":null}"#), ("plain", #"{"leading":"5"}"#),
    ("plain", #"{"leading":5.5}"#), ("plain", #"{"leading":-1}"#), ("plain", #"{"leading":101}"#),
    ("plain", #"{"leading":5,"leading":6}"#), ("plain", #"{"leading":5,"maxCost":5}"#),
    ("plain", #"{"Leading":5}"#),
    ("weighted", #"{"leading":5,"maxCost":1000001}"#),
    ("weighted", #"{"leading":5,"maxCost":[]}"#),
  ])
  func `what is no strategy is refused where it is written, and nothing changes`(
    _ strategy: String, _ parameters: String
  ) throws {
    let store = try SQLiteStore(path: path)
    try store.load([.ranked("a", 1)])
    let before = try self.strategy(store, feed: "featured", network: "3g")
    for sql in [
      "UPDATE policy SET strategy = '\(strategy)', parameters = '\(parameters)' WHERE network = '3g'",
      """
      INSERT INTO policy (feed, network, name, strategy, parameters)
        VALUES ('other', '3g', 'x', '\(strategy)', '\(parameters)')
      """,
    ] {
      #expect(throws: DatabaseError.self) { try write(sql) }
    }
    try store.refresh()
    #expect(try self.strategy(store, feed: "featured", network: "3g") == before)
    #expect(try store.check().isEmpty)
  }

  /// What somebody wrote, and what was applied, is theirs.
  @Test func `the default policies of before become ours, and no other`() throws {
    let pool = try DatabaseFile.open(path: path, options: .init())
    _ = try Migrator(Array(Migration.sqlite.prefix(5))).migrate(pool)
    try pool.write { database in
      try database.execute(
        sql: """
          UPDATE policy SET video_weight = 4 WHERE feed IS NULL AND network = 'dsl';
          UPDATE policy SET name = 'mine' WHERE feed IS NULL AND network = 'edge';
          INSERT INTO applied_policy (network, applied_at, evidence, applied)
            VALUES ('wifi', 1, '{}', '{}')
          """)
    }
    try pool.close()
    let store = try SQLiteStore(path: path)
    let names = try ["lte", "3g", "very-bad", "dsl", "edge", "wifi", "offline"].map {
      try strategy(store, feed: nil, network: $0).name
    }
    #expect(
      names == [
        "expected-wait", "expected-wait", "expected-wait", "weighted-5", "mine", "weighted-10",
        "weighted-0",
      ])
    #expect(try strategy(store, feed: "featured", network: "3g").name == "plain-5")
    #expect(try store.check().isEmpty)
  }

  @Test(arguments: [
    ("weighted", #"{"maxCost":3}"#, Policy.Strategy.weighted(leading: 10, maxCost: 3)),
    ("expected-wait", "{}", .expectedWait(WaitTuning())),
    ("expected-wait", #"{"futures":8}"#, .expectedWait(WaitTuning(futures: 8))),
  ])
  func `a parameter that a policy leaves out has its usual value`(
    _ name: String, _ parameters: String, _ strategy: Policy.Strategy
  ) throws {
    let store = try SQLiteStore(path: path)
    try store.load([.ranked("a", 1)])
    try write(
      """
      UPDATE policy SET strategy = '\(name)', parameters = '\(parameters)'
        WHERE feed = 'featured' AND network = '3g'
      """)
    try store.refresh()
    #expect(try self.strategy(store, feed: "featured", network: "3g").strategy == strategy)
    #expect(try store.check().isEmpty)
  }

  @Test func `what the program knows is what the database takes`() throws {
    let store = try SQLiteStore(path: path)
    try store.load([.ranked("a", 1)])
    let rows = try store.pool.read {
      try Row.fetchAll($0, sql: "SELECT strategy, name, least, most FROM strategy_parameter")
    }
    let names = try store.pool.read { try String.fetchAll($0, sql: "SELECT name FROM strategy") }
    #expect(Set(names) == Set(Policy.Strategy.usual.map(\.name)))
    for name in names {
      let ranges: [(name: String, least: Int, most: Int)] =
        rows.filter { $0[0] == name }.map { ($0[1], $0[2], $0[3]) }
      for values in [ranges.map { ($0.name, $0.least) }, ranges.map { ($0.name, $0.most) }] {
        let known = try Policy.Strategy(
          name: name, parameters: Dictionary(uniqueKeysWithValues: values))
        #expect(known.parameters.map(\.name).sorted() == ranges.map(\.name).sorted())
        let json = values.map { "\"\($0.0)\":\($0.1)" }.joined(separator: ",")
        try write(
          """
          UPDATE policy SET strategy = '\(name)', parameters = '{\(json)}'
            WHERE feed = 'featured' AND network = '3g'
          """)
        try store.refresh()
        #expect(try strategy(store, feed: "featured", network: "3g").strategy == known)
      }
      for (parameter, least, most) in ranges {
        var values = Dictionary(uniqueKeysWithValues: ranges.map { ($0.name, $0.least) })
        for value in [least - 1, most + 1] {
          values[parameter] = value
          #expect(throws: StrategyError.outOfRange(parameter, value, allowed: least...most)) {
            try Policy.Strategy(name: name, parameters: values)
          }
        }
      }
    }
  }

  @Test func `an unknown strategy keeps the store from starting, and is named`() throws {
    try SQLiteStore(path: path).close()
    try write(Self.dropTriggers + Self.unknown)
    let store = try SQLiteStore(path: path)
    let error = #expect(throws: PolicyError.self) { try store.beginLoading() }
    #expect(error == Self.error)
    #expect(
      "\(Self.error)".hasPrefix(
        """
        the policy of the feed "featured" on the network "3g" has the strategy "later": there is no \
        strategy "later"; the known ones are plain, weighted,
        """))
    #expect(throws: PolicyError.self) { try store.feeds() }
    // Who only writes or repairs needs no policy.
    #expect(try store.check().contains { $0.text.contains("strategy later") })
    try store.close()
  }

  @Test func `a running store keeps the policies of before until the new ones are understood`()
    throws
  {
    let store = try SQLiteStore(path: path)
    try store.load([.ranked("a", 1)])
    let before = try strategy(store, feed: "featured", network: "3g")
    try write(
      Self.dropTriggers + Self.unknown
        + "UPDATE policy SET name = 'newer' WHERE network = 'wifi'")
    for _ in 0..<3 {
      _ = try store.refresh()
      #expect(try store.snapshot().policyBook.problem == Self.error)
      #expect(try strategy(store, feed: "featured", network: "3g") == before)
      // All of the book, not some of it.
      #expect(try strategy(store, feed: "featured", network: "wifi").name == "plain-5")
      try store.load([.ranked("b", 2)])
    }
    try write(
      "UPDATE policy SET strategy = 'plain', parameters = '{\"leading\":9}' WHERE network = '3g'")
    #expect(try store.refresh())
    #expect(try store.snapshot().policyBook.problem == nil)
    #expect(try strategy(store, feed: "featured", network: "3g").leading == 9)
    #expect(try strategy(store, feed: "featured", network: "wifi").name == "newer")
  }
}
