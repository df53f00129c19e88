import Feed

/// The part of the strategy that decides among items: the cost, over the futures, of waiting one more step.
///
/// In each future, the items that lack bytes of their start are jobs of the link, in the order of their
/// turns. Jobs that can be done in time are kept. If one would be late, the largest job so far is reduced to
/// its first frame, or dropped if that is not possible (Moore 1968; Hodgson), since that keeps the most jobs
/// in time. A step of waiting delays all kept jobs, and costs the lateness that it causes. That cost is
/// charged to the first kept job that is not under way, which would be requested now, and to the jobs under
/// way: if stopped, they would be later still by the time that it takes to begin again. A dropped job is
/// charged with its own lateness, which ends when the person goes on.
///
/// A round trip does not occupy the link, since others use it meanwhile. It delays its own item, and no
/// other.
struct ExpectedWait {
  /// An item that lacks bytes.
  struct Job {
    let position: Int
    /// The number of bytes that it lacks to be looked at: of a clip, to move at once and continue.
    let bytes: Int
    /// The link's time for these bytes.
    let milliseconds: Int
    /// The number of bytes that a clip's first frame lacks, if smaller; 0 if the frame is held, or if nothing
    /// less is useful.
    let headBytes: Int
    /// The link's time for the first frame's bytes.
    let headMilliseconds: Int
    /// The time by which the item shows later than the link is done: round trips, and a clip's decoder.
    let latencyMilliseconds: Int
    /// The link's time for the whole start, held or not.
    let wholeMilliseconds: Int
    let isUnderWay: Bool
    /// The number of bytes that arrive even if the transfer is stopped now: those in flight.
    var inFlightBytes = 0
    /// The time by which the item is held later than the link is done if its transfer is stopped now and
    /// begun again later.
    var resumeMilliseconds = 0
    var isClip = false
    /// The cost of waiting one more step, summed over all futures.
    var cost = 0
    /// The number of futures in which the item's turn comes.
    var turns = 0
    /// The time until the turn, summed over these futures.
    var untilMilliseconds = 0
    /// The waiting if the link stood still from now on, summed over these futures.
    var riskMilliseconds = 0
    /// The number of these futures in which the item can be in time.
    var kept = 0
    /// The number of these in which only its first frame can be in time.
    var keptHeads = 0

    /// Creates a job of an item with nothing to load: its bytes are held, or it has expired.
    init(position: Int, wholeMilliseconds: Int) {
      self.init(
        position: position, bytes: 0, milliseconds: 0, headBytes: 0, headMilliseconds: 0,
        latencyMilliseconds: 0, wholeMilliseconds: wholeMilliseconds, isUnderWay: false)
    }

    init(
      position: Int, bytes: Int, milliseconds: Int, headBytes: Int, headMilliseconds: Int,
      latencyMilliseconds: Int, wholeMilliseconds: Int, isUnderWay: Bool
    ) {
      self.position = position
      self.bytes = bytes
      self.milliseconds = milliseconds
      self.headBytes = headBytes
      self.headMilliseconds = headMilliseconds
      self.latencyMilliseconds = latencyMilliseconds
      self.wholeMilliseconds = wholeMilliseconds
      self.isUnderWay = isUnderWay
    }

    /// Counts a turn of the item.
    fileprivate mutating func note(_ visit: Futures.Visit, now: Int) {
      turns += 1
      guard bytes > 0 else { return }
      untilMilliseconds += max(0, visit.at - now)
      riskMilliseconds += max(
        0, min(visit.dwell, now + NetworkState.outageMilliseconds - visit.at))
    }

    /// Whether first frames come before anything else.
    var isHeadFirst = false
    /// Whether to load only the first frame: there is time for it, but not for the whole start.
    var isHeadAlone: Bool { headBytes > 0 && (isHeadFirst || keptHeads * 2 > kept) }
    /// Whether the first frame of the clip is held, while first frames come before anything else.
    var isRest: Bool { isHeadFirst && isClip && headBytes == 0 }
    /// The number of bytes to load.
    var wantedBytes: Int { isHeadAlone ? headBytes : bytes }

    /// Whether the transfer continues: in at least half of the futures the item's turn comes and it is in
    /// time, and to stop and begin again costs round trips.
    func goesOn(of futures: Int) -> Bool { isUnderWay && kept * 2 >= futures }

