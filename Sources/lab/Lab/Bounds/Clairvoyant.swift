import Feed
import LinkModel
import Prefetch

/// The least that any policy could have had in a run.
package struct RunBound: Hashable, Sendable {
  /// The name in tables.
  package static let name = "clairvoyant"

  /// Loaders per 1000 items looked at.
  package let loaders: Double
  /// Milliseconds of delay per item looked at.
  package let delayMilliseconds: Double
  /// Kilobytes (1000 bytes) per item looked at.
  package let kilobytes: Double

  /// The bound of a measure; `nil` if the measure has none.
  package subscript(_ measure: RunFigures.Measure) -> Double? {
    switch measure {
    case .loaders: loaders
    case .delayMilliseconds: delayMilliseconds
    case .kilobytes: kilobytes
    default: nil
    }
  }
}

/// Computes lower bounds of loaders, delay and bytes, knowing who will look at what for how long, and what
/// the link will bring. They hold for all policies of the engine, in the simulation's world:
///
/// - The link brings what its bandwidth allows (`Capacity`), from the first answer that a policy can have
///   requested, which is one round trip after the feed's first page. An item needs the bytes that start it,
///   the heads of as many answers, and the pages before it.
/// - The bound of loaders is that of Moore and Hodgson (`FewestLate`). Viewers who wait make time for later
///   items: at most as much as they wait for an item. A late page makes any amount of time, but nothing after
///   it is known before: from there on, the link begins with nothing, at its best moment.
/// - The delay of viewers who go on in time is the sum, over all delays, of the number of items delayed by
///   more: for each delay, the fewest late jobs with deadlines later by as much, where a clip's job has the
///   bytes with which a player moves. If viewers wait, a lost second makes time for later items, or saves the
///   bytes that a clip would have played: the delay is at least what the link lacks at any moment.
/// - The bound of bytes is what that number of loaders takes if no clip that is there in time stands: of each
///   item the bytes that start it and those that are watched, except for the largest items, which may be
///   late.
struct Clairvoyant {
  /// A first look at an item. Times are in microseconds from the feed's first page, if nothing delays it.
  private struct Look {
    let arrives: Double
    let dwell: Double
    let start: Double
    /// The bytes that move it: those that start a picture; those that start a clip, with a player's first
    /// second.
    let move: Double
    let isClip: Bool
    /// The bytes of it that are seen, in this look and in any.
    let played: Double
    var seen: Double
    /// The bytes that show it, and those that a standing clip saves.
    let shown: Double
    let saving: Saving
    /// Whether it may be on an absent page, and the number of pages waited for by then.
    let beginsPage: Bool
    let pages: Double
  }

  private let setup: Simulation.Setup
  private let capacity: Capacity
  private let decoderMicroseconds: Double
  private var looks: [Look] = []
  /// The arrival of the feed's first page, in the time of the link's schedule, and that of the first answer
  /// after it.
  private let opened: Double
  private let answered: Double

  /// The bound of the run with this seed.
  static func bound(
    _ setup: Simulation.Setup, _ capacity: Capacity, settings: PrefetchSettings, seed: UInt64
  ) -> RunBound {
    Clairvoyant(setup, capacity, settings, seed).bound
  }

  private init(
    _ setup: Simulation.Setup, _ capacity: Capacity, _ settings: PrefetchSettings, _ seed: UInt64
  ) {
    self.setup = setup
    self.capacity = capacity
    decoderMicroseconds = Double(settings.decoderStartMilliseconds) * 1_000
    let random = LabRandom(seed: seed)
    var (link, offset) = Simulation.link(setup, random)
    // The page is requested as in the simulation, until it arrives.
    var isOpen = false
    while !isOpen, link.nowMicroseconds < Simulation.longestMicroseconds {
      link.start(-1, bytes: settings.pageBytes)
      let event = link.next(untilMicroseconds: Simulation.longestMicroseconds)
      isOpen = event?.isFinished == true
    }
    opened = Double(offset + link.nowMicroseconds)
    answered = isOpen ? Self.firstAnswer(setup.network, offset + link.nowMicroseconds) : .infinity
    var viewer = Viewer(setup.viewer, random: random.split(1))
    look(&viewer, pageBytes: settings.pageBytes)
  }

  /// The earliest beginning of an answer that is requested at this moment of the schedule or later.
  private static func firstAnswer(_ network: LabNetwork, _ now: Int) -> Double {
    func answer(_ conditions: LinkConditions, at time: Int) -> Int {
      time + conditions.roundTripMicroseconds + network.link.thinkMilliseconds * 1_000
        + network.link.requestBytes * 8_000 / max(1, conditions.uplinkKbps)
    }
    let schedule = network.schedule
    guard let loop = schedule.loopMicroseconds else {
      return Double(answer(schedule.conditions[0], at: now))
    }
    var step = schedule.index(atMicroseconds: now % loop)
    var (time, earliest) = (now, Int.max)
    for _ in schedule.conditions.indices where time < earliest {
      let ends = schedule.endsMicroseconds[step]
      let end = time + ends - time % loop
      // While nothing passes, round trips make no progress.
      let conditions = schedule.conditions[step]
      if conditions.isUp { earliest = min(earliest, answer(conditions, at: time)) }
      time = end
      step = (step + 1) % schedule.conditions.count
    }
    return Double(earliest == .max ? now : earliest)
  }

