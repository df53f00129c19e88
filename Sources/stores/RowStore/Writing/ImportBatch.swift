import Catalog
import Feed
import System

/// Writes records within one transaction.
///
/// A run's moves are kept aside (`RankingRun`) until it ends, and so are its new entries of a feed in
/// which it has moved any, so that its ranking is seen whole; those are written after everything else of
/// the batch, because they depend on it. A single write has no run: its moves go into the next ranking,
/// which is published with them.
package struct ImportBatch<Rows: StoreRows> {
  let rows: Rows
  /// What happened to each post and feed, in the order of the records.
  package private(set) var changes: [(id: String, change: NetChanges.Change)] = []
  /// Keeps the moves aside; `nil` for a single write.
  package internal(set) var run: RankingRun<Rows>?
  /// The feeds of which a single write began a next ranking.
  var movedFeeds: Set<Int64> = []

  private var feeds: [ByteText: FeedState] = [:]
  var newEntries: [NewEntry] = []
  var postsWithNewEntries: Set<Int64> = []

  /// After this many records the import yields its core: an event loop of a server has answers to give in
  /// between. Yielding after each record would answer faster, but a transaction would take seconds on a
  /// fully used core.
  static var recordsPerTurn: Int { 8 }

  package init(rows: Rows, run: RankingRun<Rows>? = nil) {
    self.rows = rows
    self.run = run
  }

  /// - Throws: `RunDropped`, what the database says.
  package mutating func write(_ records: [SeedRecord]) throws {
    try rows.prepare(for: records, run: run?.run?.number)
    try run?.requireKnown()
    for (index, record) in records.enumerated() {
      if index.isMultiple(of: Self.recordsPerTurn) { CurrentThread.yield() }
      switch record {
      case .feed(let name, let title): try writeFeed(name, title)
      case .post(let post, let placements):
        let stored = try rows.post(withID: post.id)
        try write(post, placements, over: stored)
      }
    }
    try insertNewEntries()
    try rows.trimLog()
  }
}

// MARK: Feeds

extension ImportBatch {
  private mutating func writeFeed(_ name: String, _ title: String?) throws {
    // No post has this id: ids hold no control characters.
    let id = "feed\u{0}" + name
    if let old = try rows.feed(named: name) {
      changes.append((id, .init(before: digest(old.title), after: digest(title))))
      if !old.title.isSame(as: title) { try rows.setTitle(title, ofFeed: old.id) }
    } else {
      feeds[name] = try rows.insertFeed(named: name, title: title)
      changes.append((id, .init(before: nil, after: digest(title))))
    }
  }

  /// The feed of this name; it is created if it does not exist.
  mutating func feedRow(_ name: String) throws -> FeedState {
    if let feed = feeds[name] { return feed }
    let feed = try rows.feed(named: name) ?? rows.insertFeed(named: name, title: nil)
    feeds[name] = feed
    return feed
  }

  /// The feed of this number, in which there is an entry.
  func feedRow(_ id: Int64) throws -> FeedState {
    guard let feed = try rows.feed(id) else {
      throw RowError("an entry is in the feed of number \(id), which is not there")
    }
    return feed
  }
}

// MARK: Posts

extension ImportBatch {
  mutating func write(
    _ post: Post, _ placements: [Placement], over stored: StoredPost?
  ) throws {
    guard let stored else {
      let number = try rows.insert(post)
      for placement in placements {
        try enter(post, number, try feedRow(placement.feed), rank: placement.rank)
      }
      changes.append((post.id, .init(before: nil, after: digest(post, placements))))
      return
    }
    if postsWithNewEntries.contains(stored.number) { try insertNewEntries() }
    let entries = try openEntries(ofPost: stored.number)
    if stored.post != post { try rows.update(stored, to: post, isRun: run != nil) }
    var after = entries.mapValues(\.rank)
    for placement in placements {
      let feed = try feedRow(placement.feed)
      if let entry = entries[feed.id] {
        try place(entry, of: post, in: feed, rank: placement.rank)
      } else {
        try enter(post, stored.number, feed, rank: placement.rank)
      }
      after[feed.id] = .some(placement.rank)
    }
    // A new time moves the post in the timed feeds that its record does not name; and where another has
    // moved it meanwhile to where this run wants it, the run has nothing to move.
    let misplaced = entries.values.filter { $0.isKept || $0.isMisplaced(post) }
    if !misplaced.isEmpty {
      let named = Set(try placements.map { try feedRow($0.feed).id })
      for entry in misplaced.sorted(by: { $0.feedID < $1.feedID })
      where !named.contains(entry.feedID) {
        try place(entry, of: post, in: try feedRow(entry.feedID), rank: entry.rank)
      }
    }
    changes.append(
      (
        post.id,
        .init(
          before: digest(stored.post, entries.mapValues(\.rank)),
          after: digest(post, after))
      ))
  }

  private func digest(_ title: String?) -> Int {
    title.map(ByteText.init).hashValue
  }

