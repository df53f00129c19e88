import JSON
import Prefetch

/// What a link is like, from its first moment on: always the same, or a trace that is played in a loop.
package struct LinkSchedule: Hashable, Sendable {
  /// A stretch of a trace.
  package struct Step: Hashable, Sendable {
    /// How long it lasts.
    package let durationMilliseconds: Int
    /// What the link is like meanwhile.
    package let conditions: LinkConditions

    /// A stretch of this many milliseconds.
    package init(durationMilliseconds: Int, conditions: LinkConditions) {
      self.durationMilliseconds = durationMilliseconds
      self.conditions = conditions
    }
  }

  /// How many steps a trace has at the most.
  package static let stepLimit = 100_000
  /// How long a step lasts at the most: a day.
  package static let stepLimitMilliseconds = 86_400_000

  /// The steps; one that lasts always where there are no `endsMicroseconds`.
  package let conditions: [LinkConditions]
  /// When each step ends, from the beginning of the loop.
  package let endsMicroseconds: [Int]

  /// The same all the time.
  package init(_ conditions: LinkConditions) {
    self.conditions = [conditions]
    endsMicroseconds = []
  }

  /// A profile's figures, all the time.
  package init(_ profile: NetworkProfile) { self.init(LinkConditions(profile)) }

  /// The steps, one after the other and then from the first again.
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

  /// The same, but nothing passes at the end of every period, in milliseconds.
  package func interrupted(everyMilliseconds period: Int, forMilliseconds dead: Int) -> LinkSchedule
  {
    precondition(0 < dead && dead < period)
    let (up, period) = ((period - dead) * 1_000, period * 1_000)
    // A loop of whole periods, in which a trace plays on behind each gap.
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
      // What is asked for meanwhile goes out when the gap is over, over the same link.
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

  /// A trace as it is recorded: a JSON list of objects with `duration_ms`, `bandwidth_kbps` and `latency_ms`,
  /// whole numbers all of them. The bandwidth is that of each direction, the latency there and back.
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

  /// How long it plays before it begins again; `nil` where it is always the same.
  package var loopMicroseconds: Int? { endsMicroseconds.last }

  /// The index of the step that plays at this time of the loop.
  package func index(atMicroseconds time: Int) -> Int {
    var (low, high) = (0, conditions.count - 1)
    while low < high {
      let middle = (low + high) / 2
      if endsMicroseconds[middle] > time { high = middle } else { low = middle + 1 }
    }
    return low
  }
}

/// Why a trace cannot be played.
package enum LinkTraceError: Error, Hashable, Sendable {
  /// It is no JSON.
  case json(JSONError)
  /// It has no steps, or too many.
  case stepCount(Int, limit: Int)
  /// A step, counted from 0, lacks this number, or it cannot be such.
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

/// What a link is like at a time.
package struct LinkConditions: Hashable, Sendable {
  /// Kilobits (1000 bits) a second to the client; 0 where nothing passes, either way.
  package let downlinkKbps: Int
  /// Kilobits a second from the client; 0 where nothing passes, either way.
  package let uplinkKbps: Int
  /// How long a packet is under way, in either direction.
  package let latencyMicroseconds: Int
  /// How many packets of a hundred have to be sent again.
  package let lossPercent: Int

  /// What a `NetworkProfile` may have.
  package static let rateLimitKbps = 1_000_000_000
  /// The same: half of the longest round trip.
  package static let latencyLimitMicroseconds = 300_000_000

  /// A link of these figures; one beyond what a `NetworkProfile` may have is the greatest or least that it
  /// may.
  package init(
    downlinkKbps: Int, uplinkKbps: Int, latencyMicroseconds: Int = 0, lossPercent: Int = 0
  ) {
    self.downlinkKbps = min(max(downlinkKbps, 0), Self.rateLimitKbps)
    self.uplinkKbps = min(max(uplinkKbps, 0), Self.rateLimitKbps)
    self.latencyMicroseconds = min(max(latencyMicroseconds, 0), Self.latencyLimitMicroseconds)
    self.lossPercent = min(max(lossPercent, 0), 100)
  }

  /// As the profile has it; each way takes half of its round trip.
  package init(_ profile: NetworkProfile) {
    self.init(
      downlinkKbps: profile.downlinkKbps, uplinkKbps: profile.uplinkKbps,
      latencyMicroseconds: min(max(profile.roundTripMilliseconds, 0), 600_000) * 500,
      lossPercent: profile.lossPercent)
  }

  /// There and back.
  package var roundTripMicroseconds: Int { 2 * latencyMicroseconds }
  /// Whether anything passes.
  package var isUp: Bool { downlinkKbps > 0 && uplinkKbps > 0 && lossPercent < 100 }
  /// After how long the sender knows that a packet was lost, and sends it again; some time passes even
  /// where the way takes none.
  package var resendMicroseconds: Int { max(roundTripMicroseconds, 1_000) }
}
