import LinkModel
import System

/// The pace of a link's time, which is in nanoseconds since the link began.
package enum LinkPace: Sendable, Hashable {
  /// Real time; `speed` is the number of seconds of the link in a second of the wall clock.
  case realTime(speed: Int = 1)
  /// No time passes, except by `ShapedLink.pass`.
  case byHand
}

/// The clock of a link. Confined to the link's thread.
struct LinkClock {
  private let startNanoseconds: UInt64
  /// The speed; nil if time passes by hand.
  private let speed: UInt64?
  private var passedNanoseconds: UInt64 = 0

  init(_ pace: LinkPace) {
    startNanoseconds = MonotonicClock.nanoseconds
    speed =
      if case .realTime(let speed) = pace { UInt64(speed.clamped(to: 1...1000)) } else { nil }
  }

  var nanoseconds: UInt64 {
    guard let speed else { return passedNanoseconds }
    return (MonotonicClock.nanoseconds - startNanoseconds) * speed
  }

  mutating func pass(nanoseconds: UInt64) { passedNanoseconds += nanoseconds }

  /// The time on `MonotonicClock` at which the link's time is this; nil if it does not pass by itself.
  func moment(of time: UInt64) -> UInt64? {
    speed.map { startNanoseconds + (time + $0 - 1) / $0 }
  }
}

/// The model's times in nanoseconds, the unit of a shaped link.
extension LinkConditions {
  var latencyNanoseconds: UInt64 { UInt64(latencyMicroseconds) * 1_000 }
  var resendNanoseconds: UInt64 { UInt64(resendMicroseconds) * 1_000 }

  func rateKbps(_ way: LinkWay) -> Int { way == .down ? downlinkKbps : uplinkKbps }
}

extension LinkSchedule {
  /// The conditions at a time, and until when they last; nil for always.
  func conditions(
    atNanoseconds time: UInt64
  ) -> (conditions: LinkConditions, untilNanoseconds: UInt64?) {
    guard let loop = loopMicroseconds else { return (conditions[0], nil) }
    let inLoop = time % (UInt64(loop) * 1_000)
    let index = index(atMicroseconds: Int(inLoop / 1_000))
    return (conditions[index], time - inLoop + UInt64(endsMicroseconds[index]) * 1_000)
  }
}

/// A direction of a link.
package enum LinkWay: Hashable, Sendable, CaseIterable {
  /// From the client to the server.
  case up
  /// From the server to the client.
  case down
}
