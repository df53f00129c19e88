import Catalog
import Feed

// MARK: Posts and feeds

extension ModelState {
  /// Keeps the post under its number, or a new one.
  mutating func store(_ post: Post) {
    if let old = items[post.id] {
      if old.post != post { changed.posts.insert(old.number) }
      items[post.id]!.post = post
      return
    }
    lastNumber += 1
    items[post.id] = Item(number: lastNumber, post: post)
    ids[lastNumber] = ByteText(post.id)
  }

  /// Makes the feed where there is none.
  mutating func makeFeed(_ name: String) {
    guard feeds[name] == nil else { return }
    feeds[name] = ModelFeed(name: name, ranking: rankingFloor + 1)
    changed.feeds.insert(ByteText(name))
  }

  mutating func enter(_ id: String, _ feed: String, rank: Int?) {
    let place = ModelFeed.Place(rank: rank, publishedAt: items[id]!.post.publishedAt)
    feeds[feed]!.enter(ByteText(id), place)
    changed.feeds.insert(ByteText(feed))
  }

  /// The place that the post has with this rank, if it is another than it has; its time is told at once.
  mutating func move(_ id: String, _ feed: String, rank: Int?) -> ModelFeed.Place? {
    let time = items[id]!.post.publishedAt
    let shown = feeds[feed]!.latest[id]!
    if shown.publishedAt != time {
      feeds[feed]!.date(ByteText(id), time)
      changed.feeds.insert(ByteText(feed))
    }
    let place = ModelFeed.Place(rank: rank, publishedAt: time)
    return place.isSame(as: shown) ? nil : place
  }

  private mutating func leave(_ id: String, _ feed: String) {
    if feeds[feed]!.leave(ByteText(id)) { changed.feeds.insert(ByteText(feed)) }
    for number in runs.keys { runs[number]!.forget(id, feed) }
  }

  /// Makes the next rankings the current ones, where there are any.
  ///
  /// - Returns: the feeds that have a new one, in the order of their names.
  mutating func publishRankings() -> [String] {
    var names: [String] = []
    for name in feeds.keys.sorted() where feeds[name]!.publish(keeping: options.keptRankings) {
      changed.feeds.insert(name)
      names.append(name.text)
    }
    return names
  }
}

// MARK: Single writes

extension ModelState {
  mutating func run(_ write: ItemWrite) throws -> ItemOutcome {
    let stored = items[write.id]
    try write.authorization?(item(write.id))
    if case .increment(_, let key?) = write.change, let counters = try answer(to: key) {
      return .counted(counters, isReplay: true)
    }
    try write.condition?(item(write.id))
    switch write.change {
    case .put(var post, let placements, let keepsCounters):
      if keepsCounters, let stored { post.counters = stored.post.counters }
      put(post, try placements?.map { try ranked($0, write.id) })
      return stored == nil ? .created(post) : .replaced(post)
    case .delete:
      guard let stored else { throw FeedError.unknownItem(write.id) }
      for feed in feeds.keys { leave(write.id, feed.text) }
      items[write.id] = nil
      ids[stored.number] = nil
      changed.posts.insert(stored.number)
      return .deleted
    case .followSchedule:
      guard let stored else { throw FeedError.unknownItem(write.id) }
      put(stored.post, nil)
      return .replaced(stored.post)
    case .increment(let increments, let key):
      guard var post = stored?.post else { throw FeedError.unknownItem(write.id) }
      post.counters = try post.counters.adding(increments, ofItem: write.id)
      store(post)
      if let key { keep(key, post.counters) }
      return .counted(post.counters, isReplay: false)
    }
  }

  /// The placement with a rank: all others that have one get other ones, in their order.
  private mutating func ranked(_ placement: Placement, _ id: String) throws -> Placement {
    guard let relative = placement.relative else { return placement }
    let feed = placement.feed
    let latest = feeds[feed]?.latest ?? [:]
    var order = latest.filter { $0.value.rank != nil }
      .map { Position(key: $0.value.key, id: $0.key.text) }.sorted().map { ByteText($0.id) }
    let before = order
    order.removeAll { $0 == ByteText(id) }
    func place(_ neighbor: ByteText) throws -> Int {
      guard latest[neighbor] != nil, neighbor != ByteText(id) else {
        throw FeedError.noPlaceBeside(item: neighbor.text, feed: feed)
      }
      guard let place = order.firstIndex(of: neighbor) else {
        throw FeedError.neighborWithoutRank(item: neighbor.text, feed: feed)
      }
      return place
    }
    let place =
      switch relative {
      case .top: 0
      case .bottom: order.count
      case .after(let neighbor): try place(neighbor) + 1
      case .before(let neighbor): try place(neighbor)
      }
    order.insert(ByteText(id), at: place)
    if order == before { return Placement(feed: feed, rank: latest[id]!.rank) }
    for (offset, other) in order.enumerated() where offset != place {
      guard let place = move(other.text, feed, rank: RankRoom.spread(offset)) else { continue }
      feeds[feed]!.move(other, place)
    }
    return Placement(feed: feed, rank: RankRoom.spread(place))
  }