  private mutating func look(_ viewer: inout Viewer, pageBytes: Int) {
    let feed = setup.feed
    let head = Double(setup.network.link.responseHeadBytes)
    var first = [Int?](repeating: nil, count: feed.items.count)
    var (time, highest, pages) = (0.0, feed.pageItems - 1, 1)
    let isStraight = !setup.viewer.isDrawn && setup.viewer.looks.isEmpty
    for _ in 0..<setup.items {
      let step = viewer.next(
        count: feed.items.count, survival: { feed.items[$0].survival }
      ) { feed.items[$0].durationMilliseconds }
      time += Double(step.travelMilliseconds) * 1_000
      let item = feed.items[step.index]
      let dwell = Double(step.dwellMilliseconds) * 1_000
      let watched = max(0, step.dwellMilliseconds - Int(decoderMicroseconds) / 1_000)
      let seen = item.leastBytes { $0.seenBytes(milliseconds: watched) }
      if let place = first[step.index] {
        looks[place].seen = max(looks[place].seen, seen)
      } else {
        first[step.index] = looks.count
        // This many different items are on at least this many pages.
        var page = 0.0
        if looks.count >= pages * feed.pageItems {
          pages += 1
          page = Double(pageBytes) + head
        }
        let answers = head * Double(item.media.prefix(item.seenMedia).count)
        let start = item.leastBytes { $0.startBytes }
        let move = item.leastBytes { max($0.startBytes, $0.movingBytes) }
        looks.append(
          Look(
            arrives: time, dwell: dwell, start: start > 0 ? start + answers + page : 0,
            move: move > 0 ? move + answers + page : 0, isClip: item.durationMilliseconds != nil,
            played: seen, seen: seen, shown: item.leastBytes { $0.startBytes },
            saving: item.saving(milliseconds: watched, bytes: seen),
            beginsPage: isStraight ? step.index > highest : step.index >= feed.pageItems,
            pages: Double(pages - 1)))
        if step.index > highest {
          highest = (step.index / feed.pageItems + 1) * feed.pageItems - 1
        }
      }
      time += dwell
    }
  }

  private var bound: RunBound {
    guard answered.isFinite else { return RunBound(loaders: 0, delayMilliseconds: 0, kilobytes: 0) }
    let items = Double(max(1, setup.items))
    let late = fewestLate { DeadlineJob(deadline: $0.arrives, bytes: $0.start) }
    let seen = looks.map(\.seen).sorted()
    return RunBound(
      loaders: Double(late) * 1_000 / items,
      delayMilliseconds: delayMicroseconds / 1_000 / items,
      kilobytes: seen.dropLast(late).reduce(0, +) / 1_000 / items)
  }

  // MARK: Loaders

  /// The minimum number of looks whose jobs are late; `job` returns `nil` for a look without one.
  private func fewestLate(_ job: (Look) -> DeadlineJob?) -> Int {
    let patience = Double(setup.viewer.patienceMilliseconds ?? 0) * 1_000
    var latest = 0.0
    // Deadlines are made to ascend: later ones give a lower bound, too.
    let jobs = looks.map { look -> DeadlineJob? in
      guard var job = job(look) else { return nil }
      latest = max(latest, job.deadline)
      job.deadline = latest
      return job
    }
    var open = FewestLate(patience: patience)
    // The number of late jobs before each look, if no look of its own page is the first with a late page.
    var before = [Int](repeating: 0, count: jobs.count)
    for (place, job) in jobs.enumerated() {
      before[place] = open.late
      guard let job else { continue }
      open.add(job) { capacity.bytes(from: answered, to: opened + $0) }
    }
    var best = open.late
    // A late page costs one late job: it pays only if at least two would be late from there on.
    for place in jobs.indices
    where looks[place].beginsPage && jobs[place] != nil && before[place] + 1 < best {
      var fresh = FewestLate(patience: patience)
      // The viewer waits for the item of the late page, too.
      let late = before[place] + 1
      let arrives = looks[place].arrives - patience
      for other in jobs.indices.dropFirst(place + 1) {
        if late + fresh.late >= best { break }
        before[other] = min(before[other], late + fresh.late)
        guard let job = jobs[other] else { continue }
        fresh.add(job) { capacity.most(in: $0 - arrives) }
      }
      best = min(best, late + fresh.late)
    }
    return best
  }

  // MARK: Delay

  private var delayMicroseconds: Double {
    guard setup.viewer.patienceMilliseconds == nil else { return leastDelay }
    let longest = (looks.map(\.dwell).max() ?? 0) - 1
    let levels =
      (1...Self.delayParts).map {
        (longest - decoderMicroseconds) * Double($0) / Double(Self.delayParts)
      } + [longest]
    // The number of items delayed by more falls with the delay: each is counted at the end of its level.
    var (sum, before) = (0.0, 0.0)
    for level in levels where level > before {
      let count = fewestLate { look in
        let shown = level + (look.isClip ? decoderMicroseconds : 0)
        // A viewer who goes on before that is not delayed by more.
        guard look.dwell > shown else { return nil }
        // Pages, too, may be this late without being counted, and make time for what follows.
        return DeadlineJob(
          deadline: look.arrives + look.pages * level + shown,
          bytes: look.isClip ? look.move : look.start)
      }
      guard count > 0 else { break }
      sum += Double(count) * (level - before)
      before = level
    }
    return sum
  }

