import HTTP
import Synchronization
import System

/// What took how long, told to a client that asks for it with `Prefer: server-timing` (RFC 7240) in
/// `Server-Timing` (W3C Server Timing, section 4).
final class Timing: Sendable {
  /// What is measured of an answer.
  enum Step: String {
    case cut, read, encode, compress
  }

  private let start = MonotonicClock.nanoseconds
  private let steps = Mutex<[(step: Step, nanoseconds: UInt64)]>([])

  private init() {}

  /// `nil` where the client does not ask.
  static func asked(by fields: borrowing Fields) -> Timing? {
    guard let preferences = fields.combined("Prefer"),
      preferences.split(separator: ",").contains(where: {
        $0.prefix { $0 != ";" }.filter { $0 != " " && $0 != "\t" }.asciiLowercased
          == "server-timing"
      })
    else { return nil }
    return Timing()
  }

  func measure<Result>(_ step: Step, _ body: () throws -> Result) rethrows -> Result {
    let start = MonotonicClock.nanoseconds
    defer { end(step, start) }
    return try body()
  }

  fileprivate func end(_ step: Step, _ start: UInt64) {
    let taken = MonotonicClock.nanoseconds - start
    steps.withLock { steps in
      // A repeated step, as when a page was not all at hand, is counted as one longer step.
      if let index = steps.firstIndex(where: { $0.step == step }) {
        steps[index].nanoseconds += taken
      } else {
        steps.append((step, taken))
      }
    }
  }

  func describe(in fields: inout Fields) {
    let total = MonotonicClock.nanoseconds - start
    let steps = steps.withLock { $0 }.map { ($0.step.rawValue, $0.nanoseconds) }
    let values = (steps + [("total", total)]).map { name, nanoseconds in
      "\(name);dur=\(Self.milliseconds(nanoseconds))"
    }
    fields.append("Server-Timing", values.joined(separator: ", "))
    fields.append("Timing-Allow-Origin", "*")
    fields.append("Preference-Applied", "server-timing")
  }

  /// With three decimals: whole microseconds.
  private static func milliseconds(_ nanoseconds: UInt64) -> String {
    let micros = nanoseconds / 1000
    let rest = String(micros % 1000)
    return "\(micros / 1000).\(String(repeating: "0", count: 3 - rest.count))\(rest)"
  }
}

extension Timing? {
  /// Measures if the caller wants it.
  func measure<Result>(_ step: Timing.Step, _ body: () throws -> Result) rethrows -> Result {
    guard let self else { return try body() }
    return try self.measure(step, body)
  }

  /// Where a step begins that ends elsewhere.
  func begin() -> UInt64 { self == nil ? 0 : MonotonicClock.nanoseconds }

  /// The end of the step that began there.
  func end(_ step: Timing.Step, _ start: UInt64) { self?.end(step, start) }
}
