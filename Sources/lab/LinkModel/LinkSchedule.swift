import JSON
import Prefetch

/// The conditions of a link over time: always the same, or a trace that plays in a loop.
package struct LinkSchedule: Hashable, Sendable {
  /// A step of a trace.
  package struct Step: Hashable, Sendable {
    /// Its duration.
    package let durationMilliseconds: Int
    /// The conditions of the link during the step.
    package let conditions: LinkConditions

    /// Creates a step.
    package init(durationMilliseconds: Int, conditions: LinkConditions) {
      self.durationMilliseconds = durationMilliseconds
      self.conditions = conditions
    }
  }

  /// The maximum number of steps of a trace.
  package static let stepLimit = 100_000
  /// The maximum duration of a step: a day.
  package static let stepLimitMilliseconds = 86_400_000

  /// The conditions of the steps; a single element without `endsMicroseconds` is for always.
  package let conditions: [LinkConditions]
  /// The end of each step, from the beginning of the loop.
  package let endsMicroseconds: [Int]

  /// Creates a schedule that never changes.
  package init(_ conditions: LinkConditions) {
    self.conditions = [conditions]
    endsMicroseconds = []
  }

  /// Creates a schedule that always has the conditions of a profile.
  package init(_ profile: NetworkProfile) { self.init(LinkConditions(profile)) }

  /// Creates a schedule that repeats these steps.
  package init(loop steps: [Step]) throws(LinkTraceError) {
    guard (1...Self.stepLimit).contains(steps.count) else {
      throw .stepCount(steps.count, limit: Self.stepLimit)
    }
    var (end, ends) = (0, [Int]())
    for (index, step) in steps.enumerated() {
      guard (1...Self.stepLimitMilliseconds).contains(step.durationMilliseconds) else {
        throw .number(step: index, member: "duration_ms")
      }
      end += step.durationMilliseconds * 1_000
      ends.append(end)
    }
    conditions = steps.map(\.conditions)
    endsMicroseconds = ends
  }

  /// The same schedule, with nothing passing at the end of every period. Both durations are in milliseconds.
  package func interrupted(everyMilliseconds period: Int, forMilliseconds dead: Int) -> LinkSchedule
  {
    precondition(0 < dead && dead < period)
    let (up, period) = ((period - dead) * 1_000, period * 1_000)
    // A loop of whole periods, in which a trace continues after each gap.
    let loop = loopMicroseconds ?? up
    let count = (loop + up - 1) / up
    var (conditions, ends): ([LinkConditions], [Int]) = ([], [])
    for gap in 0..<count {
      let (from, to) = (gap * up, min((gap + 1) * up, loop))
      for (index, end) in (endsMicroseconds.isEmpty ? [loop] : endsMicroseconds).enumerated() {
        let start = index == 0 ? 0 : endsMicroseconds[index - 1]
        guard start < to, end > from else { continue }
        conditions.append(self.conditions[index])
        ends.append(gap * (period - up) + min(end, to))
      }
      // A request in the gap is sent when the gap is over, over the same link.
      let before = conditions[conditions.count - 1]
      conditions.append(
        LinkConditions(
          downlinkKbps: 0, uplinkKbps: 0, latencyMicroseconds: before.latencyMicroseconds,
          lossPercent: before.lossPercent))
      ends.append(gap * (period - up) + to + period - up)
    }
    return LinkSchedule(conditions: conditions, endsMicroseconds: ends)
  }

  private init(conditions: [LinkConditions], endsMicroseconds: [Int]) {
    (self.conditions, self.endsMicroseconds) = (conditions, endsMicroseconds)
  }

  /// Reads a recorded trace: a JSON list of objects with `duration_ms`, `bandwidth_kbps` and `latency_ms`,
  /// all of them integers. The bandwidth is that of each direction, the latency that of a round trip.
  package init(trace: [UInt8]) throws(LinkTraceError) {
    let document: JSONDocument
    do throws(JSONError) {
      document = try JSONDocument(trace)
    } catch {
      throw .json(error)
    }
    var steps: [Step] = []
    for (index, value) in document.root.elements.enumerated() {
      func number(_ member: String, _ range: ClosedRange<Int>) throws(LinkTraceError) -> Int {
        guard let number = value.member(member)?.wholeNumber, range.contains(number) else {
          throw .number(step: index, member: member)
        }
        return number
      }
      let rate = try number("bandwidth_kbps", 0...LinkConditions.rateLimitKbps)
      let latency = try number("latency_ms", 0...600_000)
      steps.append(
        Step(
          durationMilliseconds: try number("duration_ms", 1...Self.stepLimitMilliseconds),
          conditions: LinkConditions(
            downlinkKbps: rate, uplinkKbps: rate, latencyMicroseconds: latency * 500)))
    }
    try self.init(loop: steps)
  }

  /// The duration of the loop; `nil` if the conditions never change.
  package var loopMicroseconds: Int? { endsMicroseconds.last }

  /// The index of the step at this time of the loop.
  package func index(atMicroseconds time: Int) -> Int {
    var (low, high) = (0, conditions.count - 1)
    while low < high {
      let middle = (low + high) / 2
      if endsMicroseconds[middle] > time { high = middle } else { low = middle + 1 }
    }
    return low
  }
}

