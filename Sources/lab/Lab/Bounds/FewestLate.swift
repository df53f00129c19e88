/// A file, or the part of it that is needed, with its deadline.
struct DeadlineJob: Hashable, Sendable {
  /// The time by which all of it has to be there, in microseconds.
  var deadline: Double
  let bytes: Double
}

/// The minimum number of late jobs on one link, in any order of work: Moore and Hodgson ("An n job, one
/// machine sequencing algorithm for minimizing the number of late jobs", Management Science 15, 1968). Jobs
/// are added by ascending deadline; if the kept jobs do not fit, the largest of them is late. Earliest
/// deadline first then brings all kept jobs in time, and it may be interrupted.
///
/// Viewers who wait make time: a late job shifts all later deadlines by at most their patience. Because that
/// depends only on the number of late jobs, the largest is still the one to give up: of all choices with as
/// few late jobs, it leaves the fewest bytes to carry (`BoundTests` try all choices).
struct FewestLate {
  /// The number of late jobs so far.
  private(set) var late = 0
  /// The number of bytes of the jobs in time.
  private(set) var bytes = 0.0
  /// The sizes of the jobs in time, ascending.
  private var kept: [Double] = []
  /// The shift of all deadlines for each late job, in microseconds.
  let patience: Double

  init(patience: Double) { self.patience = patience }

  /// Adds the next job.
  ///
  /// - Parameter capacity: returns the number of bytes that arrive by a moment.
  mutating func add(_ job: DeadlineJob, capacity: (Double) -> Double) {
    guard job.bytes > 0 else { return }
    var (low, high) = (0, kept.count)
    while low < high {
      let middle = (low + high) / 2
      if kept[middle] < job.bytes { low = middle + 1 } else { high = middle }
    }
    kept.insert(job.bytes, at: low)
    bytes += job.bytes
    let room = capacity(job.deadline + Double(late) * patience)
    // A rounding error is no reason to be late.
    guard bytes > room * (1 + 1e-9) + 1e-3 else { return }
    bytes -= kept.removeLast()
    late += 1
  }
}
