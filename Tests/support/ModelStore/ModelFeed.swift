import Catalog
import Feed
import Synchronization

/// A feed of the model: every ranking that is kept, written out.
struct ModelFeed {
  /// Where an entry is in one ranking.
  struct Place: Equatable {
    let rank: Int?
    let key: SortKey
    var publishedAt: Timestamp?

    init(rank: Int?, publishedAt: Timestamp?) {
      self.rank = rank
      self.publishedAt = publishedAt
      key = SortKey(rank: rank, publishedAt: publishedAt)
    }

    /// The same place; the time alone may be another.
    func isSame(as other: Place) -> Bool { key == other.key && rank == other.rank }
  }

  /// The places of posts by their ids.
  typealias Ranking = [ByteText: Place]

  let name: String
  var title: String?
  /// The first ranking that is kept.
  private(set) var oldestRanking: Int
  /// From the oldest one on; the last is the current one.
  private var rankings: [Ranking]
  /// What the writes of a group that move make of the current one, until that ends.
  private var next: Ranking?
  /// Made of the rankings when it is first needed.
  private var order = LazyOrder()

  init(name: String, title: String? = nil, ranking: Int, entries: Ranking = [:]) {
    self.name = name
    self.title = title
    oldestRanking = ranking
    rankings = [entries]
  }

  /// The current one.
  var ranking: Int { oldestRanking + rankings.count - 1 }

  var entries: Ranking { rankings[rankings.count - 1] }

  /// The entries as the next write finds them.
  var latest: Ranking { next ?? entries }

  /// The entry comes into the current ranking, and so into the next.
  mutating func enter(_ id: ByteText, _ place: Place) {
    order = LazyOrder()
    rankings[rankings.count - 1][id] = place
    next?[id] = place
  }

  /// Moves the entry in the next ranking.
  mutating func move(_ id: ByteText, _ place: Place) {
    var entries = latest
    entries[id] = place
    next = entries
  }

  /// The post has another time, which every ranking tells.
  mutating func date(_ id: ByteText, _ time: Timestamp?) {
    order = LazyOrder()
    for index in rankings.indices { rankings[index][id]?.publishedAt = time }
    next?[id]?.publishedAt = time
  }

  /// The entry goes, out of every ranking.
  mutating func leave(_ id: ByteText) -> Bool {
    guard latest[id] != nil || rankings.contains(where: { $0[id] != nil }) else { return false }
    order = LazyOrder()
    for index in rankings.indices { rankings[index][id] = nil }
    next?[id] = nil
    return true
  }

  /// Makes the next ranking the current one, where it is another.
  ///
  /// - Returns: whether it is.
  mutating func publish(keeping count: Int) -> Bool {
    defer { next = nil }
    guard let next, next.contains(where: { entries[$0]?.isSame(as: $1) != true }) else {
      return false
    }
    order = LazyOrder()
    rankings.append(next)
    let gone = max(0, rankings.count - count)
    rankings.removeFirst(gone)
    oldestRanking += gone
    return true
  }
}

/// A feed's order, made once.
private final class LazyOrder: Sendable {
  private let made = Mutex<FeedOrder?>(nil)

  func order(_ make: () -> FeedOrder) -> FeedOrder {
    made.withLock { made in
      let order = made ?? make()
      made = order
      return order
    }
  }
}

extension ModelFeed {
  /// The feed as pages are cut out of it.
  func order(_ number: (ByteText) -> Int64) -> FeedOrder {
    order.order {
      let indexes = rankings.map { ranking in
        OrderIndex(
          ranking.map { id, place in
            OrderEntry(
              position: Position(key: place.key, id: id.text), post: number(id),
              publishedAt: place.publishedAt)
          })
      }
      return FeedOrder(
        name: name, title: nil, ranking: ranking, oldestRanking: oldestRanking,
        orders: Dictionary(uniqueKeysWithValues: zip(oldestRanking..., indexes)))
    }
  }

  var summary: FeedSummary {
    FeedSummary(
      name: name, title: title, total: entries.count, ranking: ranking,
      newestPublishedAt: entries.values.compactMap(\.publishedAt).max())
  }
}
