/// The course of one run, for a chart: the looks of the viewer, and the transfers.
struct RunTimeline: Hashable, Sendable {
  /// The arrival of the viewer at an item.
  struct Look: Hashable, Sendable {
    let item: Int
    let atMilliseconds: Int
    /// Whether the item was not loaded.
    let hasLoader: Bool
    /// The time for which the viewer waited.
    var waitMilliseconds = 0
  }

  /// A request for bytes of an item.
  struct Fetch: Hashable, Sendable {
    let id: Int
    let item: Int
    let fromMilliseconds: Int
    /// The time at which it ended, or at which the run ended before it.
    var untilMilliseconds = Int.max
    /// Whether all requested bytes arrived.
    var isWhole = false
  }

  private(set) var looks: [Look] = []
  private(set) var fetches: [Fetch] = []

  mutating func look(_ item: Int, at milliseconds: Int, hasLoader: Bool) {
    looks.append(Look(item: item, atMilliseconds: milliseconds, hasLoader: hasLoader))
  }

  mutating func waited(_ milliseconds: Int) {
    if let last = looks.indices.last { looks[last].waitMilliseconds = milliseconds }
  }

  mutating func begin(_ id: Int, of item: Int, at milliseconds: Int) {
    fetches.append(Fetch(id: id, item: item, fromMilliseconds: milliseconds))
  }

  mutating func finish(_ id: Int, at milliseconds: Int, isWhole: Bool) {
    guard let place = fetches.lastIndex(where: { $0.id == id && $0.untilMilliseconds == .max })
    else { return }
    fetches[place].untilMilliseconds = milliseconds
    fetches[place].isWhole = isWhole
  }

  mutating func end(atMilliseconds time: Int) {
    for place in fetches.indices where fetches[place].untilMilliseconds == .max {
      fetches[place].untilMilliseconds = time
    }
  }
}
