import Catalog
import Feed
import System

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

  /// Gives the entry another place in the next ranking; the current one goes on showing the old.
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
