import Catalog
import Feed

/// What a transaction has read, and what it is about to write: a value, so that a write which fails leaves what was
/// there before it.
struct PendingRows {
  // MARK: What is known

  /// By id; `nil` for a post that is known to be absent.
  var posts: [ByteText: StoredRow?] = [:]
  /// Of the posts that are known, in all rankings.
  var entries: [Int64: [EntryRow]] = [:]
  /// Of the posts that are known, of all runs.
  var places: [Int64: [PlaceRow]] = [:]
  var feeds: [Int64: FeedState] = [:]
  var feedsByName: [ByteText: Int64] = [:]
  var authors: [Author: Int64] = [:]
  /// By key; `nil` for a key that is known to be absent.
  var keys: [ByteText: KeyRow?] = [:]
  /// Numbers that are handed out and not used yet.
  var postNumbers: [Int64] = []
  /// Those of entries that were not in the database fall from -1.
  var lastNewEntry: Int64 = 0

  // MARK: What is to be written

  var newAuthors: [(number: Int64, author: Author)] = []
  /// Authors whose last post may have been removed.
  var leftAuthors: Set<Int64> = []
  var newPosts: [Int64: (post: Post, author: Int64?)] = [:]
  var changedPosts: [Int64: (post: Post, author: Int64?)] = [:]
  var changedCounters: [Int64: [Counter]] = [:]
  /// The files of posts that are new, once those are written.
  var newMedia: [Int64: [Media]] = [:]
  /// The posts whose files are other ones.
  var changedMedia: [Int64: [Media]] = [:]
  var goneEntries: [Int64] = []
  var gonePlaces: [PlaceRow] = []
  var newKeys: [KeyRow] = []

  /// A post as the database has it, or is about to.
  struct StoredRow {
    let number: Int64
    var post: Post
    var author: Int64?
  }

  /// An entry, open or closed.
  struct EntryRow {
    /// Its own among all entries of the transaction: the database's number, or one below 0.
    let id: Int64
    /// The database's number; `nil` until it is written.
    var number: Int64?
    let feedID: Int64
    /// Of the entry's post.
    let postID: String
    let key: Int64
    let rank: Int?
    var publishedAt: Int64?
    let since: Int
    var until: Int?
    /// It is in the database, and is another there.
    var isChanged = false
  }

  /// A place that a run keeps aside.
  struct PlaceRow {
    let run: Int64
    let feedID: Int64
    let post: Int64
    var rank: Int?
    var isChanged = false
  }

  /// An idempotency key.
  struct KeyRow {
    let key: String
    let fingerprint: String
    let counters: String?
    let createdAt: Int64
  }
}
