import Catalog
import Feed
import Postgres
import RowStore

extension PostgresStore {
  /// Begins a run of records. Nothing is written or locked until its first batch.
  public func beginImport() -> any FeedImport { PostgresImport(self) }

  /// Changes one item, and returns at once; see `FeedStore.write`.
  ///
  /// What waits goes into one transaction, so that a server that is far away is waited for once a group and not once
  /// a write. `completion` is called on the writer's thread, which waits for it: it hands its news on,
  /// and does not close the store. A write that cannot be taken is told so before this returns.
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
      case .full:
        waiting.fail(PostgresStoreError.tooManyWrites(limit: options.maximumWaitingWrites))
      case .closed: waiting.fail(PostgresStoreError.closed(name: name))
      }
    }
  }

  private func commit(_ waiting: [WaitingWrite]) throws -> [WaitingWrite.Telling] {
    defer { followOwnWrite() }
    do {
      return try run(waiting)
    } catch let error as PostgresError where waiting.count > 1 && error.isAboutData {
      // The group fails as a whole: each again alone, so that what the server refuses is one write's own.
      return waiting.flatMap { write -> [WaitingWrite.Telling] in
        do {
          return try withStoreErrors(name) { try run([write]) }
        } catch {
          return [{ write.fail(error) }]
        }
      }
    } catch {
      return try withStoreErrors(name) { throw error }
    }
  }

  private func run(_ waiting: [WaitingWrite]) throws -> [WaitingWrite.Telling] {
    try writer.transaction { rows in try WriteGroup(rows: rows, options: options).run(waiting) }
  }
}
