import Feed

/// The part of our strategy that decides among items: what does it cost, over the futures, to wait one more step?
///
/// In each future the items still short of their start are jobs of the link, in the order in which their turns
/// come. Those that can be done in time are kept: where one would be late, of the largest so far only its first
/// frame is kept, or if that is no clip it is left out (Moore 1968; Hodgson), as that keeps the most in time. A
/// step's waiting delays all that are kept, and costs as much waiting as it makes them late; that is charged to
/// the first of them that is not under way, which would be asked for now, and to those under way: stopped, these would be
/// later still by what it takes to begin again. What was left out is charged with its own lateness, which ends where
/// the person has gone on.
///
/// A round trip is no work of the link: others use it meanwhile. It makes its own item later, and no other.
struct ExpectedWait {
  /// An item that lacks something.
  struct Job {
    let position: Int
    /// What lacks of it to be looked at: of a clip, to move at once and go on moving.
    let bytes: Int
    /// How long the link has to do with that.
    let milliseconds: Int
    /// What of a clip's first frame lacks, where that is less; 0 where it is there, or nothing less is of use.
    let headBytes: Int
    /// How long the link has to do with that.
    let headMilliseconds: Int
    /// How much later it shows than the link is done: round trips, and a clip's decoder.
    let latencyMilliseconds: Int
    /// How long all of its start takes, there or not.
    let wholeMilliseconds: Int
    let isUnderWay: Bool
    /// What of it arrives all the same if it is stopped now: what is in flight on the link.
    var inFlightBytes = 0
    /// How much later it is there than the link is done if it is stopped now, and begun again later.
    var resumeMilliseconds = 0
    var isClip = false
    /// What one more step of waiting costs, summed over all futures.
    var cost = 0
    /// In how many futures its turn comes.
    var turns = 0
    /// How long it is until then, summed over these.
    var untilMilliseconds = 0
    /// What would be waited for it if the link stood still from now on, summed over these.
    var riskMilliseconds = 0
    /// In how many of these it can be in time.
    var kept = 0
    /// In how many of these no more of it can than its first frame.
    var keptHeads = 0

    /// An item of which nothing is to be loaded: there already, or its time has passed.
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

    /// Its first frame comes before anything else.
    var isHeadFirst = false
    /// For all of its start there is no time, for its first frame there is.
    var isHeadAlone: Bool { headBytes > 0 && (isHeadFirst || keptHeads * 2 > kept) }
    /// It is a clip whose first frame is there.
    var isRest: Bool { isHeadFirst && isClip && headBytes == 0 }
    /// What is to be loaded of it.
    var wantedBytes: Int { isHeadAlone ? headBytes : bytes }

    /// In this many futures its turn comes and it is in time: its transfer continues, for to stop it and begin
    /// again costs round trips.
    func goesOn(of futures: Int) -> Bool { isUnderWay && kept * 2 >= futures }

    /// What waiting one more step costs and what it may save.
    ///
    /// What it costs is the lateness that is foreseen, what may happen to the link in that time, and that a step in which the
    /// link rests may be missing later. What it saves
    /// are the step's bytes, where meanwhile it shows that the item's turn does not come. To stop what is under way saves
    /// nothing of what is in flight, and where the turn comes all the same, that is loaded twice. Half of the price is
    /// enough, so that no other draw of the same futures stops what one has begun.
    ///
    /// - Parameters:
    ///   - price: milliseconds of waiting for a megabyte.
    ///   - step: what is decided about, in bytes and in the link's time.
    ///   - outageEveryMilliseconds: how often the link stops.
    ///   - congestion: the chance that the link is short of time later.
    func balance(
      price: Int, step: (bytes: Int, milliseconds: Int), outageEveryMilliseconds: Int,
      congestion: Double = 0, futures: Int
    ) -> Balance {
      let bytes = Double(max(1, min(step.bytes, wantedBytes)))
      let time = Double(step.milliseconds)
      let risk =
        Double(riskMilliseconds) * time / Double(max(1, outageEveryMilliseconds))
        * bytes / Double(max(1, wantedBytes))
      // Whether the person comes shows little by little until then.
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

  /// What one more step of waiting costs, and what it may save, in milliseconds of waiting.
  struct Balance {
    /// What it costs: lateness, and the risk that the link stops meanwhile.
    let waitMilliseconds: Double
    /// The same for a megabyte of what is decided about.
    let worth: Double
    /// What a megabyte has to be worth: the price, times the chance that the item's turn does not come, times the
    /// share of that which shows within the step; of what is under way less.
    let price: Double

    var isDue: Bool { worth >= price }
  }

  let now: Int
  /// How long a step takes.
  let stepMilliseconds: Int
  private(set) var jobs: [Job]
  /// The position of the first job's item; jobs are in the order of positions.
  private let first: Int
  /// How long nothing costs anything, in the future in which that is soonest.
  private(set) var slack = Int.max
  /// How long the link has to do with what all futures have, and how long these are.
  private var (workMilliseconds, spanMilliseconds) = (0, 0)
  /// What can be in time in the future at hand; kept for its room.
  private var kept: [Kept] = []

  /// A job that can be in time in a future, all of it or its first frame.
  private struct Kept {
    let visit: Int
    let job: Int
    var milliseconds: Int
  }

  /// - Parameter jobs: one for each position from `first` on; those that lack nothing have no bytes.
  init(now: Int, stepMilliseconds: Int, jobs: [Job], first: Int) {
    self.now = now
    self.stepMilliseconds = stepMilliseconds
    self.jobs = jobs
    self.first = first
    kept.reserveCapacity(jobs.count)
  }

  /// Adds what one future says.
  ///
  /// - Parameter busy: how long the link has to do with the active item before.
  mutating func add(_ visits: ArraySlice<Futures.Visit>, busy: Int) {
    kept.removeAll(keepingCapacity: true)
    var (work, whole) = (busy, 0)
    for index in visits.indices {
      let visit = visits[index]
      guard let job = jobIndex(visit.position) else { continue }
      jobs[job].turns += 1
      whole += jobs[job].wholeMilliseconds
      guard jobs[job].bytes > 0 else { continue }
      jobs[job].untilMilliseconds += max(0, visit.at - now)
      jobs[job].riskMilliseconds += max(
        0, min(visit.dwell, now + NetworkState.outageMilliseconds - visit.at))
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

  /// Leaves the largest job out that is kept so far, or all but its first frame.
  ///
  /// - Returns: by how much the link has less to do.
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
    // What lies beyond is taken to be as what is known: on a link that has more to do than it can, a step that it
    // is idle is lost for good.
    let beyond = slackBeyond(visits, done, work: whole)
    slack = min(slack, beyond)
    let cost = late + min(max(0, stepMilliseconds - beyond), stepMilliseconds)
    for one in kept where one.job == job || jobs[one.job].isUnderWay {
      jobs[one.job].cost += cost + (jobs[one.job].isUnderWay ? resumed : 0)
    }
  }

  /// The chance that the link is short of time later, after a fling or where large files follow each other: the third power
  /// of the share of the time that it has to do with what the futures have. On recorded 3G networks nothing between the
  /// first and the fourth power differed much; a link that is busy for a tenth of the time should rest meanwhile.
  var congestion: Double {
    let share = min(1, Double(workMilliseconds) / Double(max(1, spanMilliseconds)))
    return share * share * share
  }

  /// How far ahead of the person the link is after as many items again as `itemsBeyond`.
  ///
  /// - Parameter work: how long the link has to do with all of the visits' items, there or not.
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

  /// What cannot be in time costs its own lateness, as long as the person would still be there.
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