  private mutating func put(_ post: Post, _ placements: [Placement]?) {
    guard post.hasSchedule || items[post.id]?.post.hasSchedule == true else {
      return replace(post, placements)
    }
    scheduling(post, places(of: post.id), placements, areAll: placements != nil) {
      $0.replace(post, $1)
    }
  }

  /// Where the post is, or is to be.
  func places(of id: String) -> [ByteText: Int?] {
    var places = items[id]?.scheduled ?? [:]
    for (name, feed) in feeds {
      if let place = feed.latest[id] { places[name] = .some(place.rank) }
    }
    return places
  }

  /// Writes a post that has a schedule, or had one: while it is not visible, it is in no feed.
  mutating func scheduling(
    _ post: Post, _ before: [ByteText: Int?], _ placements: [Placement]?, areAll: Bool,
    _ write: (inout ModelState, [Placement]) -> Void
  ) {
    var ranks = areAll ? [:] : before
    for placement in placements ?? [] {
      makeFeed(placement.feed)
      ranks[placement.feed] = .some(placement.rank)
    }
    let isVisible = post.visibility(at: options.now()) == .visible
    if isVisible {
      write(&self, ranks.map { Placement(feed: $0.key.text, rank: $0.value) })
    } else {
      replace(post, [])
    }
    items[post.id]!.scheduled = isVisible ? [:] : ranks
    items[post.id]!.dueAt = post.nextMoment(after: options.now())
  }

  private mutating func replace(_ post: Post, _ placements: [Placement]?) {
    if let placements {
      let named = Set(placements.map { ByteText($0.feed) })
      for feed in feeds.keys where !named.contains(feed) { leave(post.id, feed.text) }
    }
    store(post)
    var ranks: [ByteText: Int?] = [:]
    for (name, feed) in feeds {
      if let place = feed.latest[post.id] { ranks[name] = .some(place.rank) }
    }
    for placement in placements ?? [] {
      makeFeed(placement.feed)
      if ranks[placement.feed] == nil { enter(post.id, placement.feed, rank: placement.rank) }
      ranks[placement.feed] = .some(placement.rank)
    }
    for (feed, rank) in ranks {
      guard let place = move(post.id, feed.text, rank: rank) else { continue }
      feeds[feed]!.move(ByteText(post.id), place)
    }
  }

  mutating func run(_ write: FeedWrite) throws -> FeedOutcome {
    let stored = feeds[write.name]
    try write.condition?(stored.map { StoredFeed(name: $0.name, title: $0.title) })
    switch write.change {
    case .put(let title):
      makeFeed(write.name)
      setTitle(title, ofFeed: write.name)
      return stored == nil ? .created : .replaced
    case .rename(let name, let title):
      guard let stored else { throw FeedError.unknownFeed(write.name) }
      guard feeds[name] == nil else { throw FeedError.feedExists(name) }
      remove(stored)
      for id in items.keys {
        if let rank = items[id]!.scheduled.removeValue(forKey: ByteText(write.name)) {
          items[id]!.scheduled[ByteText(name)] = .some(rank)
        }
      }
      feeds[name] = ModelFeed(
        name: name, title: title, ranking: rankingFloor + 1, entries: stored.latest)
      changed.feeds.insert(ByteText(name))
      policies.rename(write.name, to: name)
      for number in runs.keys { runs[number]!.rename(write.name, to: name) }
      return .renamed
    case .delete:
      guard let stored else { throw FeedError.unknownFeed(write.name) }
      remove(stored)
      for id in items.keys { items[id]!.scheduled[ByteText(write.name)] = nil }
      policies.remove(write.name)
      for number in runs.keys { runs[number]!.forget(feed: write.name) }
      return .deleted
    }
  }

  mutating func setTitle(_ title: String?, ofFeed name: String) {
    guard !feeds[name]!.title.isSame(as: title) else { return }
    feeds[name]!.title = title
    changed.feeds.insert(ByteText(name))
  }

  private mutating func remove(_ feed: ModelFeed) {
    rankingFloor = max(rankingFloor, feed.ranking)
    feeds[feed.name] = nil
    changed.feeds.insert(ByteText(feed.name))
  }
}

// MARK: Idempotency keys

extension ModelState {
  private func answer(to key: IdempotencyKey) throws -> [Counter]? {
    let expiry = options.now().microseconds - Int64(options.idempotencyKeepSeconds) * 1_000_000
    let known = keys.last {
      $0.key.storedText.isSame(as: key.storedText) && $0.createdAt.microseconds > expiry
    }
    guard let known else { return nil }
    guard known.key.fingerprint.isSame(as: key.fingerprint) else {
      throw FeedError.idempotencyKeyReused(key.text)
    }
    return known.counters
  }

  private mutating func keep(_ key: IdempotencyKey, _ counters: [Counter]) {
    keys.removeAll { $0.key.storedText.isSame(as: key.storedText) }
    keys.append(Key(key: key, counters: counters, createdAt: options.now()))
    keys.removeFirst(max(0, keys.count - options.maximumIdempotencyKeys))
  }
}
