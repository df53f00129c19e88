import Feed

/// Random samples of how the person may go on through the feed: drawn from their recent dwell times, or from
/// how long people watch an item if that is known, and from how often they turned round and jumped. After
/// each item the person may leave for good.
struct Futures: Equatable, Codable {
  /// A visit to an item.
  struct Visit: Equatable, Codable {
    let position: Int
    /// The time at which the item's turn comes.
    let at: Int
    /// The duration of the visit; for the first one, the rest of it.
    let dwell: Int
  }

  /// The person's `moves` at the time of the draw.
  private var drawnMoves = -1
  /// The visits of all futures. Each future begins with the active item, or where a fling stops, and has each
  /// item once.
  private(set) var visits: [Visit] = []
  /// The index in `visits` at which each future begins, and the end of the last.
  private(set) var starts: [Int] = []
  /// The times at which the first visits end, rising.
  private(set) var firstEnds: [Int] = []
  /// The time until which the futures are valid: by then, the first visit should have ended in some of them.
  private(set) var goodUntil = 0

  /// The state of the random number generator.
  private var state: UInt64 = 0
  /// The mean number of items after which a person leaves.
  private static let itemsPerVisit = 50

  var count: Int { max(0, starts.count - 1) }

  mutating func begin(seed: Int) { state = UInt64(clamping: seed) }

  /// Whether the futures are valid, and begin where the person is.
  func areDrawn(of viewer: ViewerState, at now: Int) -> Bool {
    drawnMoves == viewer.moves && goodUntil > now
  }

  // MARK: Drawing

  /// The next random number below a limit (SplitMix64; Steele, Lea, Flood, "Fast Splittable Pseudorandom
  /// Number Generators", 2014).
  private mutating func number(below limit: Int) -> Int {
    state &+= 0x9e37_79b9_7f4a_7c15
    var value = state
    value = (value ^ value >> 30) &* 0xbf58_476d_1ce4_e5b9
    value = (value ^ value >> 27) &* 0x94d0_49bb_1331_11eb
    value ^= value >> 31
    return Int(value.multipliedFullWidth(by: UInt64(limit)).high)
  }

  /// Draws the futures.
  ///
  /// - Parameters:
  ///   - start: where the person is, or where a fling will bring them, and when; `elapsed` is how long they
  ///     have been there, at most `longestDwellMilliseconds`.
  ///   - steps: the number of items to look ahead.
  ///   - isClip: whether the item at a position is a clip.
  ///   - survival: how long people watch it; empty if that is unknown.
  mutating func draw(
    _ count: Int, of viewer: ViewerState,
    from start: (position: Int, at: Int, elapsed: Int), steps: Int, in positions: Range<Int>,
    isClip: (Int) -> Bool, survival: (Int) -> [WatchPoint]
  ) {
    drawnMoves = viewer.moves
    let history = viewer.history
    let (stillDwells, clipDwells) = (history.stillDwells, history.clipDwells)
    visits.removeAll(keepingCapacity: true)
    starts.removeAll(keepingCapacity: true)
    firstEnds.removeAll(keepingCapacity: true)
    // Most steps lead to few items, many times each.
    let near =
      max(
        positions.lowerBound, start.position - steps)..<max(
        start.position + 1, min(positions.upperBound, start.position + 2 * steps))
    let kinds = near.map { (isClip: isClip($0), hasCurve: !survival($0).isEmpty) }
    let firstItem = (isClip: isClip(start.position), survival: survival(start.position))
    let spread = Self.spread(of: firstItem.isClip ? clipDwells : stillDwells)
    for _ in 0..<count {
      starts.append(visits.count)
      var (position, at, direction) = (start.position, start.at, viewer.direction)
      var (low, high) = (position, position)
      let first = dwell(firstItem, history, after: start.elapsed, spread: spread)
      visits.append(Visit(position: position, at: at, dwell: first - start.elapsed))
      at += first - start.elapsed
      firstEnds.append(at)
      for _ in 0..<steps {
        if number(below: Self.itemsPerVisit) == 0 { break }
        let course = direction > 0 ? history.downwards : history.upwards
        if number(below: course.turns + course.onward) < course.turns { direction = -direction }
        if position + direction < positions.lowerBound { direction = 1 }
        position += direction
        if number(below: history.jumps.turns + history.jumps.onward) < history.jumps.turns {
          position += direction * (history.jumpItems[number(below: history.jumpItems.count)] - 1)
          position = max(position, positions.lowerBound)
        }
        // The end of the list: the next page's turn.
        if position >= positions.upperBound {
          visits.append(Visit(position: positions.upperBound, at: at, dwell: 0))
          break
        }
        let dwell: Int
        if near.contains(position), !kinds[position - near.lowerBound].hasCurve {
          let dwells = kinds[position - near.lowerBound].isClip ? clipDwells : stillDwells
          dwell = dwells[number(below: dwells.count)]
        } else {
          dwell = self.dwell(
            (isClip(position), survival(position)), history, after: 0, spread: 0)
        }
        if position < low || position > high {
          visits.append(Visit(position: position, at: at, dwell: dwell))
          (low, high) = (min(low, position), max(high, position))
        }
        at += dwell
      }
    }
    starts.append(visits.count)
    firstEnds.sort()
    goodUntil = max(firstEnds[firstEnds.count / 4], start.at + 100)
  }

