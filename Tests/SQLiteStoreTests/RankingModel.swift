import Feed

/// What every ranking of every feed must show, whoever writes.
struct RankingModel {
  /// Where an entry is in one ranking.
  struct Place: Equatable {
    let rank: Int?
    let key: SortKey
  }

  /// What a run keeps aside.
  struct Run {
    var places: [String: [String: Int?]] = [:]
    var feeds: Set<String> = []
    var hasBegun = false
  }

  /// The time of each post in seconds.
  private(set) var posts: [String: Int?] = [:]
  /// The rankings of each feed, from 1.
  private(set) var rankings: [String: [[String: Place]]] = [:]
  var runs: [Int: Run] = [:]
  /// Runs that were killed.
  var dead: Set<Int> = []

  func order(_ feed: String, _ ranking: Int) -> [String] {
    (rankings[feed]?[ranking - 1] ?? [:]).map { Position(key: $1.key, id: $0) }.sorted().map(\.id)
  }

  private func key(_ id: String, _ rank: Int?) -> SortKey {
    SortKey(
      rank: rank,
      publishedAt: posts[id]!.map { Timestamp(microseconds: Int64($0) * 1_000_000) })
  }

  private func shown(_ feed: String, _ id: String) -> Place? { rankings[feed]?.last?[id] }

  private mutating func enter(_ id: String, _ feed: String, _ rank: Int?) {
    rankings[feed, default: [[:]]][rankings[feed, default: [[:]]].count - 1][id] =
      Place(rank: rank, key: key(id, rank))
  }

  private mutating func publish(_ feed: String, _ moves: [String: Int?]) {
    let moves = moves.filter { id, rank in
      shown(feed, id) != Place(rank: rank, key: key(id, rank))
    }
    guard !moves.isEmpty else { return }
    var next = rankings[feed]!.last!
    for (id, rank) in moves { next[id] = Place(rank: rank, key: key(id, rank)) }
    rankings[feed]!.append(next)
  }

  private func feeds(of id: String) -> [String] {
    rankings.keys.filter { shown($0, id) != nil }
  }

  // MARK: Writes

  mutating func put(_ id: String, time: Int?, _ placements: [String: Int?]?) {
    if let placements {
      for feed in rankings.keys where placements[feed] == nil { leave(id, feed) }
      for feed in placements.keys where rankings[feed] == nil { rankings[feed] = [[:]] }
    }
    posts[id] = .some(time)
    var moves: [String: Int?] = [:]
    for feed in feeds(of: id) { moves[feed] = .some(shown(feed, id)!.rank) }
    for (feed, rank) in placements ?? [:] {
      if shown(feed, id) == nil { enter(id, feed, rank) } else { moves[feed] = .some(rank) }
    }
    for (feed, rank) in moves { publish(feed, [id: rank]) }
  }

  private mutating func leave(_ id: String, _ feed: String) {
    for ranking in rankings[feed]!.indices { rankings[feed]![ranking][id] = nil }
    for run in runs.keys { runs[run]!.places[feed]?[id] = nil }
  }

  mutating func delete(_ id: String) {
    for feed in rankings.keys { leave(id, feed) }
    posts[id] = nil
  }

  mutating func prune(before second: Int) {
    for (id, time) in posts where time.map({ $0 < second }) ?? false { delete(id) }
  }

  // MARK: Runs

  /// A batch in which no post comes twice.
  mutating func write(_ number: Int, _ batch: [(id: String, time: Int?, places: [String: Int?])]) {
    var run = runs[number]!
    var new: [(id: String, feed: String, rank: Int?)] = []
    for (id, time, places) in batch {
      let isNew = posts[id] == nil
      posts[id] = .some(time)
      var ranks: [String: Int?] = [:]
      if !isNew {
        for feed in feeds(of: id) { ranks[feed] = .some(shown(feed, id)!.rank) }
        for (feed, kept) in run.places { if let rank = kept[id] { ranks[feed] = .some(rank) } }
      }
      for feed in places.keys where rankings[feed] == nil { rankings[feed] = [[:]] }
      for (feed, rank) in places where ranks[feed] == nil { new.append((id, feed, rank)) }
      for (feed, old) in ranks {
        let rank = places[feed] ?? old
        if let shown = shown(feed, id), shown == Place(rank: rank, key: key(id, rank)) {
          run.places[feed]?[id] = nil
        } else {
          run.keep(id, feed, rank)
        }
      }
    }
    for (id, feed, rank) in new {
      if run.feeds.contains(feed) { run.keep(id, feed, rank) } else { enter(id, feed, rank) }
    }
    runs[number] = run
  }

  mutating func finish(_ number: Int) {
    var run = runs.removeValue(forKey: number)!
    guard run.hasBegun else { return }
    for other in dead {
      for (feed, kept) in runs.removeValue(forKey: other)!.places {
        // What goes by time is where the post's time says.
        for id in kept.keys {
          guard let shown = shown(feed, id), shown.rank == nil, shown.key != key(id, nil),
            run.places[feed]?[id] == nil
          else { continue }
          run.keep(id, feed, nil)
        }
      }
    }
    dead = []
    for (feed, kept) in run.places {
      let new = kept.filter { shown(feed, $0.key) == nil }
      publish(feed, kept.filter { shown(feed, $0.key) != nil })
      for (id, rank) in new { enter(id, feed, rank) }
    }
  }
}

extension RankingModel.Run {
  fileprivate mutating func keep(_ id: String, _ feed: String, _ rank: Int?) {
    hasBegun = true
    feeds.insert(feed)
    places[feed, default: [:]][id] = .some(rank)
  }
}
