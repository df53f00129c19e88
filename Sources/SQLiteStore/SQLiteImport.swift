import Feed
import GRDB
import Synchronization

/// A run of records into the SQLite store: each call of `write` is one transaction.
final class SQLiteImport: FeedImport {
  private let store: SQLiteStore
  private let progress = Mutex(Progress())

  private struct Progress {
    var summary = ImportSummary()
    /// Feeds in which this run moved entries, which makes a ranking that is published at its end.
    var movedFeeds: Set<ByteText> = []
    var net = NetChanges()
  }

  init(_ store: SQLiteStore) {
    self.store = store
  }

  func write(_ records: [SeedRecord]) throws {
    let batch = try withStoreErrors(path: store.path) {
      try store.pool.write { database in
        var batch = ImportBatch(database: database)
        try batch.write(records)
        return (changes: batch.changes, movedFeeds: batch.movedFeeds)
      }
    }
    progress.withLock { progress in
      for (id, change) in batch.changes {
        progress.net.add(change, id: id, to: &progress.summary)
      }
      progress.movedFeeds.formUnion(batch.movedFeeds)
    }
    try store.refresh()
  }

  func finish() throws -> ImportSummary {
    let movedFeeds = progress.withLock { $0.movedFeeds }
    let rankedAnew = try withStoreErrors(path: store.path) {
      try store.pool.write { database in
        try Ranking(database: database).publish(
          feeds: movedFeeds, keeping: store.options.keptRankings)
      }
    }
    try store.refresh()
    return progress.withLock { progress in
      progress.summary.rankedAnew = rankedAnew
      return progress.summary
    }
  }
}

/// Counts what a run changed on balance: a post that one line changes and a later line changes back is
/// unchanged, so that the same input twice changes nothing even where it contradicts itself.
struct NetChanges {
  /// What happened to one record's post or feed.
  struct Change {
    /// A digest of what was stored before; `nil` where there was none.
    let before: Int?
    let after: Int
  }

  /// Posts are followed up to this number, so that a run's memory is bounded; beyond it each change
  /// counts for itself.
  private static let limit = 500_000
  private var moved: [ByteText: (original: Int, changes: Int)] = [:]

  mutating func add(_ change: Change, id: String, to summary: inout ImportSummary) {
    guard let before = change.before else {
      summary.added += 1
      return
    }
    guard before != change.after else {
      summary.unchanged += 1
      return
    }
    summary.changed += 1
    guard moved[id] != nil || moved.count < Self.limit else { return }
    let original = moved[id]?.original ?? before
    let changes = (moved[id]?.changes ?? 0) + 1
    if original == change.after {
      summary.changed -= changes
      summary.unchanged += changes
      moved[id] = nil
    } else {
      moved[id] = (original, changes)
    }
  }
}
