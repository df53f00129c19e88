import Feed
import GRDB
import Prefetch
import RowStore

extension SQLiteCatalogReader {
  /// - Throws: `PolicyError` for the first policy whose strategy this program does not know.
  func policyBook() throws -> PolicyBook {
    let networks = try Row.fetchAll(
      database,
      sql: """
        SELECT name, title, downlink_kbps, uplink_kbps, round_trip_ms, loss_percent,
          effective_type, is_default
        FROM network_profile ORDER BY name
        """
    ).map { row in
      NetworkProfile(
        name: row[0], title: row[1], downlinkKbps: row[2], uplinkKbps: row[3],
        roundTripMilliseconds: row[4], lossPercent: row[5], effectiveType: row[6],
        isDefault: row[7])
    }
    let policies = try Row.fetchAll(database, sql: "SELECT * FROM policy").map { row in
      (PolicyBook.Key(feed: row["feed"], network: row["network"]), try Self.policy(row))
    }
    return PolicyBook(
      networks: networks, policies: Dictionary(policies, uniquingKeysWith: { _, last in last }),
      evidence: try AppliedPolicies(database: database).evidence())
  }

  private static func policy(_ row: Row) throws(PolicyError) -> Policy {
    Policy(
      name: row["name"],
      strategy: try PolicyColumns.strategy(
        name: row["strategy"], parameters: row["parameters"], feed: row["feed"],
        network: row["network"]), trailing: row["trailing"],
      imageWeight: row["image_weight"], videoWeight: row["video_weight"],
      webappWeight: row["webapp_weight"], adWeight: row["ad_weight"],
      textWeight: row["text_weight"], carouselVisibleParts: row["carousel_visible_parts"],
      videoStartBytes: row["video_start_bytes"], videoBytes: row["video_bytes"],
      videoKbps: row["video_kbps"], imageBytes: row["image_bytes"],
      webappBytes: row["webapp_bytes"], nextPagePercent: row["next_page_percent"],
      itemsPerMinute: row["items_per_minute"])
  }
}