    /// The cost of waiting one more step, and what the wait may save.
    ///
    /// The cost is the lateness that is foreseen, the risk of an outage in that time, and the idle step of
    /// the link that may be missing later. The wait saves the step's bytes if it shows meanwhile that the
    /// item's turn does not come. Stopping a transfer saves none of the bytes in flight, which are loaded
    /// twice if the turn comes. For a transfer the price counts half, so that no other draw of the same
    /// futures stops what one draw has begun.
    ///
    /// - Parameters:
    ///   - price: milliseconds of waiting for a megabyte.
    ///   - step: the unit of decision, in bytes and in the link's time.
    ///   - outageEveryMilliseconds: the mean time between outages of the link.
    ///   - congestion: the chance that the link is short of time later.
    ///   - futures: the number of futures.
    func balance(
      price: Int, step: (bytes: Int, milliseconds: Int), outageEveryMilliseconds: Int,
      congestion: Double = 0, futures: Int
    ) -> Balance {
      let bytes = Double(max(1, min(step.bytes, wantedBytes)))
      let time = Double(step.milliseconds)
      let risk =
        Double(riskMilliseconds) * time / Double(max(1, outageEveryMilliseconds))
        * bytes / Double(max(1, wantedBytes))
      // Whether the person comes becomes known little by little until then.
      let shows = time / max(time, Double(untilMilliseconds / max(1, turns)))
      let needed = Double(turns) / Double(max(1, futures))
      let missing = congestion * needed * time * bytes / Double(max(1, step.bytes))
      let wait = (Double(cost) + risk) / Double(max(1, futures)) + missing
      var unneeded = 1 - needed
      if isUnderWay {
        let inFlight = min(1, Double(inFlightBytes) / Double(max(1, wantedBytes)))
        unneeded = max(0, unneeded * (1 - inFlight) - needed * inFlight) / 2
      }
      return Balance(
        waitMilliseconds: wait, worth: wait * 1_000_000 / bytes,
        price: Double(price) * unneeded * shows)
    }
  }

  /// The cost of waiting one more step, and what the wait may save, in milliseconds of waiting.
  struct Balance {
    /// The cost: lateness, the risk of an outage meanwhile, and idle time that may be missing later.
    let waitMilliseconds: Double
    /// The cost for a megabyte of the bytes in question.
    let worth: Double
    /// The minimum worth of a megabyte: the price, times the chance that the item's turn does not come, times
    /// the share of that chance that is resolved within the step; less for a running transfer.
    let price: Double

    var isDue: Bool { worth >= price }
  }

  let now: Int
  /// The duration of a step.
  let stepMilliseconds: Int
  private(set) var jobs: [Job]
  /// The position of the first job's item; jobs are in the order of positions.
  private let first: Int
  /// The time for which waiting costs nothing, in the future in which it is shortest.
  private(set) var slack = Int.max
  /// The link's time for the items of all futures, and the duration of these futures.
  private var (workMilliseconds, spanMilliseconds) = (0, 0)
  /// The jobs that can be in time in the current future; stored to reuse its memory.
  private var kept: [Kept] = []

  /// A job that can be in time in a future, whole or only its first frame.
  private struct Kept {
    let visit: Int
    let job: Int
    var milliseconds: Int
  }

  /// - Parameter jobs: one for each position from `first` on; those that lack nothing have 0 bytes.
  init(now: Int, stepMilliseconds: Int, jobs: [Job], first: Int) {
    self.now = now
    self.stepMilliseconds = stepMilliseconds
    self.jobs = jobs
    self.first = first
    kept.reserveCapacity(jobs.count)
  }

  /// Adds one future.
  ///
  /// - Parameter busy: the link's time for the active item, which comes before.
  mutating func add(_ visits: ArraySlice<Futures.Visit>, busy: Int) {
    kept.removeAll(keepingCapacity: true)
    var (work, whole) = (busy, 0)
    for index in visits.indices {
      let visit = visits[index]
      guard let job = jobIndex(visit.position) else { continue }
      jobs[job].note(visit, now: now)
      whole += jobs[job].wholeMilliseconds
      guard jobs[job].bytes > 0 else { continue }
      kept.append(Kept(visit: index, job: job, milliseconds: jobs[job].milliseconds))
      work += jobs[job].milliseconds
      while let last = kept.last, last.visit == index,
        now + work + jobs[job].latencyMilliseconds > visit.at
      {
        work -= dropOfLargest(visits)
      }
    }
    chargeKept(visits, busy, whole)
  }

