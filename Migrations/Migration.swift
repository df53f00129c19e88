/// A numbered step from one schema to the next, embedded in the program.
public struct Migration: Hashable, Sendable {
  /// Counts from 1 without a gap.
  public let version: Int
  /// The file's name without its ending, `0001-feeds`.
  public let name: String
  /// The file's text.
  public let sql: String

  init(version: Int, name: String, sql: [UInt8]) {
    self.version = version
    self.name = name
    self.sql = String(decoding: sql, as: UTF8.self)
  }

  /// A migration that is not in a file: for tests of the migrator.
  public init(version: Int, name: String, sql: String) {
    self.version = version
    self.name = name
    self.sql = sql
  }

  /// The files of `sqlite`, in order.
  public static let sqlite: [Migration] = [
    Migration(version: 1, name: "0001-feeds", sql: PackageResources._001_feeds_sql),
    Migration(
      version: 2, name: "0002-first-policies", sql: PackageResources._002_first_policies_sql),
    Migration(version: 3, name: "0003-writes", sql: PackageResources._003_writes_sql),
    Migration(
      version: 4, name: "0004-post-changes", sql: PackageResources._004_post_changes_sql),
    Migration(version: 5, name: "0005-order-alone", sql: PackageResources._005_order_alone_sql),
    Migration(version: 6, name: "0006-rankings", sql: PackageResources._006_rankings_sql),
    Migration(version: 7, name: "0007-strategies", sql: PackageResources._007_strategies_sql),
    Migration(version: 8, name: "0008-many-feeds", sql: PackageResources._008_many_feeds_sql),
    Migration(version: 9, name: "0009-media-truth", sql: PackageResources._009_media_truth_sql),
    Migration(
      version: 10, name: "0010-media-variants", sql: PackageResources._010_media_variants_sql),
    Migration(
      version: 11, name: "0011-engine-strategies",
      sql: PackageResources._011_engine_strategies_sql),
    Migration(
      version: 12, name: "0012-packed-media-truth",
      sql: PackageResources._012_packed_media_truth_sql),
    Migration(
      version: 13, name: "0013-extra-and-sound",
      sql: PackageResources._013_extra_and_sound_sql),
    Migration(
      version: 14, name: "0014-applied-policies",
      sql: PackageResources._014_applied_policies_sql),
    Migration(
      version: 15, name: "0015-compared-checks",
      sql: PackageResources._015_compared_checks_sql),
  ]

  /// The files of `postgres`, in order.
  public static let postgres: [Migration] = [
    Migration(version: 1, name: "0001-store", sql: PackageResources._001_store_sql)
  ]
}
