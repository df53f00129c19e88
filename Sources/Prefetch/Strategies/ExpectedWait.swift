/// The part of our strategy that decides among items: what does it cost, over the futures, to wait one more step?
///
/// In each future the items still short of their start are jobs of the link, in the order in which their turns
/// come. Those that can be done in time are kept: where one would be late, the largest so far is left out
/// (Moore 1968; Hodgson), as that keeps the most in time. A step's waiting delays all that are kept, and costs as
/// much waiting as it makes them late; that is charged to the first of them, which would run now. What was left
/// out is charged with its own lateness, which ends where the person has gone on.
struct ExpectedWait {
  /// An item that lacks something.
  struct Job {
    let position: Int
    /// What its start lacks.
    let bytes: Int
    /// How long that takes, a round trip with it where nothing of it is under way.
    let milliseconds: Int
    /// How long all of its start takes, there or not.
    let wholeMilliseconds: Int
    let isUnderWay: Bool
    /// What one more step of waiting costs, summed over all futures.
    var cost = 0
    /// In how many futures its turn comes.
    var turns = 0
  }

  let now: Int
  /// How long a step takes.
  let stepMilliseconds: Int
  private(set) var jobs: [Job]
  /// The position of the first job's item; jobs are in the order of positions.
  private let first: Int
  /// How long nothing costs anything, in the future in which that is soonest.
  private(set) var slack = Int.max

  /// - Parameter jobs: one for each position from `first` on; those that lack nothing have no bytes.
  init(now: Int, stepMilliseconds: Int, jobs: [Job], first: Int) {
    self.now = now
    self.stepMilliseconds = stepMilliseconds
    self.jobs = jobs
    self.first = first
  }

  /// Adds what one future says.
  ///
  /// - Parameter busy: how long the link has to do with the active item before.
  mutating func add(_ visits: ArraySlice<Futures.Visit>, busy: Int) {
    // The visits whose jobs are kept, by their indexes; few.
    var kept: [Int] = []
    kept.reserveCapacity(visits.count)
    var work = busy
    for index in visits.indices {
      let visit = visits[index]
      guard let job = jobIndex(visit.position) else { continue }
      jobs[job].turns += 1
      guard jobs[job].bytes > 0 else { continue }
      kept.append(index)
      work += jobs[job].milliseconds
      guard now + work > visit.at else { continue }
      // Late: the largest so far is left out.
      var largest = 0
      for candidate in kept.indices
      where milliseconds(visits[kept[candidate]]) >= milliseconds(visits[kept[largest]]) {
        largest = candidate
      }
      let left = kept.remove(at: largest)
      work -= milliseconds(visits[left])
      chargeLeft(visits[left])
    }
    chargeKept(kept, visits, busy)
  }

  private mutating func chargeKept(
    _ kept: [Int], _ visits: ArraySlice<Futures.Visit>, _ busy: Int
  ) {
    guard let head = kept.first, let job = jobIndex(visits[head].position) else { return }
    var done = now + busy
    for index in kept {
      let visit = visits[index]
      done += milliseconds(visit)
      slack = min(slack, visit.at - done)
      jobs[job].cost += min(max(0, done + stepMilliseconds - visit.at), visit.dwell)
    }
    // What lies beyond is taken to be as what is known: on a link that has more to do than it can, a step that it
    // is idle is lost for good.
    let beyond = slackBeyond(visits, done)
    slack = min(slack, beyond)
    jobs[job].cost += min(max(0, stepMilliseconds - beyond), stepMilliseconds)
  }

  /// How far ahead of the person the link is after as many items again as `itemsBeyond`.
  private func slackBeyond(_ visits: ArraySlice<Futures.Visit>, _ done: Int) -> Int {
    guard let last = visits.last, let first = visits.first, visits.count > 1 else { return Int.max }
    let work = visits.reduce(0) { sum, visit in
      sum + (jobIndex(visit.position).map { jobs[$0].wholeMilliseconds } ?? 0)
    }
    let time = last.at - first.at
    return last.at - max(done, now) + Self.itemsBeyond
      * (time / (visits.count - 1) - work / visits.count)
  }

  private static let itemsBeyond = 32

  /// What cannot be in time costs its own lateness, as long as the person would still be there.
  private mutating func chargeLeft(_ visit: Futures.Visit) {
    guard let job = jobIndex(visit.position) else { return }
    let late = now + jobs[job].milliseconds - visit.at
    jobs[job].cost +=
      min(max(0, late + stepMilliseconds), visit.dwell) - min(max(0, late), visit.dwell)
    slack = min(slack, 0)
  }

  private func milliseconds(_ visit: Futures.Visit) -> Int {
    jobIndex(visit.position).map { jobs[$0].milliseconds } ?? 0
  }

  private func jobIndex(_ position: Int) -> Int? {
    let index = position - first
    return jobs.indices.contains(index) ? index : nil
  }
}
