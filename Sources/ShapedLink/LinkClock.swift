import System

/// The time of a link, in nanoseconds since it began.
public enum LinkPace: Sendable, Hashable {
  /// So many seconds of the link pass in one of ours.
  case realTime(speed: Int = 1)
  /// It stands still, but for `ShapedLink.pass`.
  case byHand
}

/// Tells a link its time. Confined to the link's thread.
struct LinkClock {
  private let startNanoseconds: UInt64
  /// Nil where time passes by hand.
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

  /// When the link's time is that, on `MonotonicClock`; nil where it does not pass by itself.
  func moment(of time: UInt64) -> UInt64? {
    speed.map { startNanoseconds + (time + $0 - 1) / $0 }
  }
}
