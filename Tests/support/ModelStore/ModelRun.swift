import Catalog
import Feed

/// What a run of records keeps aside until it ends: the places of posts that move, and of those that come
/// into a feed in which it has moved any.
struct ModelRun {
  /// The ranks by feed and id.
  private(set) var places: [ByteText: [ByteText: Int?]] = [:]
  /// The feeds that it ranks anew.
  private(set) var feeds: Set<ByteText> = []

  mutating func keep(_ id: String, _ feed: String, rank: Int?) {
    feeds.insert(ByteText(feed))
    places[ByteText(feed), default: [:]][id] = .some(rank)
  }

  mutating func forget(_ id: String, _ feed: String) { places[feed]?[id] = nil }

  mutating func forget(feed: String) {
    places[feed] = nil
    feeds.remove(ByteText(feed))
  }

  mutating func rename(_ feed: String, to name: String) {
    if let kept = places.removeValue(forKey: ByteText(feed)) { places[name] = kept }
    if feeds.remove(ByteText(feed)) != nil { feeds.insert(ByteText(name)) }
  }
}

extension ModelState {
  /// An entry that comes with a batch: written at its end, when it is known whether the run moves any.
  private struct NewEntry {
    let id: String
    let feed: String
    let rank: Int?
  }

  /// Writes a batch of the run.
  ///
  /// - Returns: what happened to each record.
  mutating func write(
    _ records: [SeedRecord], run number: Int
  ) -> [(id: String, change: NetChanges.Change)] {
    var new: [NewEntry] = []
    let changes = records.map { record -> (id: String, change: NetChanges.Change) in
      switch record {
      case .feed(let name, let title): ("feed\u{0}" + name, write(name, title))
      case .post(let post, let placements): (post.id, write(post, placements, number, &new))
      }
    }
    insert(&new, number)
    return changes
  }

  private mutating func write(_ name: String, _ title: String?) -> NetChanges.Change {
    let before = feeds[name].map { digest($0.title.map(ByteText.init)) }
    makeFeed(name)
    setTitle(title, ofFeed: name)
    return NetChanges.Change(before: before, after: digest(title.map(ByteText.init)))
  }

  private mutating func write(
    _ post: Post, _ placements: [Placement], _ number: Int, _ new: inout [NewEntry]
  ) -> NetChanges.Change {
    if new.contains(where: { $0.id.isSame(as: post.id) }) { insert(&new, number) }
    let old = items[post.id]?.post
    // The run's last word on each entry, or else what everybody sees.
    var ranks: [ByteText: Int?] = [:]
    for (name, feed) in feeds {
      if let place = feed.latest[post.id] { ranks[name] = .some(place.rank) }
    }
    for (name, kept) in runs[number]?.places ?? [:] {
      if let rank = kept[post.id] { ranks[name] = .some(rank) }
    }
    if post.hasSchedule || old?.hasSchedule == true {
      ranks.merge(items[post.id]?.scheduled ?? [:]) { $1 }
      var all = ranks
      for placement in placements { all[placement.feed] = .some(placement.rank) }
      if post.visibility(at: options.now()) != .visible {
        scheduling(post, ranks, placements, areAll: false) { _, _ in }
        return NetChanges.Change(
          before: old.map { digest($0, ranks) }, after: digest(post, all))
      }
      let shown = all.map { Placement(feed: $0.key.text, rank: $0.value) }
      items[post.id]?.scheduled = [:]
      let change = write(visible: post, shown, number, &new)
      items[post.id]!.dueAt = post.nextMoment(after: options.now())
      return NetChanges.Change(before: old.map { digest($0, ranks) }, after: change.after)
    }
    return write(visible: post, placements, number, &new)
  }

  private mutating func write(
    visible post: Post, _ placements: [Placement], _ number: Int, _ new: inout [NewEntry]
  ) -> NetChanges.Change {
    let old = items[post.id]?.post
    var ranks: [ByteText: Int?] = [:]
    for (name, feed) in feeds {
      if let place = feed.latest[post.id] { ranks[name] = .some(place.rank) }
    }
    for (name, kept) in runs[number]?.places ?? [:] {
      if let rank = kept[post.id] { ranks[name] = .some(rank) }
    }
    store(post)
    var after = ranks
    for placement in placements {
      makeFeed(placement.feed)
      if ranks[placement.feed] == nil {
        new.append(NewEntry(id: post.id, feed: placement.feed, rank: placement.rank))
      }
      after[placement.feed] = .some(placement.rank)
    }
    for feed in ranks.keys { place(post.id, feed.text, rank: after[feed]!, number) }
    return NetChanges.Change(
      before: old.map { digest($0, ranks) }, after: digest(post, after))
  }

  /// Gives the entry its place at the end of the run.
  private mutating func place(_ id: String, _ feed: String, rank: Int?, _ number: Int) {
    if feeds[feed]!.latest[id] == nil || move(id, feed, rank: rank) != nil {
      runs[number, default: ModelRun()].keep(id, feed, rank: rank)
    } else {
      runs[number]?.forget(id, feed)
    }
  }

  private mutating func insert(_ new: inout [NewEntry], _ number: Int) {
    for entry in new {
      if runs[number]?.feeds.contains(ByteText(entry.feed)) ?? false {
        runs[number]!.keep(entry.id, entry.feed, rank: entry.rank)
      } else {
        enter(entry.id, entry.feed, rank: entry.rank)
      }
    }
    new = []
  }

  private func digest(_ value: some Hashable) -> Int { value.hashValue }

  private func digest(_ post: Post, _ ranks: [ByteText: Int?]) -> Int {
    var hasher = Hasher()
    hasher.combine(post)
    hasher.combine(ranks)
    return hasher.finalize()
  }

  /// Gives all posts of the run their places, on top of what others wrote, and ends it.
  ///
  /// - Parameter alive: the runs that are at work. What the others kept goes, but for entries that go by
  ///   time and are not where their posts' times say.
  /// - Returns: the feeds that have a new ranking, in the order of their names.
  mutating func finish(run number: Int, alive: Set<Int>) -> [String] {
    guard var run = runs.removeValue(forKey: number) else { return [] }
    for (other, dead) in runs where !alive.contains(other) {
      runs[other] = nil
      for (feed, kept) in dead.places {
        for id in kept.keys where run.places[feed]?[id] == nil {
          guard let shown = feeds[feed]?.latest[id], shown.rank == nil,
            shown.key != SortKey(rank: nil, publishedAt: items[id]!.post.publishedAt)
          else { continue }
          run.keep(id.text, feed.text, rank: nil)
        }
      }
    }
    var new: [(id: ByteText, feed: ByteText, rank: Int?)] = []
    for (feed, kept) in run.places {
      for (id, rank) in kept {
        if feeds[feed]!.latest[id] == nil {
          new.append((id, feed, rank))
        } else if let place = move(id.text, feed.text, rank: rank) {
          feeds[feed]!.move(id, place)
        }
      }
    }
    let names = publishRankings()
    for entry in new { enter(entry.id.text, entry.feed.text, rank: entry.rank) }
    return names
  }
}
