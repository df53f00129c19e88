import Catalog
import Feed

/// The rows that some writes look at.
package struct RowsWanted {
  /// The ids of posts, each once.
  package private(set) var posts: [String] = []
  /// The ids of posts whose open entries, their feeds, and places in `run` are wanted, too.
  package private(set) var placedPosts: [String] = []
  /// The ids of posts whose feeds in every ranking are wanted, too.
  package private(set) var leavingPosts: [String] = []
  /// The names of feeds.
  package private(set) var feeds: [String] = []
  /// The texts of idempotency keys.
  package private(set) var keys: [String] = []
  /// The authors of posts that may be written.
  package private(set) var authors: Set<Author> = []
  /// Whether feeds may be made, renamed or deleted.
  package private(set) var isOfFeeds = false
  /// The counts of new numbers that posts and feeds may need.
  package private(set) var newPosts = 0
  package private(set) var newFeeds = 0
  /// The run whose places are wanted.
  package private(set) var run: Int64?

  private var known: (posts: Set<ByteText>, placed: Set<ByteText>, leaving: Set<ByteText>) =
    ([], [], [])

  package init(_ writes: [WaitingWrite]) {
    for write in writes {
      switch write {
      case .item(let write, _): add(write)
      case .feed(let write, _):
        isOfFeeds = true
        feeds.append(write.name)
        switch write.change {
        case .put: newFeeds += 1
        case .rename(let name, _): feeds.append(name)
        case .delete: break
        }
      }
    }
  }

  private mutating func add(_ write: ItemWrite) {
    add(post: write.id, isPlaced: write.authorization != nil || write.condition != nil)
    switch write.change {
    case .put(let post, let placements, _):
      add(post: write.id, isPlaced: true)
      newPosts += 1
      if let author = post.author { authors.insert(author) }
      if placements != nil || post.hasSchedule { addLeaving(write.id) }
      guard let placements else { return }
      feeds += placements.map(\.feed)
      newFeeds += placements.count
      isOfFeeds = isOfFeeds || !placements.isEmpty
    case .increment(_, let key?): keys += [key.storedText, key.text]
    case .increment(_, nil), .delete: break
    case .followSchedule: addLeaving(write.id)
    }
  }

  /// Adds a post that may leave feeds: its feeds in any ranking are wanted.
  private mutating func addLeaving(_ id: String) {
    add(post: id, isPlaced: true)
    if known.leaving.insert(ByteText(id)).inserted { leavingPosts.append(id) }
  }

  package init(_ records: [SeedRecord], run: Int64?) {
    self.run = run
    var names: Set<ByteText> = []
    for record in records {
      switch record {
      case .feed(let name, _): names.insert(ByteText(name))
      case .post(let post, let placements):
        add(post: post.id, isPlaced: true)
        if post.hasSchedule { addLeaving(post.id) }
        if let author = post.author { authors.insert(author) }
        for placement in placements { names.insert(ByteText(placement.feed)) }
      }
    }
    feeds = names.map(\.text)
    (newPosts, newFeeds) = (posts.count, feeds.count)
    isOfFeeds = newFeeds > 0
  }

  private mutating func add(post id: String, isPlaced: Bool) {
    if known.posts.insert(ByteText(id)).inserted { posts.append(id) }
    if isPlaced, known.placed.insert(ByteText(id)).inserted { placedPosts.append(id) }
  }
}

