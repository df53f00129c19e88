import Catalog
import Feed
import ModelStore
import Postgres
import PostgresStore
import PostgresTestSupport
import RowStore
import SQLiteStore
import TestSupport
import Testing

/// The stores that must all behave alike.
enum StoreKind: String, Sendable {
  case sqlite, model, postgres
  /// In the memory of which there is room for the order of one feed.
  case sqliteInLittleMemory

  /// Those that lie in a database, of those that there are on this machine.
  static let databases: [StoreKind] = [.sqlite] + (PostgresCluster.isPresent ? [.postgres] : [])
  /// Those that there are on this machine.
  static let allCases = databases + [.model, .sqliteInLittleMemory]
}

/// What the other suites leave unsaid.
@Suite struct StoreKindTests {
  @Test(.enabled(if: PostgresCluster.isPresent, "skipped: there is no PostgreSQL"))
  func `what any store must do is asked of PostgreSQL, too`() {
    #expect(StoreKind.allCases.contains(.postgres))
  }
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
  let store: any FeedStore & PolicyStore & MediaStore & ReportStore & ExperimentStore & ChangeStore
  private let folder = TemporaryFolder()
  private var options: StoreOptions

  init(_ kind: StoreKind, _ options: StoreOptions = StoreOptions()) throws {
    self.options = options
    switch kind {
    case .sqlite: store = try Self.sqlite(folder.file("feed.sqlite"), options)
    case .postgres:
      guard let cluster = PostgresCluster.shared else { throw NoPostgres() }
      store = try Self.postgres(DatabaseAddress(cluster.freshSchema().address), options)
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

  private struct NoPostgres: Error {}

  private static func postgres(
    _ address: DatabaseAddress, _ options: StoreOptions
  ) throws -> PostgresStore {
    try PostgresStore(
      address: address, connections: PostgresStore.Connections(readers: 2),
      options: RowStore.StoreOptions(
        keptRankings: options.keptRankings, keptRankingsSeconds: 0,
        maximumWaitingWrites: options.maximumWaitingWrites,
        idempotencyKeepSeconds: options.idempotencyKeepSeconds,
        maximumIdempotencyKeys: options.maximumIdempotencyKeys,
        orderMemoryBytes: options.orderMemoryBytes, now: options.now))
  }

  private static func sqlite(_ path: String, _ options: StoreOptions) throws -> SQLiteStore {
    try SQLiteStore(
      path: path,
      options: RowStore.StoreOptions(
        keptRankings: options.keptRankings, keptRankingsSeconds: 0,
        maximumWaitingWrites: options.maximumWaitingWrites,
        idempotencyKeepSeconds: options.idempotencyKeepSeconds,
        maximumIdempotencyKeys: options.maximumIdempotencyKeys,
        orderMemoryBytes: options.orderMemoryBytes, now: options.now))
  }

  /// The store as another process has it; what is in memory alone has no other.
  func again() throws -> any FeedStore & PolicyStore & MediaStore & ReportStore & ExperimentStore
    & ChangeStore
  {
    switch store {
    case let store as SQLiteStore: try Self.sqlite(store.path, options)
    case let store as PostgresStore: try Self.postgres(store.address, options)
    default: store
    }
  }

  /// Finishes what was taken, and refuses what comes after.
  func close() throws {
    switch store {
    case let store as SQLiteStore: try store.close()
    case let store as PostgresStore: try store.close()
    case let store as ModelStore: store.close()
    default: Issue.record("no such kind of store")
    }
  }

  /// What the store itself finds wrong.
  func findings() throws -> [CheckFinding] {
    switch store {
    case let store as SQLiteStore: try store.check()
    case let store as PostgresStore: try store.check()
    default: []
    }
  }

  /// What the store itself finds wrong: nothing but what is to be told.
  func expectSound(
    notes: Int = 0, _ comment: Comment? = nil, sourceLocation: SourceLocation = #_sourceLocation
  ) throws {
    guard !(store is ModelStore) else { return }
    let findings = try findings()
    #expect(
      findings.count == notes && findings.allSatisfy { $0.severity == .note }, comment,
      sourceLocation: sourceLocation)
  }
}
