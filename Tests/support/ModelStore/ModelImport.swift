import Catalog
import Feed
import Synchronization

/// A run of records into the model.
final class ModelImport: FeedImport {
  private let store: ModelStore
  private let number: Int
  private let progress = Mutex((summary: ImportSummary(), net: NetChanges()))

  init(_ store: ModelStore, number: Int) {
    self.store = store
    self.number = number
  }

  deinit { store.end(run: number) }

  func write(_ records: [SeedRecord]) {
    let changes = store.change { $0.write(records, run: number) }
    progress.withLock { progress in
      for (id, change) in changes {
        progress.net.add(change, id: id, to: &progress.summary)
      }
    }
  }

  func finish() -> ImportSummary {
    let names = store.change { $0.finish(run: number, alive: store.runsAtWork) }
    return progress.withLock { progress in
      progress.summary.rankedAnew = names
      return progress.summary
    }
  }
}
