import Catalog
import Feed
import RowStore

/// The changes that a transaction is about to write, folded: each row is written once, whatever happened to
/// it meanwhile.
struct PendingRows {
  // MARK: Authors

  /// The numbers of authors that were read; negative if they are reserved for authors that are not written yet.
  var authors: [Author: Int64] = [:]
  /// The authors of posts that were read, or inserted since.
  var authorOfPost: [Int64: Int64] = [:]
  var newAuthors: [(number: Int64, author: Author)] = []
  /// Authors whose last post may have been removed.
  var leftAuthors: Set<Int64> = []

  // MARK: Feeds and posts

  var newFeeds: [FeedState] = []
  var newPosts: [Int64: (post: Post, author: Int64?)] = [:]
  /// New posts that are in no feed.
  var unplacedPosts: [Int64] = []
  var changedPosts: [Int64: (post: Post, author: Int64?)] = [:]
  var changedCounters: [Int64: [Counter]] = [:]
  /// The new files of posts whose files have changed.
  var changedMedia: [Int64: [Media]] = [:]
  /// The posts whose words may have changed.
  var changedWords: Set<Int64> = []

  /// The schedules of posts: when they next appear or disappear, and their places while they are in no feed.
  var schedules: [Int64: (dueAt: Timestamp?, places: [Int64: Int?])] = [:]

  // MARK: Entries

  /// A post in a feed.
  struct PostInFeed: Hashable {
    let feedID: Int64
    let post: Int64

    init(feedID: Int64, post: Int64) { (self.feedID, self.post) = (feedID, post) }
    init(_ entry: StoredEntry.Key) { self.init(feedID: entry.feedID, post: entry.post) }
  }

  /// Posts that leave feeds, in every ranking.
  var departures: [PostInFeed] = []
  var goneEntries: [StoredEntry.Key] = []
  var ends: [StoredEntry.Key: Int?] = [:]
  /// Times in microseconds since 1970.
  var times: [PostInFeed: Int64?] = [:]
  /// New entries, in the order in which they were added; nil for those that were deleted.
  private(set) var newEntries: [StoredEntry?] = []
  private var placesOfNew: [PostInFeed: [Int]] = [:]

  // MARK: Places of runs, and keys

  /// The ranks that the run gives; nil for a place that it no longer keeps.
  var places: [PostInFeed: PlaceRow?] = [:]
  var newKeys: [StoredKey] = []

  struct PlaceRow {
    let rank: Int?
  }

  // MARK: Folding

  mutating func insert(_ entry: StoredEntry) {
    placesOfNew[PostInFeed(entry.key), default: []].append(newEntries.count)
    newEntries.append(entry)
  }

  private func placeOfNew(_ entry: StoredEntry.Key) -> Int? {
    placesOfNew[PostInFeed(entry)]?.first { newEntries[$0]?.key == entry }
  }

  mutating func setTime(_ microseconds: Int64?, of place: PostInFeed) {
    for index in placesOfNew[place] ?? [] { newEntries[index]?.publishedAt = microseconds }
    times[place] = .some(microseconds)
  }

  mutating func setEnd(_ ranking: Int?, of entry: StoredEntry.Key) {
    if let index = placeOfNew(entry) {
      newEntries[index]?.until = ranking
    } else {
      ends[entry] = .some(ranking)
    }
  }

  mutating func delete(_ entry: StoredEntry.Key) {
    if let index = placeOfNew(entry) {
      newEntries[index] = nil
    } else {
      goneEntries.append(entry)
    }
  }

  mutating func leave(_ place: PostInFeed) {
    for index in placesOfNew[place] ?? [] { newEntries[index] = nil }
    places[place] = nil
    departures.append(place)
  }

  /// Returns and removes the new entries, which are written now.
  mutating func takeNewEntries() -> [StoredEntry] {
    defer { (newEntries, placesOfNew) = ([], [:]) }
    return newEntries.compactMap { $0 }
  }
}
