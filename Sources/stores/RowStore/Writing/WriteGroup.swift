import Catalog
import Feed

/// Runs single writes within one transaction: each of them is whole or not there, and one that fails
/// leaves the others alone.
package struct WriteGroup<Rows: StoreRows> {
  private let rows: Rows
  private let options: StoreOptions

  package init(rows: Rows, options: StoreOptions) {
    self.rows = rows
    self.options = options
  }

  /// - Throws: what undoes the whole group.
  package func run(_ writes: [WaitingWrite]) throws -> [WaitingWrite.Telling] {
    try rows.prepare(for: writes)
    var movedFeeds: Set<Int64> = []
    let keys = IdempotencyKeys(rows: rows, options: options, now: options.now())
    let tellings = try writes.map { waiting -> WaitingWrite.Telling in
      switch waiting {
      case .item(let write, let completion):
        let result = try result {
          var writer = ItemWriter(rows: rows, keys: keys)
          let outcome = try writer.run(write)
          movedFeeds.formUnion(writer.movedFeeds)
          return outcome
        }
        return { completion(result) }
      case .feed(let write, let completion):
        let result = try result { try FeedWriter(rows: rows).run(write) }
        return { completion(result) }
      }
    }
    if !movedFeeds.isEmpty {
      try Ranking(rows: rows).publish(feeds: movedFeeds, RankingRetention(options))
    }
    try rows.trimLog()
    return tellings
  }

  private func result<Outcome>(
    _ body: () throws -> Outcome
  ) throws -> Result<Outcome, any Error> {
    do {
      return .success(try rows.savepoint(body))
    } catch {
      guard let told = rows.told(error) else { throw error }
      return .failure(told)
    }
  }
}