  /// By how much the longest of some times differs from their median.
  private static func spread(of dwells: [Int]) -> Int {
    let sorted = dwells.sorted()
    return sorted[sorted.count - 1] - sorted[sorted.count / 2]
  }

  /// A random dwell time of an item that has been looked at for `elapsed` already.
  ///
  /// - Parameter spread: that of the recent dwell times of its kind, for an `elapsed` other than 0.
  private mutating func dwell(
    _ item: (isClip: Bool, survival: [WatchPoint]), _ history: ViewingHistory, after elapsed: Int,
    spread: Int
  ) -> Int {
    if !item.survival.isEmpty { return dwell(item.survival, after: elapsed) }
    let dwells = item.isClip ? history.clipDwells : history.stillDwells
    if elapsed == 0 { return dwells[number(below: dwells.count)] }
    let longer = dwells.reduce(0) { $0 + ($1 > elapsed ? 1 : 0) }
    // Longer than any recent one: beyond that by as much as the longest differ, and for a clip by up to half
    // of that, as with a curve.
    guard longer > 0 else {
      return elapsed + 20 + number(below: max(1, spread, item.isClip ? elapsed / 2 : 0))
    }
    var index = number(below: longer)
    for dwell in dwells where dwell > elapsed {
      if index == 0 { return dwell }
      index -= 1
    }
    return elapsed
  }

  /// The same by the survival curve: linear between its points, from 1000 at first.
  private mutating func dwell(_ survival: [WatchPoint], after elapsed: Int) -> Int {
    // Longer than the curve covers: the longer they have stayed, the longer they will. It may be another
    // clip's curve.
    if let last = survival.last, elapsed >= last.milliseconds {
      return elapsed + 20 + number(below: max(1, elapsed / 2))
    }
    var (before, share) = ((time: 0, permille: 1_000), 1_000)
    for point in survival {
      if point.milliseconds > elapsed {
        let span = max(1, point.milliseconds - before.time)
        share =
          before.permille
          - max(0, before.permille - point.permille) * max(0, elapsed - before.time) / span
        break
      }
      before = (point.milliseconds, point.permille)
      share = point.permille
    }
    let drawn = number(below: max(1, share))
    before = (0, 1_000)
    for point in survival {
      if point.permille <= drawn {
        let fall = max(1, before.permille - point.permille)
        let time =
          before.time
          + max(0, point.milliseconds - before.time) * max(0, before.permille - drawn) / fall
        return min(max(time, elapsed), ViewingHistory.longestDwellMilliseconds + elapsed)
      }
      before = (point.milliseconds, point.permille)
    }
    // They stay beyond the curve's last point.
    return min(max(before.time, elapsed), ViewingHistory.longestDwellMilliseconds + elapsed)
  }
}
