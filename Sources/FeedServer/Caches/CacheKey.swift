import Feed
import HTTP

/// The keys by which caches in front have answers, and are told to forget them: visible ASCII without white space
/// and commas, whatever a feed's name is made of, so that a list of them can be divided by either.
enum CacheKey {
  /// Of all that is made of the database.
  static let all = "all"
  /// Of the list of feeds.
  static let feeds = "feeds"
  /// Of items that do not have the keys of all their feeds: forgotten with every change.
  static let loose = "loose"

  /// Of all that shows a feed or items of it: the name as it stands in a query, 305 bytes at the most.
  static func feed(_ name: String) -> String {
    feedPrefix + PercentEncoding.encode(name, for: .queryValue)
  }

  fileprivate static let feedPrefix = "feed/"

  /// Of one item's own documents. Writes purge by feed; this one is for people.
  static func item(_ id: String) -> String {
    "item/" + PercentEncoding.encode(id, for: .queryValue)
  }

  /// How many bytes an item's keys may take together: caches take heads of some thousands.
  static let itemBytes = 2_048

  /// The keys of an item's documents, which say in which feeds it is.
  static func ofItem(_ item: StoredItem) -> [String] {
    var keys = [all, self.item(item.post.id)]
    let feeds = item.placements.map { feed($0.feed) }
    let bytes = (keys + feeds).reduce(0) { $0 + $1.utf8.count + 1 }
    if feeds.isEmpty || bytes > itemBytes { keys.append(loose) } else { keys += feeds }
    return keys
  }
}

/// The keys of one answer.
enum CacheKeys: Sendable {
  case none
  /// Of a page, or of another document about one feed: `all` and the feed's.
  case page(feed: String)
  case these([String])

  var areAny: Bool { if case .none = self { false } else { true } }
}

extension CacheKeyField {
  /// Appends the keys as one value.
  func write(_ keys: CacheKeys, to value: inout [UInt8]) {
    switch keys {
    case .none: return
    case .page(let feed):
      value.append(text: CacheKey.all)
      value.append(text: separator)
      value.append(text: CacheKey.feedPrefix)
      PercentEncoding.append(feed, for: .queryValue, to: &value)
    case .these(let keys): value.append(text: self.value(keys))
    }
  }
}
