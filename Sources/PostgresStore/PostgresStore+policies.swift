import Catalog
import Feed
import Postgres
import Prefetch
import RowStore

/// Policies that the lab found: written with what they rest on, and taken back.
extension PostgresStore {
  /// Makes a setting the policy of a feed on a network. What the setting does not say stays as the policy in force
  /// has it. Servers of the database take it with their next refresh.
  ///
  /// - Parameters:
  ///   - setting: the strategy, and what images and videos weigh; its name is the policy's.
  ///   - feed: `nil` for all feeds that have no policy of their own.
  ///   - evidence: a JSON object of at most 64 KiB.
  /// - Throws: `PolicyApplicationError`, `PostgresStoreError`.
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
  /// - Throws: `PolicyApplicationError`, `PostgresStoreError`; then nothing is changed.
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
    try withStoreErrors(name) {
      try writer.transaction { rows in
        try body(AppliedPolicies(connection: rows.connection))
        rows.trimLog()
      }
    }
    followOwnWrite()
  }
}

/// The tables of policies and of what was applied.
struct AppliedPolicies {
  let connection: Connection

  /// What was applied last.
  struct Applied {
    let id: Int64
    let before: String?
    let applied: String
  }

  private static let columns = PolicyColumns.all.map { "\"\($0)\"" }.joined(separator: ", ")
  /// A policy's columns as JSON, to the byte as SQLite writes it.
  static let asJSON =
    "'{' || "
    + (PolicyColumns.texts.map { "'\"\($0)\":' || to_json(policy.\"\($0)\")::text" }
    + PolicyColumns.numbers.map { "'\"\($0)\":' || policy.\"\($0)\"" })
    .joined(separator: " || ',' || ") + " || '}'"
  private static let isOfFeed = "coalesce(feed, '') = coalesce($1::text, '') AND network = $2::text"

  func check(feed: String?, network: String) throws {
    let rows = try connection.run("SELECT name FROM network_profile ORDER BY name")
    let known = (0..<rows.count).compactMap { rows.text($0, 0) }
    guard known.contains(where: { $0.isSame(as: network) }) else {
      throw PolicyApplicationError.unknownNetwork(network, known: known)
    }
    guard let feed else { return }
    let found = try connection.run("SELECT 1 FROM feed WHERE name = $1::text", [.text(feed)])
    if found.count == 0 { throw PolicyApplicationError.unknownFeed(feed) }
  }

  func row(_ feed: String?, _ network: String) throws -> String? {
    let rows = try connection.run(
      "SELECT \(Self.asJSON) FROM policy WHERE \(Self.isOfFeed)", [.text(feed), .text(network)])
    return rows.count == 0 ? nil : rows.text(0, 0)
  }

  /// A row like the one for all feeds, or where there is none with the usual numbers.
  func add(_ feed: String?, _ network: String) throws {
    let key = [Parameter.text(feed), .text(network)]
    let copied = try connection.run(
      """
      INSERT INTO policy (feed, network, \(Self.columns))
      SELECT $1::text, network, \(Self.columns) FROM policy
      WHERE feed IS NULL AND network = $2::text
      """, key)
    guard copied.changedCount == 0 else { return }
    try connection.run(
      """
      INSERT INTO policy (feed, network, name, strategy, parameters)
      VALUES ($1::text, $2::text, 'none', 'plain', '{"leading":0}')
      """, key)
  }

  func set(_ setting: Policy, _ feed: String?, _ network: String) throws {
    try connection.run(
      """
      UPDATE policy SET name = $3::text, strategy = $4::text, parameters = $5::text,
        image_weight = $6::int8, video_weight = $7::int8 WHERE \(Self.isOfFeed)
      """,
      [
        .text(feed), .text(network), .text(setting.name), .text(setting.strategy.name),
        .text(PolicyColumns.parameters(of: setting.strategy)), .integer(setting.imageWeight),
        .integer(setting.videoWeight),
      ])
  }

  func note(
    _ feed: String?, _ network: String, _ time: Timestamp, evidence: String, before: String?,
    applied: String
  ) throws {
    let key = [Parameter.text(feed), .text(network)]
    try connection.run([
      Statement(
        """
        INSERT INTO applied_policy (feed, network, applied_at, evidence, before, applied)
        VALUES ($1::text, $2::text, $3::int8, $4::text, $5::text, $6::text)
        """, key + [.integer(time.microseconds), .text(evidence), .text(before), .text(applied)]),
      Statement(
        """
        DELETE FROM applied_policy WHERE \(Self.isOfFeed) AND applied_id NOT IN (
          SELECT applied_id FROM applied_policy WHERE \(Self.isOfFeed)
          ORDER BY applied_id DESC LIMIT \(PolicyColumns.keptApplications))
        """, key),
    ])
  }

  func last(_ feed: String?, _ network: String) throws -> Applied? {
    let rows = try connection.run(
      """
      SELECT applied_id, before, applied FROM applied_policy WHERE \(Self.isOfFeed)
      ORDER BY applied_id DESC LIMIT 1
      """, [.text(feed), .text(network)])
    guard rows.count > 0 else { return nil }
    let row = RowValues(rows: rows, row: 0)
    return Applied(id: try row.integer(0), before: row.string(1), applied: try row.name(2))
  }

  func restore(_ last: Applied, _ feed: String?, _ network: String) throws {
    let key = [Parameter.text(feed), .text(network)]
    if let before = last.before {
      let sets =
        PolicyColumns.texts.map { "\"\($0)\" = ($3::text::json)->>'\($0)'" }
        + PolicyColumns.numbers.map { "\"\($0)\" = (($3::text::json)->>'\($0)')::int8" }
      try connection.run(
        "UPDATE policy SET \(sets.joined(separator: ", ")) WHERE \(Self.isOfFeed)",
        key + [.text(before)])
    } else {
      try connection.run("DELETE FROM policy WHERE \(Self.isOfFeed)", key)
    }
    try connection.run(
      "DELETE FROM applied_policy WHERE applied_id = $1::int8", [.integer(last.id)])
  }

  static let evidence = """
    SELECT policy.feed, policy.network, applied_at, evidence
    FROM policy JOIN applied_policy AS last
      ON coalesce(last.feed, '') = coalesce(policy.feed, '') AND last.network = policy.network
    WHERE last.applied = \(asJSON) AND last.applied_id = (
      SELECT max(applied_id) FROM applied_policy AS newest
      WHERE coalesce(newest.feed, '') = coalesce(policy.feed, '')
        AND newest.network = policy.network)
    """

  /// What the policies rest on that are what was applied last: the rows of `evidence`.
  static func evidence(_ rows: Rows) throws -> [PolicyBook.Key: PolicyEvidence] {
    let pairs = try (0..<rows.count).map { index in
      let row = RowValues(rows: rows, row: index)
      return (
        PolicyBook.Key(feed: row.string(0), network: try row.name(1)),
        PolicyEvidence(
          appliedAt: Timestamp(microseconds: try row.integer(2)), json: Array(try row.name(3).utf8))
      )
    }
    return Dictionary(pairs, uniquingKeysWith: { _, last in last })
  }
}
