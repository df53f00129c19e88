import Feed

extension FeedOrder {
  /// Goes on to what the store has: the feed's rankings, and changes in the order in which they happened.
  ///
  /// Each position's last change decides, so that an entry which came and went leaves no trace.
  mutating func apply(_ changes: [EntryChange], ranking: Int, oldestRanking: Int) {
    // A ranking starts as a copy of the one before it, from which it differs only by changes that
    // touch it: those are among `changes`, or were when the copy was made.
    if orders[ranking] == nil {
      let latest = orders.keys.filter { $0 < ranking }.max()
      orders[ranking] = latest.flatMap { orders[$0] } ?? OrderIndex()
    }
    for shown in Array(orders.keys) {
      if shown < oldestRanking || shown > ranking {
        orders[shown] = nil
      } else {
        orders[shown]?.apply(changes, ranking: shown)
      }
    }
    self.ranking = ranking
    self.oldestRanking = oldestRanking
    letGo()
  }
}

extension OrderIndex {
  fileprivate mutating func apply(_ changes: [EntryChange], ranking: Int) {
    // New entries alone, which is what a seed brings, take the place of nothing.
    guard changes.contains(where: { $0.old != nil }) else {
      let added = changes.filter { $0.new?.contains(ranking) ?? false }.map(\.entry)
      if !added.isEmpty { apply(removals: [], insertions: added) }
      return
    }
    var last: [Position: OrderEntry?] = [:]
    last.reserveCapacity(changes.count)
    for change in changes {
      if change.new?.contains(ranking) ?? false {
        last[change.entry.position] = .some(change.entry)
      } else if change.old?.contains(ranking) ?? false {
        last[change.entry.position] = .some(nil)
      }
    }
    guard !last.isEmpty else { return }
    apply(removals: Array(last.keys), insertions: last.values.compactMap { $0 })
  }
}