/// Rows as a transaction has read them, and the changes of its writes: a value, so that a write that fails
/// leaves them as they were.
package struct KnownRows {
  /// A post and its rows.
  struct PostRow {
    var stored: StoredPost
    /// The open entries, and those that this transaction has closed, of a post that is placed.
    var entries: [StoredEntry] = []
    /// The ranks that the run has given it, by feed.
    var places: [Int64: Int?] = [:]
    /// The feeds in which it is in any ranking, or about to be, if they were wanted.
    var feeds: Set<Int64> = []
    /// When it next enters or leaves its feeds, and its ranks in feeds while it is in none.
    var dueAt: Timestamp?
    var scheduled: [Int64: Int?] = [:]
  }

  /// By id; `nil` for a post that does not exist.
  private var posts: [ByteText: PostRow?] = [:]
  private var ids: [Int64: ByteText] = [:]
  private var feeds: [Int64: FeedState] = [:]
  /// By name; `nil` for a feed that does not exist.
  private var feedNumbers: [ByteText: Int64?] = [:]
  private var keys: [ByteText: StoredKey] = [:]
  /// The ranking above which a new or renamed feed begins, so that no old cursor fits.
  package var rankingFloor = 0
  /// Numbers for new rows, the next one last.
  package var newPostNumbers: [Int64] = []
  package var newFeedNumbers: [Int64] = []
  /// The changes of the writes, in order, since they were last taken.
  private var changes: [RowChange] = []
  private var before: Before?

  /// The values that a failed write restores.
  private struct Before {
    var posts: [ByteText: PostRow?] = [:]
    var feeds: [Int64: FeedState?] = [:]
    var feedNumbers: [ByteText: Int64?] = [:]
    var keys: [ByteText: StoredKey?] = [:]
    let rankingFloor: Int
  }

  // MARK: Adding rows that were read

  /// Treats everything that is wanted as absent, until it is added.
  package init(_ wanted: RowsWanted) {
    posts.reserveCapacity(wanted.posts.count)
    for id in wanted.posts { posts[ByteText(id)] = .some(nil) }
    for name in wanted.feeds { feedNumbers[ByteText(name)] = .some(nil) }
  }

  /// Adds a post; its entries and places come after it.
  package mutating func add(_ stored: StoredPost) {
    let id = ByteText(stored.post.id)
    posts[id] = .some(PostRow(stored: stored))
    ids[stored.number] = id
  }

  /// Adds an open entry of a post that was added.
  package mutating func add(_ entry: StoredEntry) {
    read(entry.key.post) { $0.entries.append(entry) }
  }

  package mutating func add(place rank: Int?, ofPost number: Int64, inFeed feed: Int64) {
    read(number) { $0.places[feed] = .some(rank) }
  }

  /// Adds a feed in which a post that was added is in any ranking, or about to be.
  package mutating func add(feed: Int64, ofPost number: Int64) {
    read(number) { $0.feeds.insert(feed) }
  }

  /// Adds the next moment of a post that was added.
  package mutating func add(dueAt: Timestamp, ofPost number: Int64) {
    read(number) { $0.dueAt = dueAt }
  }

  /// Adds a place that a post has in a feed while it is in none. The post was added before.
  package mutating func add(scheduled rank: Int?, ofPost number: Int64, inFeed feed: Int64) {
    read(number) { $0.scheduled[feed] = .some(rank) }
  }

  package mutating func add(_ feed: FeedState) {
    feeds[feed.id] = feed
    feedNumbers[ByteText(feed.name)] = feed.id
  }

  package mutating func add(_ key: StoredKey) { keys[ByteText(key.key)] = key }

  private mutating func read(_ number: Int64, _ body: (inout PostRow) -> Void) {
    guard let id = ids[number], var row = posts[id] ?? nil else { return }
    posts[id] = .some(nil)
    body(&row)
    posts[id] = row
  }

  /// Returns the number of a post that was added.
  package func number(ofPost id: String) -> Int64? { (posts[ByteText(id)] ?? nil)?.stored.number }

  /// Whether the feed of an entry was added.
  package func hasFeed(_ id: Int64) -> Bool { feeds[id] != nil }

  // MARK: Reading

  /// - Throws: `RowError` for a post that was not wanted.
  func post(withID id: String) throws -> PostRow? {
    guard let row = posts[ByteText(id)] else { throw RowError("the post \(id) was not read") }
    return row
  }

  /// - Throws: `RowError` for a feed that was not wanted.
  func feed(named name: String) throws -> FeedState? {
    guard let number = feedNumbers[ByteText(name)] else {
      throw RowError("the feed \(name) was not read")
    }
    return number.flatMap { feeds[$0] }
  }

  /// Returns the feed of an entry.
  func feed(_ id: Int64) throws -> FeedState {
    guard let feed = feeds[id] else {
      throw RowError("an entry is in the feed of number \(id), which is not there")
    }
    return feed
  }

  func key(_ text: String) -> StoredKey? { keys[ByteText(text)] }

  /// Returns the item as clients see it.
  func item(_ row: PostRow) throws -> StoredItem {
    let placements =
      try row.entries.filter { $0.until == nil }.map {
        Placement(feed: try feed($0.feedID).name, rank: $0.rank)
      } + row.scheduled.map { Placement(feed: try feed($0.key).name, rank: $0.value) }
    return StoredItem(
      post: row.stored.post,
      placements: placements.sorted { $0.feed.utf8.lexicographicallyPrecedes($1.feed.utf8) })
  }

  // MARK: Writes

  /// Runs a write; if it throws, the rows are as before.
  mutating func attempt<Outcome>(
    _ body: (inout KnownRows) throws -> Outcome
  ) throws -> Outcome {
    before = Before(rankingFloor: rankingFloor)
    defer { before = nil }
    do {
      return try body(&self)
    } catch {
      undo()
      throw error
    }
  }

  private mutating func undo() {
    changes = []
    guard let before else { return }
    posts.merge(before.posts) { $1 }
    feedNumbers.merge(before.feedNumbers) { $1 }
    for (id, feed) in before.feeds { feeds[id] = feed }
    for (text, key) in before.keys { keys[text] = key }
    rankingFloor = before.rankingFloor
  }

  /// Returns the changes since the last call.
  mutating func takeChanges() -> [RowChange] {
    defer { changes = [] }
    var unplaced: Set<Int64> = []
    for change in changes {
      switch change {
      case .insertPost(let number, _), .setSchedule(_, _, let number): unplaced.insert(number)
      case .insertEntry(let entry): unplaced.remove(entry.key.post)
      case .deletePost(let stored): unplaced.remove(stored.number)
      default: continue
      }
    }
    return changes + unplaced.sorted().map(RowChange.logPost)
  }

  // MARK: Changes of posts

  private mutating func change(_ id: ByteText, _ body: (inout PostRow?) -> Void) {
    guard var row = posts[id] else { return }
    if before != nil, before!.posts[id] == nil { before!.posts[id] = .some(row) }
    // Makes the row uniquely referenced while it changes.
    posts[id] = .some(nil)
    body(&row)
    posts[id] = .some(row)
  }

  private mutating func change(_ number: Int64, _ body: (inout PostRow) -> Void) {
    guard let id = ids[number] else { return }
    change(id) { row in
      guard row != nil else { return }
      body(&row!)
    }
  }

  /// - Returns: the new post's number.
  mutating func insert(_ post: Post) throws -> Int64 {
    guard let number = newPostNumbers.popLast() else {
      throw RowError("there is no number for the post \(post.id)")
    }
    let id = ByteText(post.id)
    change(id) { $0 = PostRow(stored: StoredPost(number: number, post: post)) }
    ids[number] = id
    changes.append(.insertPost(number, post))
    return number
  }

  mutating func update(_ stored: StoredPost, to post: Post) {
    change(stored.number) { $0.stored.post = post }
    changes.append(.updatePost(stored, to: post))
  }

  mutating func set(_ counters: [Counter], of stored: StoredPost) {
    change(stored.number) { $0.stored.post.counters = counters }
    changes.append(.setCounters(counters, ofPost: stored))
  }

  mutating func setSchedule(dueAt: Timestamp?, places: [Int64: Int?], ofPost number: Int64) {
    change(number) { row in
      row.dueAt = dueAt
      row.scheduled = places
    }
    changes.append(.setSchedule(dueAt: dueAt, places: places, ofPost: number))
  }

  mutating func delete(_ stored: StoredPost) {
    change(ByteText(stored.post.id)) { $0 = nil }
    changes.append(.deletePost(stored))
  }

  // MARK: Changes of feeds

  private mutating func change(_ id: Int64, to feed: FeedState?) {
    if before != nil, before!.feeds[id] == nil { before!.feeds[id] = .some(feeds[id]) }
    if let old = feeds[id] { change(name: old.name, to: nil) }
    feeds[id] = feed
    if let feed { change(name: feed.name, to: id) }
  }

  private mutating func change(name: String, to id: Int64?) {
    let name = ByteText(name)
    if before != nil, before!.feedNumbers[name] == nil {
      before!.feedNumbers[name] = .some(feedNumbers[name] ?? nil)
    }
    feedNumbers[name] = .some(id)
  }

  /// Returns the feed of this name; creates it if it does not exist.
  mutating func madeFeed(named name: String) throws -> FeedState {
    try feed(named: name) ?? insertFeed(named: name, title: nil)
  }

  mutating func insertFeed(named name: String, title: String?) throws -> FeedState {
    guard let number = newFeedNumbers.popLast() else {
      throw RowError("there is no number for the feed \(name)")
    }
    let ranking = rankingFloor + 1
    let feed = FeedState(
      id: number, name: name, title: title, ranking: ranking, oldestRanking: ranking)
    change(number, to: feed)
    changes.append(.insertFeed(feed))
    return feed
  }

  mutating func setTitle(_ title: String?, of feed: FeedState) {
    change(
      feed.id,
      to: FeedState(
        id: feed.id, name: feed.name, title: title, ranking: feed.ranking,
        oldestRanking: feed.oldestRanking))
    changes.append(.setTitle(title, ofFeed: feed.id))
  }

  mutating func rename(_ feed: FeedState, to name: String, title: String?) {
    rankingFloor = max(rankingFloor, feed.ranking)
    let ranking = rankingFloor + 1
    change(
      feed.id,
      to: FeedState(
        id: feed.id, name: name, title: title, ranking: ranking, oldestRanking: ranking))
    changes.append(.renameFeed(feed.id, to: name, title: title))
  }

  mutating func delete(_ feed: FeedState) {
    rankingFloor = max(rankingFloor, feed.ranking)
    for id in Array(posts.keys) where isIn(feed.id, id) {
      change(id) { row in
        row?.entries.removeAll { $0.feedID == feed.id }
        row?.places[feed.id] = nil
        row?.scheduled[feed.id] = nil
        row?.feeds.remove(feed.id)
      }
    }
    change(feed.id, to: nil)
    changes.append(.deleteFeed(feed.id))
  }

  private func isIn(_ feed: Int64, _ id: ByteText) -> Bool {
    guard let row = posts[id] ?? nil else { return false }
    return row.feeds.contains(feed) || row.places[feed] != nil || row.scheduled[feed] != nil
      || row.entries.contains { $0.feedID == feed }
  }

  // MARK: Changes of entries

  mutating func insert(_ entry: StoredEntry) {
    change(entry.key.post) { row in
      row.entries.append(entry)
      row.feeds.insert(entry.feedID)
    }
    changes.append(.insertEntry(entry))
  }

  mutating func setTime(_ microseconds: Int64?, ofPost number: Int64, inFeed feed: Int64) {
    change(number) { row in
      for index in row.entries.indices where row.entries[index].feedID == feed {
        row.entries[index].publishedAt = microseconds
      }
    }
    changes.append(.setTime(microseconds, ofPost: number, inFeed: feed))
  }

  mutating func setEnd(_ ranking: Int?, of entry: StoredEntry.Key) {
    change(entry.post) { row in
      for index in row.entries.indices where row.entries[index].key == entry {
        row.entries[index].until = ranking
      }
    }
    changes.append(.setEnd(ranking, of: entry))
  }

  mutating func delete(_ entry: StoredEntry.Key) {
    change(entry.post) { row in row.entries.removeAll { $0.key == entry } }
    changes.append(.deleteEntry(entry))
  }

  mutating func remove(_ number: Int64, fromFeed feed: Int64) {
    change(number) { row in
      row.entries.removeAll { $0.feedID == feed }
      row.places[feed] = nil
      row.feeds.remove(feed)
    }
    changes.append(.leaveFeed(feed, post: number))
  }

  /// Gives an entry another rank from a ranking on. Its post need not be known.
  mutating func move(_ entry: StoredEntry, to rank: Int, since ranking: Int) {
    changes.append(.setEnd(ranking, of: entry.key))
    changes.append(
      .insertEntry(
        StoredEntry(
          feedID: entry.feedID, post: entry.key.post,
          position: Position(
            key: SortKey(rank: rank, publishedAt: nil), id: entry.position.id),
          rank: rank, publishedAt: entry.publishedAt, since: ranking)))
  }

  /// Returns the entry of the same post and place that this transaction has closed at the ranking.
  func closed(_ entry: StoredEntry, at ranking: Int) -> StoredEntry? {
    guard let id = ids[entry.key.post], let row = posts[id] ?? nil else { return nil }
    return row.entries.first {
      $0.feedID == entry.feedID && $0.until == ranking && $0.position == entry.position
        && $0.rank == entry.rank
    }
  }

  // MARK: Changes of a run's pending places

  mutating func keepPlace(ofPost number: Int64, inFeed feed: Int64, rank: Int?) {
    change(number) { $0.places[feed] = .some(rank) }
    changes.append(.keepPlace(ofPost: number, inFeed: feed, rank: rank))
  }

  mutating func forgetPlace(ofPost number: Int64, inFeed feed: Int64) {
    change(number) { $0.places[feed] = nil }
    changes.append(.forgetPlace(ofPost: number, inFeed: feed))
  }

  // MARK: Changes of keys

  mutating func keep(_ key: StoredKey) {
    let text = ByteText(key.key)
    if before != nil, before!.keys[text] == nil { before!.keys[text] = .some(keys[text]) }
    keys[text] = key
    changes.append(.keepKey(key))
  }

  mutating func forgetKeys(before time: Timestamp, beyond count: Int, atMost limit: Int) {
    changes.append(.forgetKeys(before: time, beyond: count, atMost: limit))
  }
}