  /// Reduces the largest kept job to its first frame, or drops it.
  ///
  /// - Returns: the link's time that this saves.
  private mutating func dropOfLargest(_ visits: ArraySlice<Futures.Visit>) -> Int {
    var largest = 0
    for index in kept.indices where kept[index].milliseconds >= kept[largest].milliseconds {
      largest = index
    }
    let (job, milliseconds) = (kept[largest].job, kept[largest].milliseconds)
    let head = jobs[job].headMilliseconds
    if head > 0, head < milliseconds {
      kept[largest].milliseconds = head
      return milliseconds - head
    }
    chargeLeft(visits[kept[largest].visit], job)
    kept.remove(at: largest)
    return milliseconds
  }

  private mutating func chargeKept(
    _ visits: ArraySlice<Futures.Visit>, _ busy: Int, _ whole: Int
  ) {
    for one in kept {
      jobs[one.job].kept += 1
      if one.milliseconds < jobs[one.job].milliseconds { jobs[one.job].keptHeads += 1 }
    }
    let next = kept.first { !jobs[$0.job].isUnderWay } ?? kept.first
    guard let job = next?.job else { return }
    var (done, late, resumed) = (now + busy, 0, 0)
    for one in kept {
      let visit = visits[one.visit]
      done += one.milliseconds
      let end = done + jobs[one.job].latencyMilliseconds
      slack = min(slack, visit.at - end)
      late += min(max(0, end + stepMilliseconds - visit.at), visit.dwell)
      guard jobs[one.job].isUnderWay else { continue }
      let resumedEnd = done + jobs[one.job].resumeMilliseconds
      resumed += min(max(0, resumedEnd + stepMilliseconds - visit.at), visit.dwell)
    }
    // The time beyond is assumed to be like the known one: if the link has more to do than it can, an idle
    // step is lost for good.
    let beyond = slackBeyond(visits, done, work: whole)
    slack = min(slack, beyond)
    let cost = late + min(max(0, stepMilliseconds - beyond), stepMilliseconds)
    for one in kept where one.job == job || jobs[one.job].isUnderWay {
      jobs[one.job].cost += cost + (jobs[one.job].isUnderWay ? resumed : 0)
    }
  }

  /// The chance that the link is short of time later, after a fling or when large files follow each other:
  /// the third power of the share of time for which the futures' items occupy the link. On recorded 3G
  /// networks, the first to the fourth power differed little; a link that is busy for a tenth of the time
  /// should rest meanwhile.
  var congestion: Double {
    let share = min(1, Double(workMilliseconds) / Double(max(1, spanMilliseconds)))
    return share * share * share
  }

  /// The time by which the link is ahead of the person after `itemsBeyond` more items.
  ///
  /// - Parameter work: the link's time for the items of all visits, held or not.
  private mutating func slackBeyond(
    _ visits: ArraySlice<Futures.Visit>, _ done: Int, work: Int
  ) -> Int {
    guard let last = visits.last, let first = visits.first, visits.count > 1 else { return Int.max }
    let time = last.at - first.at
    workMilliseconds += work
    spanMilliseconds += time
    return last.at - max(done, now) + Self.itemsBeyond
      * (time / (visits.count - 1) - work / visits.count)
  }

  private static let itemsBeyond = 32

  /// Charges a job that cannot be in time with its own lateness, as long as the person would still be there.
  private mutating func chargeLeft(_ visit: Futures.Visit, _ job: Int) {
    let late = now + jobs[job].milliseconds + jobs[job].latencyMilliseconds - visit.at
    jobs[job].cost +=
      min(max(0, late + stepMilliseconds), visit.dwell) - min(max(0, late), visit.dwell)
    slack = min(slack, 0)
  }

  private func jobIndex(_ position: Int) -> Int? {
    let index = position - first
    return jobs.indices.contains(index) ? index : nil
  }
}
