import LinkModel

/// What may pass a link: in any time t no more than its rate times t and one bucket more, and whoever waits
/// for as long as `readyNanoseconds` says gets through.
///
/// It reads no clock, and counts in millionths of a bit, which a kilobit a second gains each nanosecond: all
/// of it is exact. Time that goes back is as none that passes.
package struct TokenBucket: Sendable, Hashable {
  private static let unitsPerByte = 8_000_000

  /// The greatest rate, in kilobits a second: what a `NetworkProfile` may have.
  package static let maximumRateKbps = LinkConditions.rateLimitKbps
  /// The greatest bucket.
  package static let maximumBurstBytes = 1 << 30

  /// Kilobits that it gains a second; 0 where nothing passes but what is in it.
  package private(set) var rateKbps: Int
  /// What it holds at most.
  package let burstBytes: Int
  private var units: Int
  private var timeNanoseconds: UInt64

  private var capacityUnits: Int { burstBytes * Self.unitsPerByte }

  /// A full bucket; a rate or a size beyond what it can have is the greatest or least that it can.
  package init(rateKbps: Int, burstBytes: Int, atNanoseconds time: UInt64 = 0) {
    self.rateKbps = rateKbps.clamped(to: 0...Self.maximumRateKbps)
    self.burstBytes = burstBytes.clamped(to: 1...Self.maximumBurstBytes)
    timeNanoseconds = time
    units = self.burstBytes * Self.unitsPerByte
  }

  /// Takes this many bytes out; false, and nothing is taken, where they are not all there.
  package mutating func take(_ bytes: Int, atNanoseconds time: UInt64) -> Bool {
    fill(untilNanoseconds: time)
    guard bytes <= burstBytes, bytes * Self.unitsPerByte <= units else { return false }
    units -= bytes * Self.unitsPerByte
    return true
  }

  /// When this many bytes will be there if none is taken before; nil for never, as more than it holds, or
  /// any at a rate of 0.
  package func readyNanoseconds(forBytes bytes: Int, atNanoseconds time: UInt64) -> UInt64? {
    guard bytes <= burstBytes else { return nil }
    var later = self
    later.fill(untilNanoseconds: time)
    let missing = bytes * Self.unitsPerByte - later.units
    if missing <= 0 { return time }
    guard rateKbps > 0 else { return nil }
    let (ready, isBeyondTime) = time.addingReportingOverflow(
      UInt64((missing + rateKbps - 1) / rateKbps))
    return isBeyondTime ? nil : ready
  }

  /// Throws away what it holds.
  package mutating func empty(atNanoseconds time: UInt64) {
    fill(untilNanoseconds: time)
    units = 0
  }

  /// Goes on at another rate from then on.
  package mutating func setRate(kbps: Int, atNanoseconds time: UInt64) {
    fill(untilNanoseconds: time)
    rateKbps = kbps.clamped(to: 0...Self.maximumRateKbps)
  }

  private mutating func fill(untilNanoseconds time: UInt64) {
    guard time > timeNanoseconds else { return }
    let elapsed = time - timeNanoseconds
    timeNanoseconds = time
    guard rateKbps > 0 else { return }
    let missing = capacityUnits - units
    // Below this it is no more than what is missing: the product cannot overflow.
    if elapsed > UInt64(missing / rateKbps) {
      units = capacityUnits
    } else {
      units += rateKbps * Int(elapsed)
    }
  }
}

extension Comparable {
  func clamped(to range: ClosedRange<Self>) -> Self {
    min(max(self, range.lowerBound), range.upperBound)
  }
}
