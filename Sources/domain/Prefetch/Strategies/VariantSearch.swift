/// The choice of each media's file: made for the next items together, since item by item a step up never pays
/// for itself.
extension ExpectedWaitStrategy {
  /// The number of items, and of futures, over which waiting is weighed against quality.
  private static let itemCount = 10
  private static let futureCount = 8
  /// The share of the bandwidth for the playing clip, in percent: the rest is for round trips, and for what
  /// comes next.
  private static let playingPercent = 70
  /// The same share if the clip can continue in a smaller variant.
  private static let switchingPercent = 75

  /// Simulates the futures over the next items, once with each quality, and chooses the one whose worth
  /// exceeds the cost of its waiting by the most.
  func bestVariants(_ facts: EngineFacts, _ active: Int) -> VariantLevel? {
    // Looks as far ahead as a slow link may, since in most feeds no item has another file.
    let isOneTransfer = facts.settings.parallelTransfers == 1
    let switches =
      loadsPieces(facts, active)
      && (isOneTransfer || facts.isSwitchable(facts.list[active].media[0]))
    var levels = 1
    for position in positionsAhead(facts, active, Self.farthestItems + 1) {
      for media in facts.list[position].media
      where !media.isSettled || switches && facts.isSwitchable(media) {
        levels = max(levels, min(media.slots.count, 4))
      }
    }
    guard levels > 1 else { return nil }
    let positions = positionsAhead(
      facts, active,
      max(Self.itemCount, switches && isOneTransfer ? 0 : leadingItems(facts, active) + 1))
    let costs = facts.costs
    var best = (level: levels - 1, worth: worth(of: levels - 1, positions, facts, costs, switches))
    for level in (0..<levels - 1).reversed() {
      let worth = worth(of: level, positions, facts, costs, switches)
      // From the smallest to the best; of equals, the better one.
      if worth >= best.worth { best = (level, worth) }
    }
    // A device that is hot or low on power does not take the best variant, since larger frames cost a decoder
    // more.
    let level =
      facts.network.savesData ? levels - 1 : max(best.level, facts.network.isStressed ? 1 : 0)
    return VariantLevel(
      level: level, positions: Array(positions),
      activeLevel: switches ? activeLevel(level, facts, active) : nil, switches: switches)
  }

  /// The level in which the active clip continues: a better one if the held bytes outlast `piecesToRise` of
  /// its pieces, a smaller one if they do not outlast another piece of this one. Each switch is visible, and
  /// the measured bandwidth fluctuates.
  private func activeLevel(_ level: Int, _ facts: EngineFacts, _ active: Int) -> Int? {
    guard let media = facts.list[active].media.first, media.isSettled, level != media.variant,
      let piece = nextPiece(of: active, facts)
    else { return nil }
    func milliseconds(_ variant: Int) -> Int {
      let chunk = facts.files[media.slots[variant]].bytes(ofPiece: piece.index)
      return facts.network.milliseconds(chunk) + facts.network.roundTripMilliseconds
    }
    let left = piece.start - facts.playedMilliseconds
    return level < media.variant
      ? left >= Self.piecesToRise * milliseconds(level) ? level : media.variant
      : left >= milliseconds(media.variant) ? media.variant : level
  }

  private static let piecesToRise = 3

  /// The next items from where the person is or a fling stops, and those on the way there. A variant is
  /// chosen for each item that may be loaded ahead, as otherwise its original would be loaded.
  private func positionsAhead(_ facts: EngineFacts, _ active: Int, _ count: Int) -> Range<Int> {
    let origin = futures.visits.first?.position ?? active
    let (near, far) = (min(active, origin), max(active, origin))
    let ahead = facts.viewer.direction < 0 ? near - count + 1..<far + 1 : near..<far + count
    // The list may have become shorter since the futures were drawn.
    return ahead.clamped(to: facts.list.positions)
  }

  /// The value of a quality; of two that are equal, the one whose files arrive sooner is better.
  private struct Worth: Comparable {
    /// The worth of what is shown, less the waiting for it, in milliseconds.
    let milliseconds: Int
    /// The time by which its files are late, whether or not the person is still there.
    let lateness: Int

    static func < (left: Worth, right: Worth) -> Bool {
      (left.milliseconds, right.lateness) < (right.milliseconds, left.lateness)
    }
  }

