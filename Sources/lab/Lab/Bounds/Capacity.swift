import LinkModel

/// The number of bytes that a link can bring: all that its bandwidth allows, without round trips, slow start
/// and loss. No transport brings more.
struct Capacity: Sendable {
  /// The bytes a microsecond in each step of the loop; a single element if the link never changes.
  private let rates: [Double]
  /// The end of each step in microseconds, and the number of bytes that arrived by then.
  private let ends: [Double]
  private let sums: [Double]
  /// The maximum number of bytes in any stretch of the loop, by the length of the stretch in parts of the
  /// loop.
  private var most: [Double] = []

  /// The least and the most parts into which a loop is divided, and the limit of work that decides between
  /// them.
  private static let (leastParts, mostParts, work) = (32, 256, 1_000_000)

  init(_ schedule: LinkSchedule) {
    rates = schedule.conditions.map { $0.isUp ? Double($0.downlinkKbps) / 8_000 : 0 }
    ends = schedule.endsMicroseconds.map { Double($0) }
    var (sums, from): ([Double], Double) = ([], 0)
    for (rate, end) in zip(rates, ends) {
      sums.append((sums.last ?? 0) + rate * (end - from))
      from = end
    }
    self.sums = sums
    guard let loop = ends.last else { return }
    let parts = max(Self.leastParts, min(Self.mostParts, Self.work / ends.count))
    most = (0...parts).map { part in
      let length = loop * Double(part) / Double(parts)
      // The best stretch begins or ends where a step does.
      return ends.reduce(0) { best, end in
        max(
          best, bytes(from: end, to: end + length), bytes(from: end + loop - length, to: end + loop)
        )
      }
    }
  }

  /// The number of bytes that arrive between two moments of the schedule, in microseconds.
  func bytes(from: Double, to: Double) -> Double {
    to > from ? bytes(by: to) - bytes(by: from) : 0
  }

  private func bytes(by time: Double) -> Double {
    guard let loop = ends.last, let all = sums.last else { return rates[0] * time }
    let turns = (time / loop).rounded(.down)
    let rest = time - turns * loop
    let step = place(after: rest)
    guard step < ends.count else { return (turns + 1) * all }
    return turns * all + sums[step] - rates[step] * (ends[step] - rest)
  }

  /// The maximum number of bytes that arrive in a stretch of this length, in microseconds.
  func most(in length: Double) -> Double {
    guard let loop = ends.last, let all = sums.last else { return rates[0] * max(length, 0) }
    guard length > 0 else { return 0 }
    let turns = (length / loop).rounded(.down)
    let part = Int(((length - turns * loop) / loop * Double(most.count - 1)).rounded(.up))
    return turns * all + most[min(part, most.count - 1)]
  }

  /// The index of the step at a moment of the loop.
  private func place(after time: Double) -> Int {
    var (low, high) = (0, ends.count)
    while low < high {
      let middle = (low + high) / 2
      if ends[middle] > time { high = middle } else { low = middle + 1 }
    }
    return low
  }
}
