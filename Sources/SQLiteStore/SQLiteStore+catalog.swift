import Feed
import Prefetch

extension SQLiteStore {
  /// Reads the top of every feed, so that first pages can be answered, and goes on to read the rest on
  /// a thread of the store's own; what needs more than the tops waits for that, and so does a write
  /// before it is answered.
  ///
  /// Without it everything is read when it is first needed.
  ///
  /// - Throws: `StoreError`.
  public func beginLoading() throws {
    try withStoreErrors(path: path) {
      try refreshing.withLock { source in
        guard memory.withLock({ $0.catalog }) == nil else { return }
        let tops = try source.read { try $0.loadTops(count: options.firstEntries) }
        publish(CatalogUpdate(catalog: tops, changes: nil))
      }
    }
    // Where this fails, or the system has no thread for it, whoever needs the rest tries again and is told.
    _ = loading.run { _ = try? self.wholeCatalog() }
  }

  /// Brings the catalog up to the file.
  ///
  /// - Returns: whether anything had changed; `false` where the catalog has yet to be read.
  /// - Throws: `StoreError`; then the catalog stays as it was.
  @discardableResult
  public func refresh() throws -> Bool {
    try withStoreErrors(path: path) {
      try refreshing.withLock { source in
        guard let known = memory.withLock({ $0.catalog }) else { return false }
        guard known.isWhole else {
          try load(from: &source)
          return true
        }
        guard let update = try source.readIfChanged({ try $0.update(known) }) else { return false }
        publish(update)
        return true
      }
    }
  }

  /// The whole catalog as it is now: reading it takes a lock for the time of a copy, and the first time
  /// as long as it takes to load.
  func wholeCatalog() throws -> Catalog {
    if let catalog = memory.withLock({ $0.catalog }), catalog.isWhole { return catalog }
    return try withStoreErrors(path: path) {
      try refreshing.withLock { source in
        if let catalog = memory.withLock({ $0.catalog }), catalog.isWhole { return catalog }
        return try load(from: &source)
      }
    }
  }

  /// The catalog, or the tops of the feeds as long as that is all there is.
  func tops() throws -> Catalog {
    try memory.withLock { $0.catalog } ?? wholeCatalog()
  }

  @discardableResult
  private func load(from source: inout CatalogSource) throws -> Catalog {
    let (catalog, isUnchanged) = try source.readMore { try $0.load() }
    // Where the tops were right, what was made of them still is.
    return publish(
      CatalogUpdate(catalog: catalog, changes: isUnchanged ? CatalogUpdate.Changes() : nil))
  }

  /// Makes the catalog the one that is read, as the next version. Only while `refreshing` is held.
  @discardableResult
  private func publish(_ update: CatalogUpdate) -> Catalog {
    var catalog = update.catalog
    let version = StoreVersion(number: publishedVersion.load(ordering: .relaxed) + 1)
    catalog.version = version
    memory.withLock { memory in
      memory.catalog = catalog
      memory.journal.note(update.changes, at: version)
    }
    publishedVersion.store(version.number, ordering: .releasing)
    return catalog
  }
}

// MARK: What has changed

extension SQLiteStore {
  /// The version of the catalog that was published last; `start` before the first.
  public var version: StoreVersion {
    StoreVersion(number: publishedVersion.load(ordering: .acquiring))
  }

  /// See `FeedStore.isUnchanged`. It takes a lock for as long as it takes to look up the posts.
  public func isUnchanged(feed: String, posts: [Int64], since version: StoreVersion) -> Bool {
    if version == self.version { return true }
    return memory.withLock { $0.journal.isUnchanged(feed: feed, posts: posts, since: version) }
  }

  /// See `FeedStore.changedPosts`: as far back as `Options.journalledChanges` reaches.
  public func changedPosts(since version: StoreVersion) -> [Int64]? {
    memory.withLock { $0.journal.changedPosts(since: version) }
  }
}
