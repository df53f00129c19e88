import JSON
import Prefetch

/// What a link is like, from its first moment on: always the same, or a trace that is played in a loop.
public struct LinkSchedule: Sendable, Hashable {
  /// A stretch of a trace.
  public struct Step: Sendable, Hashable {
    /// How long it lasts.
    public let durationMilliseconds: Int
    /// What the link is like meanwhile.
    public let conditions: LinkConditions

    /// A stretch of so many milliseconds.
    public init(durationMilliseconds: Int, conditions: LinkConditions) {
      self.durationMilliseconds = durationMilliseconds
      self.conditions = conditions
    }
  }

  /// How many steps a trace has at most.
  public static let maximumSteps = 100_000
  /// How long a step lasts at most: a day.
  public static let maximumStepMilliseconds = 86_400_000

  private let conditions: [LinkConditions]
  /// When each step ends, in nanoseconds from the beginning; empty where there is one that has no end.
  private let ends: [UInt64]

  /// The same all the time.
  public init(_ conditions: LinkConditions) {
    self.conditions = [conditions]
    ends = []
  }

  /// A profile's figures, all the time.
  public init(_ profile: NetworkProfile) { self.init(LinkConditions(profile)) }

  /// The steps, one after the other and then from the first again.
  public init(loop steps: [Step]) throws(LinkTraceError) {
    guard (1...Self.maximumSteps).contains(steps.count) else {
      throw .stepCount(steps.count, limit: Self.maximumSteps)
    }
    var (end, ends) = (UInt64(0), [UInt64]())
    for (index, step) in steps.enumerated() {
      guard (1...Self.maximumStepMilliseconds).contains(step.durationMilliseconds) else {
        throw .number(step: index, member: "duration_ms")
      }
      end += UInt64(step.durationMilliseconds) * 1_000_000
      ends.append(end)
    }
    conditions = steps.map(\.conditions)
    self.ends = ends
  }

  /// A trace as it is recorded: a JSON list of objects with `duration_ms`, `bandwidth_kbps` and `latency_ms`,
  /// whole numbers all of them. The bandwidth is that of each direction, the latency there and back.
  public init(trace: [UInt8]) throws(LinkTraceError) {
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
      let rate = try number("bandwidth_kbps", 0...TokenBucket.maximumRateKbps)
      let latency = try number("latency_ms", 0...600_000)
      steps.append(
        Step(
          durationMilliseconds: try number("duration_ms", 1...Self.maximumStepMilliseconds),
          conditions: LinkConditions(
            downlinkKbps: rate, uplinkKbps: rate, latencyMicroseconds: latency * 500)))
    }
    try self.init(loop: steps)
  }

  /// What the link is like then, and until when; nil for always.
  func conditions(
    atNanoseconds time: UInt64
  ) -> (conditions: LinkConditions, untilNanoseconds: UInt64?) {
    guard let length = ends.last else { return (conditions[0], nil) }
    let inLoop = time % length
    // The first step that ends later.
    var (low, high) = (0, ends.count - 1)
    while low < high {
      let middle = (low + high) / 2
      if ends[middle] > inLoop { high = middle } else { low = middle + 1 }
    }
    return (conditions[low], time - inLoop + ends[low])
  }
}

/// Why a trace cannot be played.
public enum LinkTraceError: Error, Hashable, Sendable {
  /// It is no JSON.
  case json(JSONError)
  /// It has no steps, or too many.
  case stepCount(Int, limit: Int)
  /// A step, counted from 0, lacks this number, or it cannot be such.
  case number(step: Int, member: String)
}

extension LinkTraceError: CustomStringConvertible {
  /// For example `step 3 of the trace: duration_ms is missing or out of range`.
  public var description: String {
    switch self {
    case .json(let error): "the trace is not JSON: \(error)"
    case .stepCount(let count, let limit): "the trace has \(count) steps, not 1 to \(limit)"
    case .number(let step, let member):
      "step \(step) of the trace: \(member) is missing or out of range"
    }
  }
}
