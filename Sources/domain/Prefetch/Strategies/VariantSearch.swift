/// Which of a media's files is loaded: chosen for the next items together, since item by item a step up never
/// pays for itself.
extension ExpectedWaitStrategy {
  /// How many items are looked at, and in how many futures.
  private static let itemCount = 10
  private static let futureCount = 8

  /// Runs the futures forward over the next items, once with each quality, and takes the one with the most
  /// left of what it is worth once the waiting that it costs is paid.
  func bestVariants(_ facts: EngineFacts, _ active: Int) -> VariantLevel? {
    let direction = facts.viewer.direction
    var positions: [Int] = []
    var levels = 1
    for step in 0..<Self.itemCount {
      let position = active + step * direction
      guard facts.list.positions.contains(position) else { break }
      positions.append(position)
      for media in facts.list[position].media where !media.isSettled {
        levels = max(levels, min(media.slots.count, 4))
      }
    }
    guard levels > 1 else { return nil }
    let costs = facts.costs
    var best = (level: levels - 1, worth: worth(of: levels - 1, positions, facts, costs))
    for level in (0..<levels - 1).reversed() {
      let worth = worth(of: level, positions, facts, costs)
      // From the smallest to the best: of equals the better one.
      if worth >= best.worth { best = (level, worth) }
    }
    let level = facts.network.savesData ? levels - 1 : best.level
    return VariantLevel(level: level, positions: positions)
  }

  /// What a quality comes to: of two that are as good, the one whose files are there sooner.
  private struct Worth: Comparable {
    /// What is shown is worth, less the waiting for it, in milliseconds.
    let milliseconds: Int
    /// By how much its files are late, whether or not the person is still there.
    let lateness: Int

    static func < (left: Worth, right: Worth) -> Bool {
      (left.milliseconds, right.lateness) < (right.milliseconds, left.lateness)
    }
  }

  /// What the quality is worth where it is seen before the person goes on, less the waiting that it costs.
  private func worth(
    of level: Int, _ positions: [Int], _ facts: EngineFacts, _ costs: HintCosts
  ) -> Worth {
    let jobs = positions.map { job(of: $0, level, facts, costs) }
    let drawn = min(Self.futureCount, futures.count)
    var (quality, seen, wait, lateness) = (0, 0, 0, 0)
    for future in 0..<drawn {
      let visits = futures.visits[futures.starts[future]..<futures.starts[future + 1]]
      var done = facts.now
      for visit in visits {
        guard let index = positions.firstIndex(of: visit.position) else { continue }
        done += jobs[index].milliseconds
        let late = jobs[index].milliseconds == 0 ? 0 : max(0, done - max(visit.at, facts.now))
        let dwell = max(visit.dwell, 1)
        lateness += late
        wait += min(late, dwell)
        quality += late < dwell ? jobs[index].quality : 0
        seen += 1
      }
    }
    // Of all of them together, as the waiting is.
    return Worth(
      milliseconds: quality * tuning.qualityMilliseconds / 8 / max(1, seen) - wait / max(1, drawn),
      lateness: lateness / max(1, drawn))
  }

  /// How good an item's files are, in eighths of doublings from the smallest, and how long it takes to load what
  /// starts them.
  private func job(
    of position: Int, _ level: Int, _ facts: EngineFacts, _ costs: HintCosts
  ) -> (quality: Int, milliseconds: Int) {
    var (quality, bytes) = (0, 0)
    let seen = facts.list[position].media.prefix(facts.visibleMedia(position))
    for media in seen {
      let variant = media.isSettled ? media.variant : min(level, media.slots.count - 1)
      let file = facts.files[media.slots[variant]]
      let cost = costs.cost(of: file.file.load)
      let smallest = costs.cost(of: facts.files[media.slots[media.slots.count - 1]].file.load)
      quality += Self.doublings(from: smallest.entireBytes, to: cost.entireBytes)
      let start = facts.startCost(of: file.file.load, at: position, costs).minimumBytes
      bytes += max(0, start - file.held.count(in: 0..<start))
    }
    return (quality / max(1, seen.count), bytes == 0 ? 0 : facts.network.milliseconds(bytes))
  }

  /// How often the one doubled makes the other, in eighths: straight between powers of two.
  private static func doublings(from small: Int, to large: Int) -> Int {
    max(0, eighths(large) - eighths(small))
  }

  private static func eighths(_ number: Int) -> Int {
    let number = max(number, 8)
    let power = Int.bitWidth - 1 - number.leadingZeroBitCount
    return power * 8 + (number >> (power - 3)) - 8
  }
}
