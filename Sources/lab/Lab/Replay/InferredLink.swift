import LinkModel
import PostJSON
import Prefetch
import Statistics

/// The link of a recorded session, as far as the session shows it: its speed where it was busy, a lower bound
/// of its speed where it was used in part, and nothing where it was idle.
///
/// How long it would have taken to load what the recorded strategy did not load is unknown: a strategy that
/// loads little leaves most of the link unknown, and one that loads in small pieces shows the start of each
/// transfer instead of the link. A replay that fills such gaps with what was seen elsewhere is biased by the
/// recorded strategy (Alomar and others, "CausalSim", 2023). So they are filled twice: with the slowest and
/// with the fastest speed that the session saw.
package struct InferredLink: Hashable, Sendable {
  /// How well a stretch is known.
  package enum Knowledge: Hashable, Sendable {
    /// Bytes arrived all the time, and had for a while.
    case known
    /// Bytes arrived: the link was at least this fast.
    case atLeast
    /// Nothing was requested.
    case unknown
  }

  /// A stretch of a quarter of a second.
  package struct Stretch: Hashable, Sendable {
    /// How well it is known.
    package let knowledge: Knowledge
    /// Its speed, or a lower bound of that; 0 if nothing arrived.
    package let kilobitsPerSecond: Int
  }

  /// The stretches, from the session's beginning.
  package let stretches: [Stretch]
  /// The round trip of a request.
  package let roundTripMilliseconds: Int
  /// The assumed speeds where the link is unknown: the slowest and the fastest that were seen, one in ten
  /// left out.
  package let boundsKilobitsPerSecond: ClosedRange<Int>

  private static let stretchMilliseconds = 250
  private static let slotMilliseconds = 10
  /// The number of round trips after its beginning for which a transfer is slower than the link.
  private static let rampRoundTrips = 4
  /// The number of known stretches from which on these alone decide how slow and how fast the link gets. With
  /// fewer, everything that was seen counts, too.
  private static let knownStretches = 12.0
  /// The maximum length of a session; the rest is ignored.
  private static let longestMilliseconds = 12 * 3_600_000
  private static let usualRoundTrip = 100

  /// Infers the link from a log; nil if nothing arrived.
  package init?(_ log: SessionLog) {
    var (begun, asking) = ([Int: Int](), Set<Int>())
    var (pieces, end) = ([(from: Int, to: Int, bytes: Int, isFirst: Bool)](), 0)
    var (firstBytes, measured) = ([Int](), [Int]())
    var asked = log.requests[...]
    func begin(until time: Int) {
      while let request = asked.first, request.atMilliseconds <= time {
        asked.removeFirst()
        begun[request.transfer] = request.atMilliseconds
        asking.insert(request.transfer)
      }
    }
    var answered: Set<Int> = []
    for entry in log.events where entry.atMilliseconds <= Self.longestMilliseconds {
      begin(until: entry.atMilliseconds)
      end = max(end, entry.atMilliseconds)
      switch entry.event {
      case .bytesArrived(let transfer, _, let range):
        guard let since = begun[transfer] else { continue }
        if answered.insert(transfer).inserted {
          firstBytes.append(entry.atMilliseconds - since)
        }
        let isAnswer = asking.remove(transfer) != nil
        pieces.append((since, entry.atMilliseconds, range.count, isAnswer))
        begun[transfer] = entry.atMilliseconds
      case .bandwidthMeasured(_, let roundTrip): if let roundTrip { measured.append(roundTrip) }
      default: break
      }
    }
    guard !pieces.isEmpty else { return nil }
    let roundTrip =
      measured.isEmpty
      ? firstBytes.min() ?? Self.usualRoundTrip : measured.sorted()[measured.count / 2]
    roundTripMilliseconds = max(1, roundTrip)

    let perStretch = Self.stretchMilliseconds / Self.slotMilliseconds
    let count = (end / Self.stretchMilliseconds + 1) * perStretch
    var bytes = [Double](repeating: 0, count: count)
    for piece in pieces {
      // Of the first piece after a request, the round trip of the answer is not a time in which bytes
      // arrived. Of other pieces it is: a shared session has pieces of a quarter of a second.
      let isLate = piece.isFirst && piece.to - piece.from > roundTrip
      let from = min(piece.to, piece.from + (isLate ? roundTrip : 0))
      let (first, last) = (from / Self.slotMilliseconds, piece.to / Self.slotMilliseconds)
      for slot in first...last { bytes[slot] += Double(piece.bytes) / Double(last - first + 1) }
    }
    let ramp = Self.rampRoundTrips * roundTripMilliseconds / Self.slotMilliseconds
    var (run, stretches) = (0, [Stretch]())
    for start in stride(from: 0, to: count, by: perStretch) {
      let slots = bytes[start..<start + perStretch]
      let before = run
      for slot in slots { run = slot > 0 ? run + 1 : 0 }
      let used = slots.count { $0 > 0 }
      // Over the whole stretch, used or not: the link was at least this fast.
      let kilobits = slots.reduce(0, +) * 8 / Double(Self.stretchMilliseconds)
      stretches.append(
        Stretch(
          knowledge: used == 0
            ? .unknown : used == perStretch && before >= ramp ? .known : .atLeast,
          kilobitsPerSecond: Int(kilobits.rounded())))
    }
    self.stretches = stretches
    func rates(_ knowledge: Knowledge) -> [Int] {
      stretches.filter { $0.knowledge == knowledge }.map(\.kilobitsPerSecond).sorted()
    }
    let (known, others) = (rates(.known), rates(.atLeast))
    // A link that was never busy for long may have been much faster.
    let seen = (known + others).sorted()
    let weight = min(1, Double(known.count) / Self.knownStretches)
    func bound(_ ofKnown: Int?, _ ofSeen: Int) -> Int {
      let (mine, all) = (Double(max(1, ofKnown ?? 1)), Double(max(1, ofSeen)))
      return Int(
        exponential(weight * naturalLogarithm(mine) + (1 - weight) * naturalLogarithm(all))
          .rounded())
    }
    let slowest = bound(known.isEmpty ? nil : known[known.count / 10], seen[seen.count / 10])
    let fastest = bound(known.isEmpty ? nil : known[known.count * 9 / 10], 4 * seen[seen.count - 1])
    boundsKilobitsPerSecond = slowest...max(slowest, fastest)
  }

  /// The percentage of stretches that are known this well.
  package func percent(_ knowledge: Knowledge) -> Double {
    100 * Double(stretches.count { $0.knowledge == knowledge }) / Double(stretches.count)
  }

  /// The link at its fastest or its slowest. After the session's end it is as where it is unknown.
  package func schedule(isFast: Bool) -> LinkSchedule {
    let bound =
      isFast ? boundsKilobitsPerSecond.upperBound : boundsKilobitsPerSecond.lowerBound
    func conditions(_ kilobits: Int) -> LinkConditions {
      LinkConditions(
        downlinkKbps: max(1, kilobits), uplinkKbps: max(1, kilobits),
        latencyMicroseconds: roundTripMilliseconds * 500)
    }
    var steps = stretches.prefix(LinkSchedule.stepLimit - 1).map { stretch in
      let kilobits =
        switch stretch.knowledge {
        case .known: stretch.kilobitsPerSecond
        case .atLeast: max(stretch.kilobitsPerSecond, bound)
        case .unknown: bound
        }
      return LinkSchedule.Step(
        durationMilliseconds: Self.stretchMilliseconds, conditions: conditions(kilobits))
    }
    steps.append(
      LinkSchedule.Step(
        durationMilliseconds: LinkSchedule.stepLimitMilliseconds, conditions: conditions(bound)))
    // The number and the durations of the steps are within the limits.
    return try! LinkSchedule(loop: steps)
  }
}
