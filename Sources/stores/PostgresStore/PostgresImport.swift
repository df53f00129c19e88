import Catalog
import Feed
import RowStore
import Synchronization

/// A run of records into the PostgreSQL store: each call of `write` is one transaction.
final class PostgresImport: FeedImport {
  private let store: PostgresStore
  private let progress = Mutex(Progress())

  private struct Progress {
    var summary = ImportSummary()
    /// The run that holds pending places until its end; nil until there are some.
    var run: StartedRun?
    /// The feeds that the run ranks again.
    var feeds: Set<Int64> = []
    var net = NetChanges()
  }

  init(_ store: PostgresStore) { self.store = store }

  func write(_ records: [SeedRecord]) throws {
    let (run, feeds) = progress.withLock { ($0.run, $0.feeds) }
    let batch = try withStoreErrors(store.name) {
      try store.writer.transaction(isBulk: true) { rows in
        var run = RankingRun(
          database: rows, run: run, feeds: feeds, now: store.options.now())
        let changes = try run.write(records)
        return (changes: changes, run: run.run, feeds: run.feeds)
      }
    }
    progress.withLock { progress in
      for (id, change) in batch.changes {
        progress.net.add(change, id: id, to: &progress.summary)
      }
      (progress.run, progress.feeds) = (batch.run, batch.feeds)
    }
    store.followOwnWrite()
  }

  func finish() throws -> ImportSummary {
    let (run, feeds) = progress.withLock { ($0.run, $0.feeds) }
    guard let run else { return progress.withLock { $0.summary } }
    let rankedAnew = try withStoreErrors(store.name) {
      try store.writer.transaction(isBulk: true) { rows in
        var ranking = RankingRun(
          database: rows, run: run, feeds: feeds, now: store.options.now())
        let names = try ranking.publish(RankingRetention(store.options))
        rows.trimLog()
        return names
      }
    }
    store.followOwnWrite()
    return progress.withLock { progress in
      // There are no pending places any more.
      (progress.run, progress.feeds) = (nil, [])
      progress.summary.rankedAnew = rankedAnew
      return progress.summary
    }
  }
}
