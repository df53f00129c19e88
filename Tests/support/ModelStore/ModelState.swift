import Catalog
import Feed
import Prefetch

/// Everything that a store holds, plainly. It is a value: a write works on a copy, which is let go where
/// the write fails.
struct ModelState {
  struct Item {
    let number: Int64
    var post: Post
    /// How long people watch it, as it was published.
    var survival: [WatchPoint] = []
    /// When it comes or goes next; and the ranks that it is to have in feeds while it is in none.
    var dueAt: Timestamp?
    var scheduled: [ByteText: Int?] = [:]

    /// The same as JSON.
    var survivalJSON: String? {
      survival.isEmpty
        ? nil
        : "[" + survival.map { "[\($0.milliseconds),\($0.permille)]" }.joined(separator: ",") + "]"
    }
  }

  struct Key {
    let key: IdempotencyKey
    let counters: [Counter]
    let createdAt: Timestamp
  }

  var options: ModelStore.Options
  var items: [ByteText: Item] = [:]
  /// The ids of the posts that there are by their numbers.
  var ids: [Int64: ByteText] = [:]
  var lastNumber: Int64 = 0
  var feeds: [ByteText: ModelFeed] = [:]
  /// The greatest ranking of a feed that is gone or has another name: new ones begin above, so that no
  /// cursor of the old one fits them.
  var rankingFloor = 0
  /// The oldest first.
  var keys: [Key] = []
  var runs: [Int: ModelRun] = [:]
  var policies = ModelPolicies.first
  /// What is known of media files, by their URLs.
  var media: [ByteText: KnownMedia] = [:]
  /// What has changed since this was published last.
  var changed = Changed()

  struct Changed {
    var posts: Set<Int64> = []
    var feeds: Set<ByteText> = []
    var areSettings = false

    var isEmpty: Bool { posts.isEmpty && feeds.isEmpty && !areSettings }
  }

  init(_ options: ModelStore.Options) {
    self.options = options
  }
}

// MARK: Reading

extension ModelState {
  func item(_ id: String) -> StoredItem? {
    guard let item = items[id] else { return nil }
    let placements =
      feeds.values.compactMap { feed in
        feed.latest[id].map { Placement(feed: feed.name, rank: $0.rank) }
      } + item.scheduled.map { Placement(feed: $0.key.text, rank: $0.value) }
    return StoredItem(
      post: item.post, placements: placements.sorted { ByteText($0.feed) < ByteText($1.feed) },
      truths: truths(of: item.post), survival: item.survivalJSON)
  }

  /// Changes what is said of how long a post is watched.
  mutating func publish(_ survival: [WatchPoint], of id: String) {
    guard let item = items[id], item.survival != survival else { return }
    items[id]?.survival = survival
    changed.posts.insert(item.number)
  }

  func posts(_ numbers: [Int64]) -> FlatPosts {
    var posts = FlatPosts()
    for number in numbers {
      guard let id = ids[number], let item = items[id] else { continue }
      posts.append(
        item.post, number: number, truths: truths(of: item.post), survival: item.survivalJSON)
    }
    return posts
  }

  func cut(_ query: PageQuery, asOf version: StoreVersion) throws -> PageCut {
    guard let feed = feeds[query.feed] else { throw FeedError.unknownFeed(query.feed) }
    let order = feed.order { items[$0]!.number }
    var position: Position?
    if case .around(.item(let id), _, _) = query.start {
      guard let place = feed.entries[id] else {
        throw FeedError.itemNotInFeed(item: id, feed: query.feed)
      }
      position = Position(key: place.key, id: id)
    }
    return PageCut(
      feed: feed.summary, slice: try order.slice(query, position: position), version: version)
  }

  /// A page of all feeds: those below the one cursor and above the other.
  func feeds(_ query: FeedListQuery) -> FeedListPage {
    let all = feeds.sorted { $0.key < $1.key }.map(\.value.summary)
    func isBelow(_ feed: FeedSummary, _ cursor: FeedListCursor) -> Bool {
      switch cursor {
      case .start: true
      case .end: false
      case .name(let name): ByteText(name) < ByteText(feed.name)
      }
    }
    func isAbove(_ feed: FeedSummary, _ cursor: FeedListCursor) -> Bool {
      switch cursor {
      case .start: false
      case .end: true
      case .name(let name): ByteText(feed.name) < ByteText(name)
      }
    }
    let first = query.after.map { after in all.count { !isBelow($0, after) } } ?? 0
    let last = query.before.map { before in all.count { isAbove($0, before) } } ?? all.count
    let window = first..<max(first, last)
    let isUpwards = query.after == nil && query.before != nil
    let page = isUpwards ? window.suffix(query.limit) : window.prefix(query.limit)
    let start = isUpwards ? window.upperBound - page.count : window.lowerBound
    let end = start + page.count
    let bounds = query.after != nil && query.before != nil ? window : 0..<all.count
    return FeedListPage(
      feeds: Array(all[start..<end]), total: all.count,
      next: end < bounds.upperBound ? start < end ? .name(all[end - 1].name) : .start : nil,
      previous: start > bounds.lowerBound ? start < end ? .name(all[start].name) : .end : nil)
  }

  func exportRecords(_ body: (SeedRecord) throws -> Void) rethrows {
    for (_, feed) in feeds.sorted(by: { $0.key < $1.key }) where feed.title != nil {
      try body(.feed(name: feed.name, title: feed.title))
    }
    for id in items.keys.sorted() {
      let item = item(id.text)!
      try body(.post(item.post, placements: item.placements))
    }
  }
}
