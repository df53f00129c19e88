import Feed
import GRDB

/// A write that was taken, and whom to tell.
struct WaitingWrite: Sendable {
  let write: ItemWrite
  let completion: @Sendable (Result<ItemOutcome, any Error>) -> Void
}

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
    do {
      try writes.add(WaitingWrite(write: write, completion: completion)) { self.run($0) }
    } catch {
      switch error {
      case .full:
        completion(.failure(StoreError.tooManyWrites(limit: options.maximumWaitingWrites)))
      case .closed: completion(.failure(StoreError.closed(path: path)))
      }
    }
  }

  /// Brings the catalog up to what was just written.
  ///
  /// It is durable whatever becomes of this: who would be told of a failure would write again. The next
  /// refresh makes up for it, and says what is wrong if it is still so.
  func followOwnWrite() {
    _ = try? refresh()
  }

  private func run(_ waiting: [WaitingWrite]) {
    for (waiting, result) in zip(waiting, results(of: waiting.map(\.write))) {
      waiting.completion(result)
    }
  }

  private func results(of writes: [ItemWrite]) -> [Result<ItemOutcome, any Error>] {
    do {
      let results = try withStoreErrors(path: path) {
        try pool.write { database in
          var group = WriteGroup(database: database, path: path, options: options)
          return try group.run(writes)
        }
      }
      followOwnWrite()
      return results
    } catch {
      return writes.map { _ in .failure(error) }
    }
  }
}
