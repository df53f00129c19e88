import Catalog
import Feed
import GRDB
import RowStore
import Synchronization

/// A run of records into the SQLite store: each call of `write` is one transaction.
final class SQLiteImport: FeedImport {
  private let store: SQLiteStore
  private let progress = Mutex(Progress())

  private struct Progress {
    var summary = ImportSummary()
    /// The run that holds pending places until its end; nil until there are some.
    var run: StartedRun?
    /// The feeds that the run ranks again.
    var feeds: Set<Int64> = []
    var net = NetChanges()
    /// Whether nothing is written yet.
    var isNew = true
    /// The lock of a load: this run makes indexes at its end, and no other process does meanwhile.
    var load: RunLock?
  }

  init(_ store: SQLiteStore) {
    self.store = store
  }

  /// Makes the indexes of a run that was given up.
  deinit {
    guard progress.withLock({ $0.load }) != nil else { return }
    progress.withLock { $0.load = nil }
    store.pool.makeLateIndexes()
  }

  func write(_ records: [SeedRecord]) throws {
    let (run, feeds, isNew) = progress.withLock { ($0.run, $0.feeds, $0.isNew) }
    let batch = try withStoreErrors(path: store.path) {
      try store.pool.write { database in
        let load = isNew ? try LateIndexes(database: database, path: store.path).drop() : nil
        let rows = SQLiteRows(database: database, path: store.path, isRun: true)
        var run = RankingRun(
          database: rows, run: run, feeds: feeds, now: store.options.now())
        let changes = try run.write(records)
        return (changes: changes, run: run.run, feeds: run.feeds, load: load)
      }
    }
    progress.withLock { progress in
      for (id, change) in batch.changes {
        progress.net.add(change, id: id, to: &progress.summary)
      }
      (progress.run, progress.feeds) = (batch.run, batch.feeds)
      progress.isNew = false
      if let load = batch.load { progress.load = load }
    }
    store.followOwnWrite()
  }

  func finish() throws -> ImportSummary {
    try makeIndexes()
    let (run, feeds) = progress.withLock { ($0.run, $0.feeds) }
    guard let run else { return progress.withLock { $0.summary } }
    let rankedAnew = try withStoreErrors(path: store.path) {
      try store.pool.write { database in
        let rows = SQLiteRows(database: database, path: store.path)
        var ranking = RankingRun(
          database: rows, run: run, feeds: feeds, now: store.options.now())
        let names = try ranking.publish(RankingRetention(store.options))
        try rows.trimLog()
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

  /// Makes the indexes that this run left out, or another run that did not reach its end.
  private func makeIndexes() throws {
    let isLoad = progress.withLock { $0.load != nil }
    try withStoreErrors(path: store.path) {
      guard try isLoad || store.pool.read(LateIndexes.areMissing) else { return }
      if isLoad {
        while try store.pool.write(LateIndexes.makeNext) {}
        return
      }
      try store.pool.write {
        try LateIndexes(database: $0, path: store.path).makeUnlessLoading()
      }
    }
    guard isLoad else { return }
    // The lock is released first; otherwise the file would stay.
    progress.withLock { $0.load = nil }
    try withStoreErrors(path: store.path) {
      try store.pool.write { try SQLiteRows(database: $0, path: store.path).runIsOver() }
    }
  }
}
