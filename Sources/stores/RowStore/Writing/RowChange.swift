import Feed
import Catalog

/// A change of rows, the same for every database.
package enum RowChange: Sendable {
  /// Inserts a post under this number.
  case insertPost(Int64, Post)
  /// Replaces a post by another with the same id.
  case updatePost(StoredPost, to: Post)
  case setCounters([Counter], ofPost: StoredPost)
  /// Deletes a post and all that belongs to it.
  case deletePost(StoredPost)

  /// Replaces a post's schedule: when it next enters or leaves its feeds, and its places there while it is
  /// in none.
  case setSchedule(dueAt: Timestamp?, places: [Int64: Int?], ofPost: Int64)

  /// Logs a post that readers do not see by entries: a new post that is in no feed yet, or one of which
  /// only the schedule changed.
  case logPost(Int64)

  case insertFeed(FeedState)
  case setTitle(String?, ofFeed: Int64)
  case renameFeed(Int64, to: String, title: String?)
  /// Deletes a feed and all that belongs to it.
  case deleteFeed(Int64)

  case insertEntry(StoredEntry)
  /// Sets the time, in microseconds since 1970, of a post's entries in a feed, in every ranking.
  case setTime(Int64?, ofPost: Int64, inFeed: Int64)
  /// Ends an entry, which then shows only before this ranking; `nil` opens it again.
  case setEnd(Int?, of: StoredEntry.Key)
  case deleteEntry(StoredEntry.Key)
  /// Removes a post from a feed in every ranking, with the pending places of runs there.
  case leaveFeed(Int64, post: Int64)

  /// Keeps the run's place of a post pending.
  case keepPlace(ofPost: Int64, inFeed: Int64, rank: Int?)
  /// Deletes the run's pending place of a post.
  case forgetPlace(ofPost: Int64, inFeed: Int64)

  /// Stores an idempotency key, in place of the same key if there is one.
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
  /// The key that identifies an entry.
  package struct Key: Hashable, Sendable {
    package let feedID: Int64
    package let post: Int64
    package let since: Int
  }

  package let key: Key
  package let position: Position
  package let rank: Int?
  /// In microseconds since 1970.
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

/// An idempotency key, and the answer to its request.
package struct StoredKey: Sendable {
  package let key: String
  package let fingerprint: String
  /// The answer as JSON; `nil` for none.
  package let counters: String?
  /// In microseconds since 1970.
  package let createdAt: Int64

  package init(key: String, fingerprint: String, counters: String?, createdAt: Int64) {
    self.key = key
    self.fingerprint = fingerprint
    self.counters = counters
    self.createdAt = createdAt
  }
}
