import Catalog
import Feed
import ModelStore
import SQLiteStore
import TestSupport
import Testing

/// The stores that must all behave alike.
enum StoreKind: String, CaseIterable, Sendable {
  case sqlite, model
  /// In the memory of which there is room for the order of one feed.
  case sqliteInLittleMemory
}

/// What of a store's set-up its behaviour depends on.
struct StoreOptions {
  var keptRankings = 16
  var maximumWaitingWrites = 1_024
  var orderMemoryBytes = 1 << 30
  var idempotencyKeepSeconds = 86_400
  var maximumIdempotencyKeys = 100_000
  var now: @Sendable () -> Timestamp = { Timestamp(microseconds: 1_800_000_000_000_000) }
}

/// A store of a kind, for a test.
struct TestStore {
  let store: any FeedStore & PolicyStore & MediaStore
  private let folder = TemporaryFolder()
  private var options: StoreOptions

  init(_ kind: StoreKind, _ options: StoreOptions = StoreOptions()) throws {
    self.options = options
    switch kind {
    case .sqlite: store = try Self.sqlite(folder.file("feed.sqlite"), options)
    case .sqliteInLittleMemory:
      self.options.orderMemoryBytes = 1
      store = try Self.sqlite(folder.file("feed.sqlite"), self.options)
    case .model:
      var model = ModelStore.Options()
      model.keptRankings = options.keptRankings
      model.maximumWaitingWrites = options.maximumWaitingWrites
      model.idempotencyKeepSeconds = options.idempotencyKeepSeconds
      model.maximumIdempotencyKeys = options.maximumIdempotencyKeys
      model.now = options.now
      store = ModelStore(model)
    }
  }

  private static func sqlite(_ path: String, _ options: StoreOptions) throws -> SQLiteStore {
    try SQLiteStore(
      path: path,
      options: SQLiteStore.Options(
        keptRankings: options.keptRankings, keptRankingsSeconds: 0,
        maximumWaitingWrites: options.maximumWaitingWrites,
        idempotencyKeepSeconds: options.idempotencyKeepSeconds,
        maximumIdempotencyKeys: options.maximumIdempotencyKeys,
        orderMemoryBytes: options.orderMemoryBytes, now: options.now))
  }

  /// The store as another process has it; what is in memory alone has no other.
  func again() throws -> any FeedStore & PolicyStore & MediaStore {
    guard let store = store as? SQLiteStore else { return self.store }
    return try Self.sqlite(store.path, options)
  }

  /// Finishes what was taken, and refuses what comes after.
  func close() throws {
    switch store {
    case let store as SQLiteStore: try store.close()
    case let store as ModelStore: store.close()
    default: Issue.record("no such kind of store")
    }
  }

  /// What the store itself finds wrong: nothing but what is to be told.
  func expectSound(
    notes: Int = 0, _ comment: Comment? = nil, sourceLocation: SourceLocation = #_sourceLocation
  ) throws {
    guard let store = store as? SQLiteStore else { return }
    let findings = try store.check()
    #expect(
      findings.count == notes && findings.allSatisfy { $0.severity == .note }, comment,
      sourceLocation: sourceLocation)
  }
}
