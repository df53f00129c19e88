import Feed

/// Which of a media's files is loaded: chosen for the next items together, since item by item a step up never
/// pays for itself.
extension PrefetchEngine {
  /// How many items are looked at, and in how many futures.
  private static let itemCount = 10
  private static let futureCount = 8

  /// Runs the futures forward over the next items, once with each quality, and takes the one with the most
  /// left of what it is worth once the waiting that it costs is paid.
  mutating func chooseVariants(_ tuning: WaitTuning, _ active: Int) {
    let direction = viewer.direction
    var positions: [Int] = []
    var levels = 1
    for step in 0..<Self.itemCount {
      let position = active + step * direction
      guard list.positions.contains(position) else { break }
      positions.append(position)
      for media in list[position].media where !media.isSettled {
        levels = max(levels, min(media.slots.count, 4))
      }
    }
    guard levels > 1 else { return }
    let costs = costs
    var best = (level: levels - 1, worth: Int.min)
    for level in 0..<levels {
      let worth = worth(of: level, positions, tuning, costs)
      // From the best to the smallest: of equals the better one.
      if worth > best.worth { best = (level, worth) }
    }
    let level = network.savesData ? levels - 1 : best.level
    for position in positions {
      for index in list[position].media.indices where !list[position].media[index].isSettled {
        list[position].media[index].variant = min(
          level, list[position].media[index].slots.count - 1)
      }
    }
  }

  /// What the quality is worth, less the waiting that it costs, in milliseconds.
  private func worth(
    of level: Int, _ positions: [Int], _ tuning: WaitTuning, _ costs: HintCosts
  ) -> Int {
    var (quality, count) = (0, 0)
    var work: [Int] = []
    work.reserveCapacity(positions.count)
    for position in positions {
      var bytes = 0
      for media in list[position].media.prefix(visibleMedia(position)) {
        let variant = media.isSettled ? media.variant : min(level, media.slots.count - 1)
        let file = files[media.slots[variant]]
        let cost = costs.cost(of: file.file.load)
        let smallest = costs.cost(of: files[media.slots[media.slots.count - 1]].file.load)
        quality += Self.doublings(from: smallest.entireBytes, to: cost.entireBytes)
        count += 1
        bytes += max(0, cost.minimumBytes - file.held.count(in: 0..<cost.minimumBytes))
      }
      work.append(bytes == 0 ? 0 : network.milliseconds(bytes))
    }
    // Of all of them together, as the waiting is.
    let worth = quality * tuning.qualityMilliseconds / 8 / max(1, count)
    let drawn = min(Self.futureCount, futures.count)
    guard drawn > 0 else { return worth }
    var wait = 0
    for future in 0..<drawn {
      let visits = futures.visits[futures.starts[future]..<futures.starts[future + 1]]
      var done = now
      for visit in visits {
        guard let index = positions.firstIndex(of: visit.position), work[index] > 0 else {
          continue
        }
        done += work[index]
        wait += min(max(0, done - max(visit.at, now)), max(visit.dwell, 1))
      }
    }
    return worth - wait / drawn
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
