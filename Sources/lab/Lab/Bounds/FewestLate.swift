/// A file, or what is needed of it, by when.
struct DeadlineJob: Hashable, Sendable {
  /// By when all of it is to be there, in microseconds.
  var deadline: Double
  let bytes: Double
}

/// The fewest jobs that are late on one link, whatever the order in which it works: Moore and Hodgson ("An n job,
/// one machine sequencing algorithm for minimizing the number of late jobs", Management Science 15, 1968). Jobs
/// come by rising deadline; where those that are kept do not fit, the largest of them is late. Earliest deadline
/// first then brings all that are kept in time, and it may be interrupted.
///
/// People who wait make time: what is late shifts all later deadlines by as much as they wait at the most. Since
/// that depends only on how many were late, the largest is still the one to give up: of all choices with so few
/// late jobs, it leaves the least to be carried (`BoundTests` try all choices).
struct FewestLate {
  /// How many are late by now.
  private(set) var late = 0
  /// How many bytes those that are in time have.
  private(set) var bytes = 0.0
  /// Their sizes, rising.
  private var kept: [Double] = []
  /// How much later everything is for each late job, in microseconds.
  let patience: Double

  /// - Parameter late: how many were late before.
  init(patience: Double) { self.patience = patience }

  /// Takes in the next job.
  ///
  /// - Parameter capacity: how many bytes come by a moment.
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
    // What a double rounds off is no reason to be late.
    guard bytes > room * (1 + 1e-9) + 1e-3 else { return }
    bytes -= kept.removeLast()
    late += 1
  }
}