/// The reason why a trace cannot be played.
package enum LinkTraceError: Error, Hashable, Sendable {
  /// The trace is not JSON.
  case json(JSONError)
  /// The trace has no steps, or too many.
  case stepCount(Int, limit: Int)
  /// This number of a step, counted from 0, is absent or out of range.
  case number(step: Int, member: String)
}

extension LinkTraceError: CustomStringConvertible {
  /// For example `step 3 of the trace: duration_ms is missing or out of range`.
  package var description: String {
    switch self {
    case .json(let error): "the trace is not JSON: \(error)"
    case .stepCount(let count, let limit): "the trace has \(count) steps, not 1 to \(limit)"
    case .number(let step, let member):
      "step \(step) of the trace: \(member) is missing or out of range"
    }
  }
}

/// The conditions of a link at a time.
package struct LinkConditions: Hashable, Sendable {
  /// Kilobits (1000 bits) a second to the client; 0 if nothing passes, in either direction.
  package let downlinkKbps: Int
  /// Kilobits a second from the client; 0 if nothing passes, in either direction.
  package let uplinkKbps: Int
  /// The time that a packet takes, in each direction.
  package let latencyMicroseconds: Int
  /// The percentage of packets that have to be sent again.
  package let lossPercent: Int

  /// The maximum rate: that of a `NetworkProfile`.
  package static let rateLimitKbps = 1_000_000_000
  /// The maximum latency: half of the longest round trip of a `NetworkProfile`.
  package static let latencyLimitMicroseconds = 300_000_000

  /// Creates conditions; each figure is clamped to the limits of a `NetworkProfile`.
  package init(
    downlinkKbps: Int, uplinkKbps: Int, latencyMicroseconds: Int = 0, lossPercent: Int = 0
  ) {
    self.downlinkKbps = min(max(downlinkKbps, 0), Self.rateLimitKbps)
    self.uplinkKbps = min(max(uplinkKbps, 0), Self.rateLimitKbps)
    self.latencyMicroseconds = min(max(latencyMicroseconds, 0), Self.latencyLimitMicroseconds)
    self.lossPercent = min(max(lossPercent, 0), 100)
  }

  /// Creates the conditions of a profile; each direction takes half of its round trip.
  package init(_ profile: NetworkProfile) {
    self.init(
      downlinkKbps: profile.downlinkKbps, uplinkKbps: profile.uplinkKbps,
      latencyMicroseconds: min(max(profile.roundTripMilliseconds, 0), 600_000) * 500,
      lossPercent: profile.lossPercent)
  }

  /// The time there and back.
  package var roundTripMicroseconds: Int { 2 * latencyMicroseconds }
  /// Whether anything passes.
  package var isUp: Bool { downlinkKbps > 0 && uplinkKbps > 0 && lossPercent < 100 }
  /// The time after which the sender knows that a packet was lost, and sends it again: at least a
  /// millisecond, even without latency.
  package var resendMicroseconds: Int { max(roundTripMicroseconds, 1_000) }
}
