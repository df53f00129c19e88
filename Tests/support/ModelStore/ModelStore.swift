import Catalog
import Feed
import Prefetch
import Synchronization

/// A store in memory, plain and obviously right, not fast: what the others are held against, and what the
/// application is tested on.
///
/// Theory of operation. All that it holds is one value. A write takes a copy, changes that, and publishes
/// it as the next version: so readers see whole writes, and a write that fails has changed nothing. What
/// has changed is listed for ever.
package final class ModelStore: FeedStore, PolicyStore {
  /// How the store is set up; see `StoreOptions`.
  package struct Options: Sendable {
    package var keptRankings = 16
    package var maximumWaitingWrites = 1_024
    package var maximumWritesInGroup = 256
    package var idempotencyKeepSeconds = 86_400
    package var maximumIdempotencyKeys = 100_000
    package var now: @Sendable () -> Timestamp = { Timestamp(microseconds: 1_800_000_000_000_000) }

    package init() {}
  }

  private struct Published {
    var state: ModelState
    var version = StoreVersion.start
    var history: [(version: StoreVersion, changed: ModelState.Changed)] = []
  }

  private let published: Mutex<Published>
  /// One write at a time.
  private let writing = Mutex(())
  private let writes: WriteQueue
  private let options: Options
  let reports = Mutex(ModelReports())
  let changeLog = Mutex(ModelChanges())
  package let dueMoments = DueMoments()
  private let aliveRuns = Mutex<(alive: Set<Int>, last: Int)>(([], 0))

  package init(_ options: Options = Options()) {
    self.options = options
    published = Mutex(Published(state: ModelState(options)))
    writes = WriteQueue(
      limit: options.maximumWaitingWrites, groupLimit: options.maximumWritesInGroup)
  }

  /// Finishes the writes that were taken, and refuses later ones. What there is can still be read.
  package func close() { writes.close() }

  /// Changes what there is, all or nothing.
  func change<Result>(_ body: (inout ModelState) throws -> Result) rethrows -> Result {
    try writing.withLock { _ in
      var state = published.withLock { $0.state }
      let before = state
      let result = try body(&state)
      published.withLock { published in
        let changed = state.changed
        state.changed = ModelState.Changed()
        dueMoments.set(state.items.values.compactMap(\.dueAt).min()) {
          published.state = state
          published.version = StoreVersion(number: published.version.number + 1)
        }
        if !changed.isEmpty { published.history.append((published.version, changed)) }
      }
      changeLog.withLock { $0.note(from: before, to: state) }
      return result
    }
  }
}

// MARK: Reading

extension ModelStore {
  var current: ModelSnapshot {
    published.withLock { ModelSnapshot(state: $0.state, version: $0.version) }
  }

  package func snapshot() throws -> any StoreSnapshot { current }
  package var version: StoreVersion { published.withLock { $0.version } }
  package func feeds(_ query: FeedListQuery) throws -> FeedListPage {
    current.state.feeds(query)
  }
  package func feed(named name: String) throws -> FeedSummary? {
    current.state.feeds[name]?.summary
  }
  package func cut(_ query: PageQuery) throws -> PageCut { try current.cut(query) }
  package func isAtHand(_ query: PageQuery) -> Bool { true }
  package func posts(_ numbers: [Int64]) throws -> FlatPosts { current.state.posts(numbers) }
  package func item(withID id: String) throws -> StoredItem? { current.state.item(id) }
  package func postNumbers(
    below number: Int64?, _ filter: ItemFilter, limit: Int, looks: Int
  ) throws -> PostNumbers {
    let state = current.state
    let looked = state.ids.keys.filter { $0 < number ?? .max }.sorted(by: >).prefix(looks)
    let found = looked.filter { number in
      let id = state.ids[number]!
      let item = state.items[id]!
      guard filter.admits(item.post) else { return false }
      guard let visibility = filter.visibility else {
        return filter.feed.map { state.feeds[$0]?.latest[id] != nil } ?? true
      }
      return item.post.visibility(at: options.now()) == visibility
        && (visibility == .scheduled || !item.scheduled.isEmpty)
        && (filter.feed.map { item.scheduled.keys.contains(ByteText($0)) } ?? true)
    }
    return PostNumbers(
      found: Array(found.prefix(limit + 1)), limit: limit,
      lookEnd: looked.count == looks ? looked.last : nil)
  }
  package func duePosts(limit: Int) throws -> DuePosts {
    let moments = current.state.items.compactMap { id, item in item.dueAt.map { ($0, id) } }
      .sorted { ($0.0, $0.1) < ($1.0, $1.1) }
    let now = options.now()
    return DuePosts(
      ids: moments.prefix { $0.0 <= now }.prefix(limit).map(\.1.text), next: moments.first?.0)
  }
  package func items(_ numbers: [Int64]) throws -> [StoredItem] {
    let state = current.state
    return numbers.compactMap { state.ids[$0] }.compactMap { id in
      state.item(id.text).map { StoredItem(post: $0.post, placements: $0.placements) }
    }
  }
  /// Nobody else writes.
  package func refresh() throws -> Bool { false }

