import Feed
import Postgres
import Prefetch
import RowStore

extension PostgresCatalogReader {
  static let networks = """
    SELECT name, title, downlink_kbps, uplink_kbps, round_trip_ms, loss_percent, effective_type,
      is_default
    FROM network_profile ORDER BY name
    """
  static let policies =
    "SELECT feed, network, \(PolicyColumns.all.map { "\"\($0)\"" }.joined(separator: ", ")) FROM policy"

  /// - Throws: `PolicyError` for the first policy whose strategy this program does not know.
  func policyBook() throws -> PolicyBook {
    let rows = try connection.run([
      Statement(Self.networks), Statement(Self.policies), Statement(AppliedPolicies.evidence),
    ])
    let networks = try (0..<rows[0].count).map { index in
      let row = RowValues(rows: rows[0], row: index)
      return NetworkProfile(
        name: try row.name(0), title: try row.name(1), downlinkKbps: Int(try row.integer(2)),
        uplinkKbps: Int(try row.integer(3)), roundTripMilliseconds: Int(try row.integer(4)),
        lossPercent: Int(try row.integer(5)), effectiveType: row.string(6),
        isDefault: try row.integer(7) == 1)
    }
    let policies = try (0..<rows[1].count).map { index in
      let row = RowValues(rows: rows[1], row: index)
      return (
        PolicyBook.Key(feed: row.string(0), network: try row.name(1)), try Self.policy(row)
      )
    }
    return PolicyBook(
      networks: networks, policies: Dictionary(policies, uniquingKeysWith: { _, last in last }),
      evidence: try AppliedPolicies.evidence(rows[2]))
  }

  private static func policy(_ row: RowValues) throws -> Policy {
    // Behind the feed and the network stand the texts and then the numbers.
    func number(_ index: Int) throws -> Int {
      Int(try row.integer(2 + PolicyColumns.texts.count + index))
    }
    return Policy(
      name: try row.name(2),
      strategy: try PolicyColumns.strategy(
        name: row.name(3), parameters: row.name(4), feed: row.string(0), network: row.name(1)),
      trailing: try number(0), imageWeight: try number(1), videoWeight: try number(2),
      webappWeight: try number(3), adWeight: try number(4), textWeight: try number(5),
      carouselVisibleParts: try number(6), videoStartBytes: try number(7),
      videoBytes: try number(8), videoKbps: try number(9), imageBytes: try number(10),
      webappBytes: try number(11), nextPagePercent: try number(12),
      itemsPerMinute: try number(13))
  }
}
