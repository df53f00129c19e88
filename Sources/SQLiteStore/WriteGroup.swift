import Feed
import GRDB

/// Runs single writes within one transaction: each of them is whole or not there, and one that fails
/// leaves the others alone.
struct WriteGroup {
  let database: Database
  /// The database's, to stand in errors.
  let path: String
  let options: SQLiteStore.Options

  /// - Throws: what undoes the whole group.
  mutating func run(_ writes: [ItemWrite]) throws -> [Result<ItemOutcome, any Error>] {
    var movedFeeds: Set<ByteText> = []
    let keys = IdempotencyKeys(database: database, options: options, now: options.now())
    let results = try writes.map { write in
      try result {
        var writer = ItemWriter(database: database, keys: keys)
        let outcome = try writer.run(write)
        movedFeeds.formUnion(writer.movedFeeds)
        return outcome
      }
    }
    _ = try Ranking(database: database).publish(feeds: movedFeeds, keeping: options.keptRankings)
    try ChangeLog(database: database).trim()
    return results
  }

  private func result(_ body: () throws -> ItemOutcome) throws -> Result<ItemOutcome, any Error> {
    do {
      var outcome: ItemOutcome?
      try database.inSavepoint {
        outcome = try body()
        return .commit
      }
      return .success(outcome!)
    } catch {
      // Some failures undo more than a savepoint, and with it the writes before this one
      // (https://sqlite.org/lang_transaction.html, "Response To Errors Within A Transaction").
      guard database.isInsideTransaction else { throw error }
      return .failure((error as? DatabaseError).map { StoreError($0, path: path) } ?? error)
    }
  }
}
