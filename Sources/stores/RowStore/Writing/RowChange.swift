import Feed
import Catalog

/// A change of rows, as every database makes it.
package enum RowChange: Sendable {
  /// A new post under this number.
  case insertPost(Int64, Post)
  /// The post is another of the same id.
  case updatePost(StoredPost, to: Post)
  case setCounters([Counter], ofPost: StoredPost)
  /// The post goes, with all that belongs to it.
  case deletePost(StoredPost)

  /// When the post comes into its feeds or leaves them next, and where it is to be while it is in none, in place of
  /// what there was.
  case setSchedule(dueAt: Timestamp?, places: [Int64: Int?], ofPost: Int64)

  /// A new post is in no feed as yet, or only the schedule of a post is another one: there are no entries by which
  /// readers would learn of it.
  case logPost(Int64)

  case insertFeed(FeedState)
  case setTitle(String?, ofFeed: Int64)
  case renameFeed(Int64, to: String, title: String?)
  /// The feed goes, with all that belongs to it.
  case deleteFeed(Int64)

  case insertEntry(StoredEntry)
  /// The time, in microseconds since 1970, of a post's entries in a feed, in every ranking.
  case setTime(Int64?, ofPost: Int64, inFeed: Int64)
  /// The entry shows before this ranking only; `nil` opens it again.
  case setEnd(Int?, of: StoredEntry.Key)
  case deleteEntry(StoredEntry.Key)
  /// The post leaves the feed in every ranking, and what runs keep aside of it there.
  case leaveFeed(Int64, post: Int64)

  /// The run keeps the post's place aside.
  case keepPlace(ofPost: Int64, inFeed: Int64, rank: Int?)
  /// The run keeps no place of the post aside any more.
  case forgetPlace(ofPost: Int64, inFeed: Int64)

  /// An idempotency key, in place of the same where there is one.
  case keepKey(StoredKey)
  /// Deletes a few keys that are older than this time, or more than `beyond` behind the newest.
  case forgetKeys(before: Timestamp, beyond: Int, atMost: Int)
}

/// A post and its row's number.
package struct StoredPost: Sendable {
  package let number: Int64
  package var post: Post

  package init(number: Int64, post: Post) {
    self.number = number
    self.post = post
  }
}

/// A post's place in a feed, and the rankings in which it has it.
package struct StoredEntry: Sendable {
  /// What an entry is found by.
  package struct Key: Hashable, Sendable {
    package let feedID: Int64
    package let post: Int64
    package let since: Int
  }

  package let key: Key
  package let position: Position
  package let rank: Int?
  /// Microseconds since 1970.
  package var publishedAt: Int64?
  /// The first ranking in which it does not show; `nil` while it is open.
  package var until: Int?

  package init(
    feedID: Int64, post: Int64, position: Position, rank: Int?, publishedAt: Int64?, since: Int
  ) {
    key = Key(feedID: feedID, post: post, since: since)
    self.position = position
    self.rank = rank
    self.publishedAt = publishedAt
  }

  package var feedID: Int64 { key.feedID }
}

/// An idempotency key, and what its request was answered.
package struct StoredKey: Sendable {
  package let key: String
  package let fingerprint: String
  /// As JSON; `nil` for none.
  package let counters: String?
  /// Microseconds since 1970.
  package let createdAt: Int64

  package init(key: String, fingerprint: String, counters: String?, createdAt: Int64) {
    self.key = key
    self.fingerprint = fingerprint
    self.counters = counters
    self.createdAt = createdAt
  }
}
