import Feed
import GRDB

/// A feed's rankings: the current one, the older ones that are kept, and the next one in the making.
struct Ranking {
  let database: Database

  /// Entries were moved to this ranking.
  func isBegun(_ ranking: Int, feedID: Int64) throws -> Bool {
    let statement = try database.cachedStatement(sql: CatalogReader.isRankingBegun)
    return try Bool.fetchOne(statement, arguments: [feedID, ranking, feedID, ranking]) ?? false
  }

  /// Makes the next ranking of these feeds the current one, where it was begun, and lets go of the ones
  /// that are then no longer kept.
  ///
  /// - Returns: the feeds that were ranked anew, by name.
  func publish(feeds: Set<ByteText>, keeping kept: Int) throws -> [String] {
    var published: [String] = []
    for name in feeds.sorted().map(\.text) {
      let row = try Row.fetchOne(
        database, sql: "SELECT feed_id, ranking, oldest_ranking FROM feed WHERE name = ?",
        arguments: [name])
      guard let row, try isBegun(row[1] + 1, feedID: row[0]) else { continue }
      let feedID: Int64 = row[0]
      let ranking: Int = row[1] + 1
      let oldest = max(row[2], ranking - kept + 1)
      try database.execute(
        sql: "UPDATE feed SET ranking = ?, oldest_ranking = ? WHERE feed_id = ?",
        arguments: [ranking, oldest, feedID])
      try database.execute(
        sql: "DELETE FROM feed_entry WHERE feed_id = ? AND until <= ?",
        arguments: [feedID, oldest])
      published.append(name)
    }
    return published
  }
}
