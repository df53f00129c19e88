import Catalog
import Feed

/// The changes of rows by records, or by a single write that puts a post: pure.
///
/// A run's moves are pending until it ends (`RankingRun`), and so are its new entries in a feed in which it
/// has moved any, so that its ranking becomes visible as a whole. New entries are written after everything
/// else of the batch, because they depend on it. The moves of a single write go into the next ranking,
/// which is published with them.
struct ImportBatch {
  /// What happened to each post and feed, in the order of the records.
  private(set) var changes: [(id: String, change: NetChanges.Change)] = []
  /// The feeds that the run ranks again; `nil` for a single write.
  private(set) var rankedFeeds: Set<Int64>?
  /// The feeds whose next ranking a single write began.
  private(set) var movedFeeds: Set<Int64> = []

  /// The time of the transaction, by which schedules are followed.
  private let now: Timestamp
  private var newEntries: [StoredEntry] = []
  private var postsWithNewEntries: Set<Int64> = []

  init(rankedFeeds: Set<Int64>? = nil, now: Timestamp) {
    self.rankedFeeds = rankedFeeds
    self.now = now
  }

  mutating func write(_ record: SeedRecord, _ rows: inout KnownRows) throws {
    switch record {
    case .feed(let name, let title): try writeFeed(name, title, &rows)
    case .post(let post, let placements):
      let row = try rows.post(withID: post.id)
      guard post.hasSchedule || row?.stored.post.hasSchedule == true else {
        return try write(post, placements, over: row, &rows)
      }
      try writeScheduled(post, placements, over: row, areAll: false, &rows)
    }
  }

  /// Writes one post. With `placements`, it is in these feeds and in no other afterwards.
  mutating func put(
    _ post: Post, _ placements: [Placement]?, over row: KnownRows.PostRow?, _ rows: inout KnownRows
  ) throws {
    if post.hasSchedule || row?.stored.post.hasSchedule == true {
      try writeScheduled(post, placements, over: row, areAll: placements != nil, &rows)
    } else {
      try replace(post, placements, over: row, &rows)
    }
    insertNewEntries(&rows)
  }

  private mutating func replace(
    _ post: Post, _ placements: [Placement]?, over row: KnownRows.PostRow?, _ rows: inout KnownRows
  ) throws {
    // Removals come first, so that a new time does not move the post in a feed that it leaves. They apply
    // to every ranking, so that no client finds the post there again and no run brings it back.
    if let row, let placements {
      let kept = Set(try placements.map { try rows.madeFeed(named: $0.feed).id })
      for feed in row.feeds.union(row.places.keys).subtracting(kept).sorted() {
        rows.remove(row.stored.number, fromFeed: feed)
      }
    }
    try write(post, placements ?? [], over: try rows.post(withID: post.id), &rows)
  }

  // MARK: Schedules

  /// Writes a post that has or had a schedule. While it is not visible, it is in no feed, and its future
  /// places are kept separately; when it is visible, they become its places. So pages, cursors and caches
  /// need not know of schedules.
  ///
  /// - Parameter areAll: whether it is to be in these feeds and in no other; otherwise it stays in its
  ///   present and future feeds as well.
  private mutating func writeScheduled(
    _ post: Post, _ placements: [Placement]?, over row: KnownRows.PostRow?, areAll: Bool,
    _ rows: inout KnownRows
  ) throws {
    if let row, postsWithNewEntries.contains(row.stored.number) { insertNewEntries(&rows) }
    let row = try rows.post(withID: post.id)
    var before = row.map { openEntries(of: $0).mapValues(\.rank) } ?? [:]
    if let row { before.merge(row.scheduled) { $1 } }
    var ranks = areAll ? [:] : before
    for placement in placements ?? [] {
      ranks[try rows.madeFeed(named: placement.feed).id] = .some(placement.rank)
    }
    if post.visibility(at: now) == .visible {
      let shown = try ranks.sorted { $0.key < $1.key }.map {
        Placement(feed: try rows.feed($0.key).name, rank: $0.value)
      }
      if areAll {
        try replace(post, shown, over: row, &rows)
      } else {
        try write(post, shown, over: row, &rows)
      }
      try setSchedule(of: post, places: [:], &rows)
    } else {
      try replace(post, [], over: row, &rows)
      try setSchedule(of: post, places: ranks, &rows)
    }
    // The change that clients see: the future places of the post.
    changes[changes.count - 1].change = NetChanges.Change(
      before: row.map { digest($0.stored.post, before) }, after: digest(post, ranks))
  }