  /// The worth of the quality where it is seen before the person goes on, less the waiting that it costs: for
  /// the start of each item when its turn comes, and for the rest of a clip, which loads while it plays. A
  /// wait delays all that follows.
  private func worth(
    of level: Int, _ positions: Range<Int>, _ facts: EngineFacts, _ costs: HintCosts,
    _ switches: Bool
  ) -> Worth {
    let jobs = positions.map { job(of: $0, level, facts, costs, switches) }
    let drawn = min(Self.futureCount, futures.count)
    var (quality, seen, wait, lateness) = (0, 0, 0, 0)
    for future in 0..<drawn {
      let visits = futures.visits[futures.starts[future]..<futures.starts[future + 1]]
      var (done, shift) = (facts.now, 0)
      for visit in visits {
        guard positions.contains(visit.position) else { continue }
        let job = jobs[visit.position - positions.lowerBound]
        let (turn, dwell) = (max(visit.at, facts.now) + shift, max(visit.dwell, 1))
        done += job.startMilliseconds
        var late = job.startMilliseconds == 0 ? 0 : max(0, done - turn)
        quality += late < dwell ? job.quality : 0
        seen += 1
        lateness += late
        late = min(late, dwell)
        let rest = job.restMilliseconds(watched: dwell)
        if rest > 0 {
          done = max(done, turn + late) + rest
          let stalled = max(0, done - (turn + late + dwell))
          late += stalled
          lateness += stalled
        }
        wait += late
        shift += late
      }
    }
    // The quality of one item is weighed against the waiting at ten.
    let items = max(positions.count, Self.itemCount)
    return Worth(
      milliseconds: quality * tuning.qualityMilliseconds / 8 / max(1, seen)
        - wait * Self.itemCount / (items * max(1, drawn)),
      lateness: lateness / max(1, drawn))
  }

  /// An item in one quality of its files.
  private struct QualityJob {
    /// The quality, in eighths of doublings from the smallest.
    var quality = 0
    /// The time to load what starts the item.
    var startMilliseconds = 0
    /// How far a clip has played, its duration, the link's time for a second of it, and the link's time for
    /// what is held when its turn comes, all in milliseconds; 0 for what does not play.
    var playedMilliseconds = 0
    var durationMilliseconds = 0
    var loadMillisecondsPerSecond = 0
    var thereMilliseconds = 0

    /// The link's time for what loads while the clip plays for this long.
    func restMilliseconds(watched: Int) -> Int {
      guard loadMillisecondsPerSecond > 0 else { return 0 }
      let end = min(playedMilliseconds + min(watched, 600_000), durationMilliseconds)
      return max(0, end * loadMillisecondsPerSecond / 1_000 - thereMilliseconds)
    }
  }

  /// The item in this quality, except for media whose bytes were requested already.
  private func job(
    of position: Int, _ level: Int, _ facts: EngineFacts, _ costs: HintCosts, _ switches: Bool
  ) -> QualityJob {
    var (job, bytes) = (QualityJob(), 0)
    let seen = facts.list[position].media.prefix(facts.visibleMedia(position))
    for media in seen {
      let canSwitch = switches && facts.isSwitchable(media)
      let variant =
        media.isSettled && !canSwitch ? media.variant : min(level, media.slots.count - 1)
      let playingPercent = canSwitch ? Self.switchingPercent : Self.playingPercent
      let file = facts.files[media.slots[variant]]
      let cost = costs.cost(of: file.file.load)
      let smallest = media.slots.reduce(cost.entireBytes) {
        min($0, costs.cost(of: facts.files[$1].file.load).entireBytes)
      }
      job.quality += Self.doublings(from: smallest, to: cost.entireBytes)
      let start = facts.startCost(of: file.file.load, at: position, costs).minimumBytes
      bytes += max(0, start - file.there.count(in: 0..<start))
      if seen.count == 1, file.file.load.kind.plays, let all = file.file.load.bytes,
        let duration = file.file.load.durationMilliseconds, duration > 0
      {
        job.durationMilliseconds = duration
        job.playedMilliseconds =
          position == facts.viewer.active
          ? min(facts.playedMilliseconds, ViewingHistory.longestDwellMilliseconds) : 0
        let perSecond = Int(min(Double(all) * 1_000 / Double(duration), 1e9))
        job.loadMillisecondsPerSecond = min(
          facts.network.milliseconds(perSecond) * 100 / playingPercent, 1_000_000)
        job.thereMilliseconds =
          facts.network.milliseconds(max(start, file.there.prefix)) * 100 / playingPercent
      }
    }
    job.quality /= max(1, seen.count)
    job.startMilliseconds = bytes == 0 ? 0 : facts.network.milliseconds(bytes)
    return job
  }

  /// The number of doublings from one number to the other, in eighths: linear between powers of two.
  private static func doublings(from small: Int, to large: Int) -> Int {
    max(0, eighths(large) - eighths(small))
  }

  private static func eighths(_ number: Int) -> Int {
    let number = max(number, 8)
    let power = Int.bitWidth - 1 - number.leadingZeroBitCount
    return power * 8 + (number >> (power - 3)) - 8
  }
}
