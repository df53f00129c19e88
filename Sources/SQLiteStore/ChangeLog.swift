import GRDB

/// What happened to the order of feeds, for the readers that follow it.
struct ChangeLog {
  let database: Database

  /// How many rows are kept: a reader that is further behind reads all anew.
  private static let keptChanges = 200_000

  static let trimming = """
    DELETE FROM change_log
    WHERE change_id <= (SELECT max(change_id) FROM change_log) - \(keptChanges)
    """

  /// Lets go of the rows that are no longer kept.
  func trim() throws {
    try database.cachedStatement(sql: Self.trimming).execute()
  }
}