  private func digest(_ value: some Hashable, _ other: some Hashable) -> Int {
    var hasher = Hasher()
    hasher.combine(value)
    hasher.combine(other)
    return hasher.finalize()
  }
}

extension ImportBatch {
  /// An entry, and the place that the batch's run has given it.
  struct OpenEntry {
    let feedID: Int64
    let post: Int64
    /// The run's last word, where it has one; else as everybody sees it.
    var rank: Int?
    /// Whether the run has a word on it.
    var isKept = false
    /// As everybody sees it; `nil` where the run is about to bring the post into the feed.
    var shown: StoredEntry?

    /// The post has another time than the entry, or is not where its time says.
    func isMisplaced(_ post: Post) -> Bool {
      guard let shown else { return false }
      return shown.publishedAt != post.publishedAt?.microseconds
        || shown.key != SortKey(rank: shown.rank, publishedAt: post.publishedAt)
    }
  }

  func openEntries(ofPost number: Int64) throws -> [Int64: OpenEntry] {
    var entries: [Int64: OpenEntry] = [:]
    for shown in try rows.openEntries(ofPost: number) {
      entries[shown.feedID] = OpenEntry(
        feedID: shown.feedID, post: number, rank: shown.rank, shown: shown)
    }
    for (feed, rank) in try run?.ranks(ofPost: number) ?? [] {
      entries[feed, default: OpenEntry(feedID: feed, post: number)].rank = rank
      entries[feed]!.isKept = true
    }
    return entries
  }

  mutating func enter(_ post: Post, _ number: Int64, _ feed: FeedState, rank: Int?) throws {
    newEntries.append(Self.entry(of: post, number, rank, in: feed.id, since: feed.ranking))
    postsWithNewEntries.insert(number)
  }

  private static func entry(
    of post: Post, _ number: Int64, _ rank: Int?, in feed: Int64, since ranking: Int
  ) -> NewEntry {
    NewEntry(
      feedID: feed, post: number,
      position: Position(key: SortKey(rank: rank, publishedAt: post.publishedAt), id: post.id),
      publishedAt: post.publishedAt?.microseconds, rank: rank, since: ranking)
  }

  mutating func insertNewEntries() throws {
    for (index, entry) in newEntries.enumerated() {
      if index.isMultiple(of: Self.recordsPerTurn) { CurrentThread.yield() }
      if run?.feeds.contains(entry.feedID) == true {
        try run?.keep(entry.post, in: entry.feedID, rank: entry.rank)
      } else {
        // The next ranking begins with what the current one shows: it has the entry, too.
        try rows.insert(entry)
      }
    }
    newEntries.removeAll()
    postsWithNewEntries.removeAll()
  }

  /// Gives the entry this place: at the end of the run, or else in the next ranking.
  mutating func place(_ entry: OpenEntry, of post: Post, in feed: FeedState, rank: Int?) throws {
    guard let shown = entry.shown else {
      try run?.keep(entry.post, in: feed.id, rank: rank)
      return
    }
    let publishedAt = post.publishedAt?.microseconds
    if publishedAt != shown.publishedAt {
      try rows.setTime(publishedAt, ofPost: entry.post, inFeed: feed.id)
    }
    let key = SortKey(rank: rank, publishedAt: post.publishedAt)
    let isMove = key != shown.key || rank != shown.rank
    if run == nil {
      if isMove { try move(shown, of: post, rank, in: feed) }
    } else if isMove {
      try run?.keep(entry.post, in: feed.id, rank: rank)
    } else {
      try run?.forget(entry.post, in: feed.id)
    }
  }

  /// Moves the entry to another place in the next ranking; the current ranking still shows the old place.
  private mutating func move(
    _ shown: StoredEntry, of post: Post, _ rank: Int?, in feed: FeedState
  ) throws {
    movedFeeds.insert(feed.id)
    let next = feed.ranking + 1
    let moved = Self.entry(of: post, shown.post, rank, in: feed.id, since: next)
    if shown.since == next {
      try rows.delete(shown)
      // Moved back to where the current ranking has it: then nothing moved.
      if try rows.reopen(moved, closedAt: next) { return }
    } else {
      try rows.close(shown, at: next)
    }
    try rows.insert(moved)
  }
}

extension ImportBatch {
  /// Writes one post; with `placements` it is in these feeds and no other afterwards.
  mutating func put(_ post: Post, _ placements: [Placement]?, over stored: StoredPost?)
    throws
  {
    // First, so that a new time does not move it where it leaves.
    if let stored, let placements {
      try remove(stored.number, exceptFrom: Set(placements.map { try feedRow($0.feed).id }))
    }
    try write(post, placements ?? [], over: stored)
    try insertNewEntries()
  }

  /// Takes a post out of all other feeds, in every ranking: a walk does not meet it there again, and no
  /// run brings it back.
  private func remove(_ number: Int64, exceptFrom kept: Set<Int64>) throws {
    for feed in try rows.feeds(ofPost: number).subtracting(kept).sorted() {
      try rows.remove(number, fromFeed: feed)
    }
  }
}
