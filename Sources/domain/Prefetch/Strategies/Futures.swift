import Feed

/// How the person goes through the feed, as far as that is known, and some dozens of ways in which they may go
/// on: drawn from how long they looked at items lately, or how long people watch an item where that is known,
/// and from how often they turned round. After each item they may leave for good.
struct Futures: Equatable, Codable {
  /// A moment at which an item's turn comes.
  struct Visit: Equatable, Codable {
    let position: Int
    /// When its turn comes.
    let at: Int
    /// For how long; of the first one, how much longer.
    let dwell: Int
  }

  /// They are to be drawn anew before they are asked.
  var areDue = true
  /// The visits of all futures, the first of each being that of the active item. Each item once.
  private(set) var visits: [Visit] = []
  /// Where in `visits` each future begins, and the last one's end.
  private(set) var starts: [Int] = []
  /// When the first visit of each ends, rising.
  private(set) var firstEnds: [Int] = []
  /// By then the active item's turn should have ended in some of them: they are no longer what may come.
  private(set) var goodUntil = 0

  /// The random numbers' state.
  private var state: UInt64 = 0
  /// How long pictures, and clips, were looked at lately.
  private var stillDwells: [Int] = []
  private var clipDwells: [Int] = []
  private var nextStill = 0
  private var nextClip = 0
  /// How long people waited lately for items that came.
  private var waits: [Int] = []
  private var nextWait = 0
  /// How long nine of ten clips were looked at lately, at the most.
  private(set) var usualClipMilliseconds = 0
  /// How often the person went on and turned lately, on their way down and up. Feeds are read downwards: who goes up
  /// soon comes back.
  private var downwards = Course(onward: 19, turns: 1)
  private var upwards = Course(onward: 2, turns: 1)

  private struct Course: Equatable, Codable {
    var onward: Int
    var turns: Int

    mutating func note(isTurn: Bool) {
      if isTurn { turns += 1 } else { onward += 1 }
      if turns + onward > 64 { (turns, onward) = (turns / 2, onward / 2) }
    }
  }

  /// The shares of the usual time that items are looked at before the person has shown theirs, in percent.
  private static let firstSpread = [30, 60, 90, 110, 140, 170]
  private static let dwellLimit = 12
  /// After one of so many items a person leaves.
  private static let itemsPerVisit = 50
  static let longestDwellMilliseconds = 600_000

  var count: Int { max(0, starts.count - 1) }

  mutating func begin(seed: Int, itemsPerMinute: Int) {
    state = UInt64(clamping: seed)
    stillDwells = Self.firstSpread.map { $0 * 600 / max(1, itemsPerMinute) }
    clipDwells = stillDwells
    usualClipMilliseconds = clipDwells[clipDwells.count * 9 / 10]
  }

  /// The person has looked at an item for so long, and gone on to another one.
  mutating func note(dwellMilliseconds: Int, ofClip: Bool) {
    let dwell = min(max(dwellMilliseconds, 0), Self.longestDwellMilliseconds)
    if ofClip {
      Self.add(dwell, to: &clipDwells, at: &nextClip)
      usualClipMilliseconds = clipDwells.sorted()[clipDwells.count * 9 / 10]
    } else {
      Self.add(dwell, to: &stillDwells, at: &nextStill)
    }
  }

  /// What the person waited for has come after so long.
  mutating func note(waitMilliseconds: Int) {
    Self.add(
      min(max(waitMilliseconds, 0), Self.longestDwellMilliseconds), to: &waits, at: &nextWait)
  }

  /// They have waited so long, and were still there.
  var longestWaitMilliseconds: Int { waits.max() ?? 0 }

  /// The person went on, or turned round, on their way in this direction.
  mutating func note(isTurn: Bool, from direction: Int) {
    if direction > 0 { downwards.note(isTurn: isTurn) } else { upwards.note(isTurn: isTurn) }
  }