  private static let delayParts = 10

  /// The bound of delay for viewers who wait. The time that they lose makes time where they wait, or saves
  /// bytes where a clip stands or an item is given up. For a lost second both count, the largest savings
  /// first.
  private var leastDelay: Double {
    let patience = Double(setup.viewer.patienceMilliseconds ?? 0) * 1_000
    var savings: [Saving] = []
    var (sum, most) = (0.0, 0.0)
    func insert(_ saving: Saving) {
      guard saving.rate > 0 else { return }
      savings.insert(saving, at: savings.firstIndex { $0.rate < saving.rate } ?? savings.count)
    }
    for look in looks {
      // A viewer who gives up the item has waited, and sees nothing of it.
      let givenUp = Saving(rate: look.start / max(1, patience), length: patience)
      insert(givenUp)
      most = delay(most, start: sum + look.start, by: look.arrives, savings)
      if let place = savings.firstIndex(of: givenUp) { savings.remove(at: place) }
      let all = look.start + look.played - look.shown
      sum += all
      insert(look.saving)
      insert(Saving(rate: all / max(1, patience), length: patience))
      most = delay(most, start: sum, by: look.arrives + look.dwell, savings)
    }
    return most
  }

  /// The least delay, of at least `least`, with which these bytes arrive by a moment.
  private func delay(
    _ least: Double, start bytes: Double, by moment: Double, _ savings: [Saving]
  ) -> Double {
    func isEnough(_ delay: Double) -> Bool {
      var (room, rest) = (capacity.bytes(from: answered, to: opened + moment + delay), delay)
      for saving in savings where rest > 0 && room < bytes {
        room += saving.rate * min(rest, saving.length)
        rest -= saving.length
      }
      return room * (1 + 1e-9) + 1e-3 >= bytes
    }
    if isEnough(least) { return least }
    var (low, high) = (least, max(1_000, 2 * least))
    while !isEnough(high), high < Double(Simulation.longestMicroseconds) {
      (low, high) = (high, 2 * high)
    }
    // Precise to a thousandth of a second or of the delay.
    while high - low > max(1_000, low / 1_000) {
      let middle = (low + high) / 2
      if isEnough(middle) { high = middle } else { low = middle }
    }
    return low
  }
}

/// The maximum number of bytes that a lost microsecond saves, and the number of microseconds that do.
private struct Saving: Hashable, Sendable {
  let rate: Double
  let length: Double
}

extension LabFeed.Item {
  /// The fewest bytes of the media that are seen: of each file, those of the variant that takes the fewest.
  fileprivate func leastBytes(_ bytes: (LabFile) -> Int) -> Double {
    media.prefix(seenMedia).reduce(0) { $0 + Double($1.map(bytes).min() ?? 0) }
  }
}

extension LabFeed.Item {
  /// The saving in a look of this duration: the maximum number of seen bytes that each microsecond of
  /// standing saves, because less is played, down to the first frame alone.
  fileprivate func saving(milliseconds: Int, bytes: Double) -> Saving {
    guard let clip = media.first, clip[0].isClip, milliseconds > 0 else {
      return Saving(rate: 0, length: 0)
    }
    let rest = leastBytes { $0.isClip ? 0 : $0.startBytes }
    var rate = 0.0
    // The needed bytes fall linearly between seconds.
    for second in 0...max(0, (milliseconds - 1) / 1_000) {
      let played = second * 1_000
      let needed = clip.map { played == 0 ? $0.startBytes : $0.bytes(throughMilliseconds: played) }
      let spared = bytes - rest - Double(needed.min() ?? 0)
      rate = max(rate, spared / Double(max(1, milliseconds - played - 1)) / 1_000)
    }
    let spared = bytes - leastBytes { $0.startBytes }
    return rate > 0 && spared > 0
      ? Saving(rate: rate, length: spared / rate) : Saving(rate: 0, length: 0)
  }
}

extension LabFile {
  fileprivate var startBytes: Int { startRanges.reduce(0) { $0 + $1.count } }

  /// The bytes with which a player moves it: all through its first second.
  fileprivate var movingBytes: Int {
    isClip ? bytes(throughMilliseconds: Simulation.playerBufferMilliseconds) : 0
  }

  /// The bytes that a viewer sees who looks at it for this long after the decoder's start, if it never
  /// stands. Playback is counted in whole milliseconds.
  fileprivate func seenBytes(milliseconds: Int) -> Int {
    guard isClip else { return bytes }
    guard milliseconds > 0 else { return startBytes }
    return max(startBytes, movingBytes, bytes(throughMilliseconds: milliseconds - 1))
  }
}
