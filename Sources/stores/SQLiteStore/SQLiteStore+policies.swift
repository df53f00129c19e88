import Catalog
import Feed
import GRDB
import Prefetch
import RowStore

/// Applies policies that the lab found, with their evidence, and undoes them.
extension SQLiteStore {
  /// See `DatabaseStore.apply`. Servers of the database read the policy at their next refresh.
  ///
  /// - Throws: `PolicyApplicationError`, `StoreError`.
  package func apply(
    _ setting: Policy, feed: String?, network: String, evidence: [UInt8], at time: Timestamp
  ) throws {
    let key = PolicyKey(feed: feed, network: network)
    try changePolicy { try $0.apply(setting, to: key, evidence: evidence, at: time) }
  }

  /// See `DatabaseStore.undoPolicy`.
  ///
  /// - Throws: `PolicyApplicationError`, `StoreError`; then nothing is changed.
  package func undoPolicy(feed: String?, network: String) throws {
    try changePolicy { try $0.undo(PolicyKey(feed: feed, network: network)) }
  }

  private func changePolicy(_ body: (AppliedPolicies) throws -> Void) throws {
    try withStoreErrors(path: path) {
      try pool.write { database in
        try body(AppliedPolicies(database: database))
        try ChangeLog(database: database).trim()
      }
    }
    followOwnWrite()
  }
}

/// The tables of policies and of applied policies.
struct AppliedPolicies: PolicyRows {
  let database: Database

  private static let columnList = PolicyColumns.all.joined(separator: ", ")
  /// SQL for a policy's columns as JSON.
  static let asJSON =
    "json_object(" + PolicyColumns.all.map { "'\($0)', policy.\($0)" }.joined(separator: ", ") + ")"
  private static let isOfFeed = "coalesce(feed, '') = coalesce(?, '') AND network = ?"

  func networks() throws -> [String] {
    try String.fetchAll(database, sql: "SELECT name FROM network_profile ORDER BY name")
  }

  func hasFeed(_ name: String) throws -> Bool {
    try Bool.fetchOne(
      database, sql: "SELECT EXISTS (SELECT 1 FROM feed WHERE name = ?)", arguments: [name])
      ?? false
  }

  func row(_ key: PolicyKey) throws -> String? {
    try String.fetchOne(
      database, sql: "SELECT \(Self.asJSON) FROM policy WHERE \(Self.isOfFeed)",
      arguments: [key.feed, key.network])
  }

  /// Adds a copy of the row for all feeds, or, if that is absent, a row with default values.
  func add(_ key: PolicyKey) throws {
    try database.execute(
      sql: """
        INSERT INTO policy (feed, network, \(Self.columnList))
        SELECT ?, network, \(Self.columnList) FROM policy WHERE feed IS NULL AND network = ?
        """, arguments: [key.feed, key.network])
    guard database.changesCount == 0 else { return }
    try database.execute(
      sql: """
        INSERT INTO policy (feed, network, name, strategy, parameters)
        VALUES (?, ?, 'none', 'plain', '{"leading":0}')
        """, arguments: [key.feed, key.network])
  }

  func set(_ setting: Policy, _ key: PolicyKey) throws {
    try database.execute(
      sql: """
        UPDATE policy SET name = ?, strategy = ?, parameters = ?, image_weight = ?, video_weight = ?
        WHERE \(Self.isOfFeed)
        """,
      arguments: [
        setting.name, setting.strategy.name, PolicyColumns.parameters(of: setting.strategy),
        setting.imageWeight, setting.videoWeight, key.feed, key.network,
      ])
  }

  func note(
    _ key: PolicyKey, _ time: Timestamp, evidence: String, before: String?, applied: String
  ) throws {
    try database.execute(
      sql: """
        INSERT INTO applied_policy (feed, network, applied_at, evidence, before, applied)
        VALUES (?, ?, ?, ?, ?, ?)
        """,
      arguments: [key.feed, key.network, time.microseconds, evidence, before, applied])
    try database.execute(
      sql: """
        DELETE FROM applied_policy WHERE \(Self.isOfFeed) AND applied_id NOT IN (
          SELECT applied_id FROM applied_policy WHERE \(Self.isOfFeed)
          ORDER BY applied_id DESC LIMIT ?)
        """,
      arguments: [
        key.feed, key.network, key.feed, key.network, PolicyColumns.keptApplications,
      ])
  }

  func last(_ key: PolicyKey) throws -> AppliedSetting? {
    try Row.fetchOne(
      database,
      sql: """
        SELECT applied_id, before, applied FROM applied_policy WHERE \(Self.isOfFeed)
        ORDER BY applied_id DESC LIMIT 1
        """, arguments: [key.feed, key.network]
    ).map { AppliedSetting(id: $0[0], before: $0[1], applied: $0[2]) }
  }

  func restore(_ last: AppliedSetting, _ key: PolicyKey) throws {
    if let before = last.before {
      let sets = PolicyColumns.all.map { "\($0) = json_extract(?1, '$.\($0)')" }
      try database.execute(
        sql: """
          UPDATE policy SET \(sets.joined(separator: ", "))
          WHERE coalesce(feed, '') = coalesce(?2, '') AND network = ?3
          """, arguments: [before, key.feed, key.network])
    } else {
      try database.execute(
        sql: "DELETE FROM policy WHERE \(Self.isOfFeed)", arguments: [key.feed, key.network])
    }
    try database.execute(
      sql: "DELETE FROM applied_policy WHERE applied_id = ?", arguments: [last.id])
  }

  /// Returns the evidence of each policy that is still as it was last applied.
  func evidence() throws -> [PolicyBook.Key: PolicyEvidence] {
    let rows = try Row.fetchAll(
      database,
      sql: """
        SELECT policy.feed, policy.network, applied_at, evidence
        FROM policy CROSS JOIN applied_policy AS last
          ON coalesce(last.feed, '') = coalesce(policy.feed, '') AND last.network = policy.network
        WHERE last.applied = \(Self.asJSON) AND last.applied_id = (
          SELECT max(applied_id) FROM applied_policy AS newest
          WHERE coalesce(newest.feed, '') = coalesce(policy.feed, '')
            AND newest.network = policy.network)
        """)
    let pairs = rows.map { row in
      let json: String = row[3]
      return (
        PolicyBook.Key(feed: row[0], network: row[1]),
        PolicyEvidence(
          appliedAt: Timestamp(microseconds: row[2]), json: Array(json.utf8))
      )
    }
    return Dictionary(pairs, uniquingKeysWith: { _, last in last })
  }
}