  package func exportRecords(_ body: (SeedRecord) throws -> Void) throws {
    try current.state.exportRecords(body)
  }

  package func isUnchanged(feed: String, posts: [Int64], since version: StoreVersion) -> Bool {
    published.withLock { published in
      published.history.allSatisfy { then, changed in
        then <= version
          || !changed.areSettings && !changed.feeds.contains(ByteText(feed))
            && changed.posts.isDisjoint(with: posts)
      }
    }
  }

  package func changedPosts(since version: StoreVersion) -> [Int64]? {
    published.withLock { published in
      let changes = published.history.filter { $0.version > version }
      return Array(changes.reduce(into: Set<Int64>()) { $0.formUnion($1.changed.posts) })
    }
  }

  package func changes(since version: StoreVersion) -> StoreDifference? {
    published.withLock { published in
      let changes = published.history.filter { $0.version > version }.map(\.changed)
      return StoreDifference(
        feeds: changes.reduce(into: Set<ByteText>()) { $0.formUnion($1.feeds) }.map(\.text),
        posts: Array(changes.reduce(into: Set<Int64>()) { $0.formUnion($1.posts) }),
        areSettings: changes.contains(where: \.areSettings))
    }
  }
}

/// What there was at one moment.
struct ModelSnapshot: StoreSnapshot {
  let state: ModelState
  let version: StoreVersion

  var policyBook: PolicyBook { state.policies.book }
  var isWhole: Bool { true }
  var feedCount: Int { state.feeds.count }
  var knownFeeds: [FeedSummary] { state.feeds.values.map(\.summary) }
  var orderMemory: OrderMemory { OrderMemory(feeds: state.feeds.count, bytes: 0) }
  func hasFeed(named name: String) -> Bool { state.feeds[name] != nil }
  func knownFeed(named name: String) -> FeedSummary? { state.feeds[name]?.summary }
  func knownFeeds(_ query: FeedListQuery) -> FeedListPage? { state.feeds(query) }
  func isAtHand(_ query: PageQuery) -> Bool { true }
  func cutAtHand(_ query: PageQuery) throws -> PageCut? { try cut(query) }
  func cut(_ query: PageQuery) throws -> PageCut { try state.cut(query, asOf: version) }
}

// MARK: Writing

extension ModelStore {
  package func write(
    _ write: ItemWrite,
    completion: @escaping @Sendable (Result<ItemOutcome, any Error>) -> Void
  ) {
    add(.item(write, completion))
  }

  package func write(
    _ write: FeedWrite,
    completion: @escaping @Sendable (Result<FeedOutcome, any Error>) -> Void
  ) {
    add(.feed(write, completion))
  }

  private func add(_ write: WaitingWrite) {
    do {
      try writes.add(write) { group in self.commit(group) }
    } catch {
      write.fail(ModelStoreFailure(kind: error == .full ? .tooManyWrites : .closed))
    }
  }

  private func commit(_ group: [WaitingWrite]) -> [WaitingWrite.Telling] {
    change { state in
      let tellings = group.map { write -> WaitingWrite.Telling in
        switch write {
        case .item(let write, let completion):
          let result = Self.attempt(&state) { try $0.run(write) }
          return { completion(result) }
        case .feed(let write, let completion):
          let result = Self.attempt(&state) { try $0.run(write) }
          return { completion(result) }
        }
      }
      _ = state.publishRankings()
      return tellings
    }
  }

  /// One write of a group, which fails alone.
  private static func attempt<Outcome>(
    _ state: inout ModelState, _ body: (inout ModelState) throws -> Outcome
  ) -> Result<Outcome, any Error> {
    var changed = state
    let result = Result { try body(&changed) }
    if case .success = result { state = changed }
    return result
  }

  /// Changes the policies, as whoever runs the store does.
  package func changePolicies(_ body: (inout [PolicyBook.Key: Policy]) -> Void) {
    change { state in
      body(&state.policies.policies)
      state.changed.areSettings = true
    }
  }

  package func beginImport() throws -> any FeedImport {
    let number = aliveRuns.withLock { runs in
      runs.last += 1
      runs.alive.insert(runs.last)
      return runs.last
    }
    return ModelImport(self, number: number)
  }

  /// The run is over, whether it was finished or not.
  func end(run number: Int) { aliveRuns.withLock { _ = $0.alive.remove(number) } }

  var runsAtWork: Set<Int> { aliveRuns.withLock { $0.alive } }
}

/// Why the model did not take a write.
package struct ModelStoreFailure: StoreFailure, Equatable {
  package let kind: StoreFailureKind
}
