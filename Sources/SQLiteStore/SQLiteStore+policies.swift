import Catalog
import Feed
import GRDB
import Prefetch
import RowStore

/// Policies that the lab found: written with what they rest on, and taken back.
extension SQLiteStore {
  /// Makes a setting the policy of a feed on a network. What the setting does not say stays as the policy in force
  /// has it. Servers of the database take it with their next refresh.
  ///
  /// - Parameters:
  ///   - setting: the strategy, and what images and videos weigh; its name is the policy's.
  ///   - feed: `nil` for all feeds that have no policy of their own.
  ///   - evidence: a JSON object of at most 64 KiB.
  /// - Throws: `PolicyApplicationError`, `StoreError`.
  public func apply(
    _ setting: Policy, feed: String?, network: String, evidence: [UInt8], at time: Timestamp
  ) throws {
    try changePolicy { table in
      try table.check(feed: feed, network: network)
      let before = try table.row(feed, network)
      if before == nil { try table.add(feed, network) }
      try table.set(setting, feed, network)
      guard let applied = try table.row(feed, network) else { return }
      try table.note(
        feed, network, time, evidence: String(decoding: evidence, as: UTF8.self), before: before,
        applied: applied)
    }
  }

  /// Puts back what stood there before the last setting of a feed and network was applied.
  ///
  /// - Throws: `PolicyApplicationError`, `StoreError`; then nothing is changed.
  public func undoPolicy(feed: String?, network: String) throws {
    try changePolicy { table in
      guard let last = try table.last(feed, network) else {
        throw PolicyApplicationError.nothingApplied
      }
      guard try table.row(feed, network) == last.applied else {
        throw PolicyApplicationError.changedSince
      }
      try table.restore(last, feed, network)
    }
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

/// The tables of policies and of what was applied.
struct AppliedPolicies {
  let database: Database

  /// What was applied last.
  struct Applied {
    let id: Int64
    let before: String?
    let applied: String
  }

  private static let columnList = PolicyColumns.all.joined(separator: ", ")
  /// A policy's columns as JSON.
  static let asJSON =
    "json_object(" + PolicyColumns.all.map { "'\($0)', policy.\($0)" }.joined(separator: ", ") + ")"
  private static let isOfFeed = "coalesce(feed, '') = coalesce(?, '') AND network = ?"

  func check(feed: String?, network: String) throws {
    let known = try String.fetchAll(
      database, sql: "SELECT name FROM network_profile ORDER BY name")
    guard known.contains(where: { $0.isSame(as: network) }) else {
      throw PolicyApplicationError.unknownNetwork(network, known: known)
    }
    guard let feed else { return }
    let count = try Int.fetchOne(
      database, sql: "SELECT count(*) FROM feed WHERE name = ?", arguments: [feed])
    if count == 0 { throw PolicyApplicationError.unknownFeed(feed) }
  }

  func row(_ feed: String?, _ network: String) throws -> String? {
    try String.fetchOne(
      database, sql: "SELECT \(Self.asJSON) FROM policy WHERE \(Self.isOfFeed)",
      arguments: [feed, network])
  }

  /// A row like the one for all feeds, or where there is none with the usual numbers.
  func add(_ feed: String?, _ network: String) throws {
    try database.execute(
      sql: """
        INSERT INTO policy (feed, network, \(Self.columnList))
        SELECT ?, network, \(Self.columnList) FROM policy WHERE feed IS NULL AND network = ?
        """, arguments: [feed, network])
    guard database.changesCount == 0 else { return }
    try database.execute(
      sql: """
        INSERT INTO policy (feed, network, name, strategy, parameters)
        VALUES (?, ?, 'none', 'plain', '{"leading":0}')
        """, arguments: [feed, network])
  }

  func set(_ setting: Policy, _ feed: String?, _ network: String) throws {
    try database.execute(
      sql: """
        UPDATE policy SET name = ?, strategy = ?, parameters = ?, image_weight = ?, video_weight = ?
        WHERE \(Self.isOfFeed)
        """,
      arguments: [
        setting.name, setting.strategy.name, PolicyColumns.parameters(of: setting.strategy),
        setting.imageWeight, setting.videoWeight, feed, network,
      ])
  }

  func note(
    _ feed: String?, _ network: String, _ time: Timestamp, evidence: String, before: String?,
    applied: String
  ) throws {
    try database.execute(
      sql: """
        INSERT INTO applied_policy (feed, network, applied_at, evidence, before, applied)
        VALUES (?, ?, ?, ?, ?, ?)
        """, arguments: [feed, network, time.microseconds, evidence, before, applied])
    try database.execute(
      sql: """
        DELETE FROM applied_policy WHERE \(Self.isOfFeed) AND applied_id NOT IN (
          SELECT applied_id FROM applied_policy WHERE \(Self.isOfFeed)
          ORDER BY applied_id DESC LIMIT ?)
        """, arguments: [feed, network, feed, network, PolicyColumns.keptApplications])
  }

  func last(_ feed: String?, _ network: String) throws -> Applied? {
    try Row.fetchOne(
      database,
      sql: """
        SELECT applied_id, before, applied FROM applied_policy WHERE \(Self.isOfFeed)
        ORDER BY applied_id DESC LIMIT 1
        """, arguments: [feed, network]
    ).map { Applied(id: $0[0], before: $0[1], applied: $0[2]) }
  }

  func restore(_ last: Applied, _ feed: String?, _ network: String) throws {
    if let before = last.before {
      let sets = PolicyColumns.all.map { "\($0) = json_extract(?1, '$.\($0)')" }
      try database.execute(
        sql: """
          UPDATE policy SET \(sets.joined(separator: ", "))
          WHERE coalesce(feed, '') = coalesce(?2, '') AND network = ?3
          """, arguments: [before, feed, network])
    } else {
      try database.execute(
        sql: "DELETE FROM policy WHERE \(Self.isOfFeed)", arguments: [feed, network])
    }
    try database.execute(
      sql: "DELETE FROM applied_policy WHERE applied_id = ?", arguments: [last.id])
  }

  /// What the policies rest on that are what was applied last.
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
