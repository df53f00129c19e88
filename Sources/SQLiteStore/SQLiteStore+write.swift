import Catalog
import Feed
import GRDB
import RowStore

extension SQLiteStore {
  /// Begins a run of records. Nothing is written or locked until its first batch.
  public func beginImport() -> any FeedImport { SQLiteImport(self) }

  /// Changes one item, and returns at once; see `FeedStore.write`.
  ///
  /// What waits goes into one transaction, so that a slow disk is waited for once a group and not once
  /// a write. `completion` is called on the writer's thread, which waits for it: it hands its news on,
  /// and does not close the store. A write that cannot be taken is told so before this returns, with
  /// `StoreError.tooManyWrites` or `StoreError.closed`.
  public func write(
    _ write: ItemWrite,
    completion: @escaping @Sendable (Result<ItemOutcome, any Error>) -> Void
  ) {
    add(.item(write, completion))
  }

  /// Changes one feed, and returns at once; see `FeedStore.write`.
  public func write(
    _ write: FeedWrite,
    completion: @escaping @Sendable (Result<FeedOutcome, any Error>) -> Void
  ) {
    add(.feed(write, completion))
  }

  private func add(_ waiting: WaitingWrite) {
    do {
      try writes.add(waiting) { try self.commit($0) }
    } catch {
      switch error {
      case .full: waiting.fail(StoreError.tooManyWrites(limit: options.maximumWaitingWrites))
      case .closed: waiting.fail(StoreError.closed(path: path))
      }
    }
  }

  private func commit(_ waiting: [WaitingWrite]) throws -> [WaitingWrite.Telling] {
    let tellings = try withStoreErrors(path: path) {
      try pool.write { database in
        try WriteGroup(rows: SQLiteRows(database: database, path: path), options: options)
          .run(waiting)
      }
    }
    followOwnWrite()
    return tellings
  }

  /// Brings the catalog up to what was just written.
  ///
  /// It is durable whatever becomes of this: who would be told of a failure would write again. The next
  /// refresh makes up for it, and says what is wrong if it is still so.
  func followOwnWrite() {
    _ = try? refresh()
  }
}