  private func setSchedule(
    of post: Post, places: [Int64: Int?], _ rows: inout KnownRows
  ) throws {
    guard let row = try rows.post(withID: post.id) else { return }
    let next = post.nextMoment(after: now)
    guard row.dueAt != next || row.scheduled != places else { return }
    rows.setSchedule(dueAt: next, places: places, ofPost: row.stored.number)
  }

  // MARK: Feeds

  private mutating func writeFeed(
    _ name: String, _ title: String?, _ rows: inout KnownRows
  ) throws {
    // No post has this id, since ids contain no control characters.
    let id = "feed\u{0}" + name
    if let old = try rows.feed(named: name) {
      changes.append((id, .init(before: digest(old.title), after: digest(title))))
      if !old.title.isSame(as: title) { rows.setTitle(title, of: old) }
    } else {
      _ = try rows.insertFeed(named: name, title: title)
      changes.append((id, .init(before: nil, after: digest(title))))
    }
  }

  // MARK: Posts

  private mutating func write(
    _ post: Post, _ placements: [Placement], over row: KnownRows.PostRow?,
    _ rows: inout KnownRows
  ) throws {
    guard var row else {
      let number = try rows.insert(post)
      for placement in placements {
        enter(post, number, try rows.madeFeed(named: placement.feed), rank: placement.rank)
      }
      changes.append((post.id, .init(before: nil, after: digest(post, placements))))
      return
    }
    let stored = row.stored
    if postsWithNewEntries.contains(stored.number) {
      insertNewEntries(&rows)
      row = try rows.post(withID: post.id) ?? row
    }
    let entries = openEntries(of: row)
    if stored.post != post { rows.update(stored, to: post) }
    var after = entries.mapValues(\.rank)
    for placement in placements {
      let feed = try rows.madeFeed(named: placement.feed)
      if let entry = entries[feed.id] {
        place(entry, of: post, in: feed, rank: placement.rank, &rows)
      } else {
        enter(post, stored.number, feed, rank: placement.rank)
      }
      after[feed.id] = .some(placement.rank)
    }
    // A new time moves the post in the timed feeds that its record does not name. If another write has
    // moved it meanwhile to where this run wants it, the run has nothing to move.
    let misplaced = entries.values.filter { $0.isKept || $0.isMisplaced(post) }
    if !misplaced.isEmpty {
      let named = Set(try placements.map { try rows.madeFeed(named: $0.feed).id })
      for entry in misplaced.sorted(by: { $0.feedID < $1.feedID })
      where !named.contains(entry.feedID) {
        place(entry, of: post, in: try rows.feed(entry.feedID), rank: entry.rank, &rows)
      }
    }
    let change = NetChanges.Change(
      before: digest(stored.post, entries.mapValues(\.rank)), after: digest(post, after))
    changes.append((post.id, change))
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

  // MARK: Entries

  /// An entry, and the place that the batch's run has given it.
  private struct OpenEntry {
    let feedID: Int64
    let post: Int64
    /// The rank that the run gave it last, or else the visible one.
    var rank: Int?
    /// Whether the run gave it a place.
    var isKept = false
    /// The visible entry; `nil` if the run is about to bring the post into the feed.
    var shown: StoredEntry?

    /// Whether the post has another time than the entry, or is not where its time puts it.
    func isMisplaced(_ post: Post) -> Bool {
      guard let shown else { return false }
      return shown.publishedAt != post.publishedAt?.microseconds
        || shown.position.key != SortKey(rank: shown.rank, publishedAt: post.publishedAt)
    }
  }

  private func openEntries(of row: KnownRows.PostRow) -> [Int64: OpenEntry] {
    let number = row.stored.number
    var entries: [Int64: OpenEntry] = [:]
    for shown in row.entries where shown.until == nil {
      entries[shown.feedID] = OpenEntry(
        feedID: shown.feedID, post: number, rank: shown.rank, shown: shown)
    }
    for (feed, rank) in row.places {
      entries[feed, default: OpenEntry(feedID: feed, post: number)].rank = rank
      entries[feed]!.isKept = true
    }
    return entries
  }

  private mutating func enter(_ post: Post, _ number: Int64, _ feed: FeedState, rank: Int?) {
    newEntries.append(Self.entry(of: post, number, rank, in: feed.id, since: feed.ranking))
    postsWithNewEntries.insert(number)
  }

  private static func entry(
    of post: Post, _ number: Int64, _ rank: Int?, in feed: Int64, since ranking: Int
  ) -> StoredEntry {
    StoredEntry(
      feedID: feed, post: number,
      position: Position(key: SortKey(rank: rank, publishedAt: post.publishedAt), id: post.id),
      rank: rank, publishedAt: post.publishedAt?.microseconds, since: ranking)
  }

  mutating func insertNewEntries(_ rows: inout KnownRows) {
    for entry in newEntries {
      if rankedFeeds?.contains(entry.feedID) == true {
        rows.keepPlace(ofPost: entry.key.post, inFeed: entry.feedID, rank: entry.rank)
      } else {
        // The next ranking begins with what the current one shows, and so has the entry, too.
        rows.insert(entry)
      }
    }
    newEntries.removeAll()
    postsWithNewEntries.removeAll()
  }

  /// Gives the entry this place: at the end of a run, or else in the next ranking.
  private mutating func place(
    _ entry: OpenEntry, of post: Post, in feed: FeedState, rank: Int?, _ rows: inout KnownRows
  ) {
    guard let shown = entry.shown else {
      if rankedFeeds != nil { keep(entry.post, in: feed.id, rank: rank, &rows) }
      return
    }
    let publishedAt = post.publishedAt?.microseconds
    if publishedAt != shown.publishedAt {
      rows.setTime(publishedAt, ofPost: entry.post, inFeed: feed.id)
    }
    let key = SortKey(rank: rank, publishedAt: post.publishedAt)
    let isMove = key != shown.position.key || rank != shown.rank
    if rankedFeeds == nil {
      if isMove { move(shown, of: post, rank, in: feed, &rows) }
    } else if isMove {
      keep(entry.post, in: feed.id, rank: rank, &rows)
    } else if entry.isKept {
      // The post already is where the run last put it.
      rows.forgetPlace(ofPost: entry.post, inFeed: feed.id)
    }
  }

  /// Keeps a post's place for the end of the run.
  private mutating func keep(
    _ post: Int64, in feed: Int64, rank: Int?, _ rows: inout KnownRows
  ) {
    rankedFeeds?.insert(feed)
    rows.keepPlace(ofPost: post, inFeed: feed, rank: rank)
  }

  /// Moves the entry to another place in the next ranking; the current ranking still shows the old place.
  private mutating func move(
    _ shown: StoredEntry, of post: Post, _ rank: Int?, in feed: FeedState,
    _ rows: inout KnownRows
  ) {
    movedFeeds.insert(feed.id)
    let next = feed.ranking + 1
    let moved = Self.entry(of: post, shown.key.post, rank, in: feed.id, since: next)
    if shown.key.since == next {
      rows.delete(shown.key)
      // The entry was moved back to where the current ranking has it, so nothing moved.
      if let closed = rows.closed(moved, at: next) {
        rows.setEnd(nil, of: closed.key)
        if closed.publishedAt != moved.publishedAt {
          rows.setTime(moved.publishedAt, ofPost: shown.key.post, inFeed: feed.id)
        }
        return
      }
    } else {
      rows.setEnd(next, of: shown.key)
    }
    rows.insert(moved)
  }
}
