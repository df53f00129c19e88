import Catalog
import GRDB

/// Runs single writes within one transaction: each of them is whole or not there, and one that fails
/// leaves the others alone.
struct WriteGroup {
  let database: Database
  /// The database's, to stand in errors.
  let path: String
  let options: SQLiteStore.Options

  /// - Throws: what undoes the whole group.
  mutating func run(_ writes: [WaitingWrite]) throws -> [WaitingWrite.Telling] {
    var movedFeeds: Set<Int64> = []
    let keys = IdempotencyKeys(database: database, options: options, now: options.now())
    let tellings = try writes.map { waiting -> WaitingWrite.Telling in
      switch waiting {
      case .item(let write, let completion):
        let result = try result {
          var writer = ItemWriter(database: database, keys: keys)
          let outcome = try writer.run(write)
          movedFeeds.formUnion(writer.movedFeeds)
          return outcome
        }
        return { completion(result) }
      case .feed(let write, let completion):
        let result = try result { try FeedWriter(database: database).run(write) }
        return { completion(result) }
      }
    }
    if !movedFeeds.isEmpty {
      try Ranking(database: database).publish(feeds: movedFeeds, RankingRetention(options))
    }
    try ChangeLog(database: database).trim()
    return tellings
  }

  private func result<Outcome>(
    _ body: () throws -> Outcome
  ) throws -> Result<Outcome, any Error> {
    do {
      var outcome: Outcome?
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