  private static func add(_ dwell: Int, to dwells: inout [Int], at next: inout Int) {
    if dwells.count < dwellLimit {
      dwells.append(dwell)
    } else {
      dwells[next] = dwell
      next = (next + 1) % dwellLimit
    }
  }
  // MARK: Drawing

  /// The next of the random numbers (SplitMix64; Steele, Lea, Flood, "Fast Splittable Pseudorandom Number
  /// Generators", 2014), below a limit.
  private mutating func number(below limit: Int) -> Int {
    state &+= 0x9e37_79b9_7f4a_7c15
    var value = state
    value = (value ^ value >> 30) &* 0xbf58_476d_1ce4_e5b9
    value = (value ^ value >> 27) &* 0x94d0_49bb_1331_11eb
    value ^= value >> 31
    return Int(value.multipliedFullWidth(by: UInt64(limit)).high)
  }

  /// Draws them anew.
  ///
  /// - Parameters:
  ///   - start: where the person is, or where a fling will bring them, and when.
  ///   - elapsed: how long they have been there, no longer than `longestDwellMilliseconds`.
  ///   - steps: how many items further is looked.
  ///   - item: whether the item at a position moves, and how long people watch it.
  mutating func draw(
    _ count: Int, from start: (position: Int, at: Int, elapsed: Int), direction: Int, steps: Int,
    in positions: Range<Int>, item: (Int) -> (isClip: Bool, survival: [WatchPoint])
  ) {
    areDue = false
    visits.removeAll(keepingCapacity: true)
    starts.removeAll(keepingCapacity: true)
    firstEnds.removeAll(keepingCapacity: true)
    for _ in 0..<count {
      starts.append(visits.count)
      var (position, at, direction) = (start.position, start.at, direction)
      var (low, high) = (position, position)
      let first = dwell(item(position), after: start.elapsed)
      visits.append(Visit(position: position, at: at, dwell: first - start.elapsed))
      at += first - start.elapsed
      firstEnds.append(at)
      for _ in 0..<steps {
        if number(below: Self.itemsPerVisit) == 0 { break }
        let course = direction > 0 ? downwards : upwards
        if number(below: course.turns + course.onward) < course.turns { direction = -direction }
        if position + direction < positions.lowerBound { direction = 1 }
        position += direction
        // The end of the list: the next page's turn.
        if position >= positions.upperBound {
          visits.append(Visit(position: positions.upperBound, at: at, dwell: 0))
          break
        }
        let dwell = dwell(item(position), after: 0)
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

  /// How long an item is looked at, if it has been for so long already.
  private mutating func dwell(
    _ item: (isClip: Bool, survival: [WatchPoint]), after elapsed: Int
  ) -> Int {
    if !item.survival.isEmpty { return dwell(item.survival, after: elapsed) }
    let dwells = item.isClip ? clipDwells : stillDwells
    if elapsed == 0 { return dwells[number(below: dwells.count)] }
    let longer = dwells.reduce(0) { $0 + ($1 > elapsed ? 1 : 0) }
    // Longer than ever lately: beyond that by as much as the longest differ.
    guard longer > 0 else {
      let sorted = dwells.sorted()
      let spread = sorted[sorted.count - 1] - sorted[sorted.count / 2]
      return elapsed + 20 + number(below: max(1, spread))
    }
    var index = number(below: longer)
    for dwell in dwells where dwell > elapsed {
      if index == 0 { return dwell }
      index -= 1
    }
    return elapsed
  }

  /// The same by the survival curve: straight between its points, from all of a thousand at first.
  private mutating func dwell(_ survival: [WatchPoint], after elapsed: Int) -> Int {
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
        return min(max(time, elapsed), Self.longestDwellMilliseconds + elapsed)
      }
      before = (point.milliseconds, point.permille)
    }
    // They stay beyond its last point.
    return min(max(before.time, elapsed), Self.longestDwellMilliseconds + elapsed)
  }
}
