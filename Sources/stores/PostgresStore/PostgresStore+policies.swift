import Catalog
import Feed
import Postgres
import Prefetch
import RowStore

/// Applies policies that the lab found, with their evidence, and undoes them.
extension PostgresStore {
  /// See `DatabaseStore.apply`. Servers of the database read the policy at their next refresh.
  ///
  /// - Throws: `PolicyApplicationError`, `PostgresStoreError`.
  package func apply(
    _ setting: Policy, feed: String?, network: String, evidence: [UInt8], at time: Timestamp
  ) throws {
    let key = PolicyKey(feed: feed, network: network)
    try changePolicy { try $0.apply(setting, to: key, evidence: evidence, at: time) }
  }

  /// See `DatabaseStore.undoPolicy`.
  ///
  /// - Throws: `PolicyApplicationError`, `PostgresStoreError`; then nothing is changed.
  package func undoPolicy(feed: String?, network: String) throws {
    try changePolicy { try $0.undo(PolicyKey(feed: feed, network: network)) }
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

/// The tables of policies and of applied policies.
struct AppliedPolicies: PolicyRows {
  let connection: Connection

  private static let columns = PolicyColumns.all.map { "\"\($0)\"" }.joined(separator: ", ")
  /// SQL for a policy's columns as JSON, byte for byte as SQLite writes it.
  static let asJSON =
    "'{' || "
    + (PolicyColumns.texts.map { "'\"\($0)\":' || to_json(policy.\"\($0)\")::text" }
    + PolicyColumns.numbers.map { "'\"\($0)\":' || policy.\"\($0)\"" })
    .joined(separator: " || ',' || ") + " || '}'"
  private static let isOfFeed = "coalesce(feed, '') = coalesce($1::text, '') AND network = $2::text"

  private func values(_ key: PolicyKey) -> [Parameter] { [.text(key.feed), .text(key.network)] }

  func networks() throws -> [String] {
    let rows = try connection.run("SELECT name FROM network_profile ORDER BY name")
    return (0..<rows.count).compactMap { rows.text($0, 0) }
  }

  func hasFeed(_ name: String) throws -> Bool {
    try connection.run("SELECT 1 FROM feed WHERE name = $1::text", [.text(name)]).count > 0
  }

  func row(_ key: PolicyKey) throws -> String? {
    let rows = try connection.run(
      "SELECT \(Self.asJSON) FROM policy WHERE \(Self.isOfFeed)", values(key))
    return rows.count == 0 ? nil : rows.text(0, 0)
  }

  /// Adds a copy of the row for all feeds, or, if that is absent, a row with default values.
  func add(_ key: PolicyKey) throws {
    let copied = try connection.run(
      """
      INSERT INTO policy (feed, network, \(Self.columns))
      SELECT $1::text, network, \(Self.columns) FROM policy
      WHERE feed IS NULL AND network = $2::text
      """, values(key))
    guard copied.changedCount == 0 else { return }
    try connection.run(
      """
      INSERT INTO policy (feed, network, name, strategy, parameters)
      VALUES ($1::text, $2::text, 'none', 'plain', '{"leading":0}')
      """, values(key))
  }

  func set(_ setting: Policy, _ key: PolicyKey) throws {
    try connection.run(
      """
      UPDATE policy SET name = $3::text, strategy = $4::text, parameters = $5::text,
        image_weight = $6::int8, video_weight = $7::int8 WHERE \(Self.isOfFeed)
      """,
      [
        .text(key.feed), .text(key.network), .text(setting.name), .text(setting.strategy.name),
        .text(PolicyColumns.parameters(of: setting.strategy)), .integer(setting.imageWeight),
        .integer(setting.videoWeight),
      ])
  }

  func note(
    _ key: PolicyKey, _ time: Timestamp, evidence: String, before: String?, applied: String
  ) throws {
    try connection.run([
      Statement(
        """
        INSERT INTO applied_policy (feed, network, applied_at, evidence, before, applied)
        VALUES ($1::text, $2::text, $3::int8, $4::text, $5::text, $6::text)
        """,
        values(key) + [
          .integer(time.microseconds), .text(evidence), .text(before), .text(applied),
        ]),
      Statement(
        """
        DELETE FROM applied_policy WHERE \(Self.isOfFeed) AND applied_id NOT IN (
          SELECT applied_id FROM applied_policy WHERE \(Self.isOfFeed)
          ORDER BY applied_id DESC LIMIT \(PolicyColumns.keptApplications))
        """, values(key)),
    ])
  }

  func last(_ key: PolicyKey) throws -> AppliedSetting? {
    let rows = try connection.run(
      """
      SELECT applied_id, before, applied FROM applied_policy WHERE \(Self.isOfFeed)
      ORDER BY applied_id DESC LIMIT 1
      """, values(key))
    guard rows.count > 0 else { return nil }
    let row = RowValues(rows: rows, row: 0)
    return AppliedSetting(id: try row.integer(0), before: row.string(1), applied: try row.name(2))
  }

  func restore(_ last: AppliedSetting, _ key: PolicyKey) throws {
    if let before = last.before {
      let sets =
        PolicyColumns.texts.map { "\"\($0)\" = ($3::text::json)->>'\($0)'" }
        + PolicyColumns.numbers.map { "\"\($0)\" = (($3::text::json)->>'\($0)')::int8" }
      try connection.run(
        "UPDATE policy SET \(sets.joined(separator: ", ")) WHERE \(Self.isOfFeed)",
        values(key) + [.text(before)])
    } else {
      try connection.run("DELETE FROM policy WHERE \(Self.isOfFeed)", values(key))
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

  /// Returns the evidence of each policy that is still as it was last applied, from the rows of `evidence`.
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
