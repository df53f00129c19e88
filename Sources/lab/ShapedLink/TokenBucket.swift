import LinkModel

/// A token bucket. In any time t, no more passes than its rate times t and one bucket; a caller who waits for
/// as long as `readyNanoseconds` says gets through.
///
/// It reads no clock, and counts in millionths of a bit: a rate of one kilobit a second adds one each
/// nanosecond, so all of it is exact. Time that goes back counts as no time.
package struct TokenBucket: Sendable, Hashable {
  private static let unitsPerByte = 8_000_000

  /// The maximum rate in kilobits a second: that of a `NetworkProfile`.
  package static let maximumRateKbps = LinkConditions.rateLimitKbps
  /// The maximum size of a bucket.
  package static let maximumBurstBytes = 1 << 30

  /// The kilobits that it gains a second; at 0, nothing passes but its content.
  package private(set) var rateKbps: Int
  /// The maximum content.
  package let burstBytes: Int
  private var units: Int
  private var timeNanoseconds: UInt64

  private var capacityUnits: Int { burstBytes * Self.unitsPerByte }

  /// Creates a full bucket; rate and size are clamped to their limits.
  package init(rateKbps: Int, burstBytes: Int, atNanoseconds time: UInt64 = 0) {
    self.rateKbps = rateKbps.clamped(to: 0...Self.maximumRateKbps)
    self.burstBytes = burstBytes.clamped(to: 1...Self.maximumBurstBytes)
    timeNanoseconds = time
    units = self.burstBytes * Self.unitsPerByte
  }

  /// Takes out this many bytes; false, without taking any, if they are not all there.
  package mutating func take(_ bytes: Int, atNanoseconds time: UInt64) -> Bool {
    fill(untilNanoseconds: time)
    guard bytes <= burstBytes, bytes * Self.unitsPerByte <= units else { return false }
    units -= bytes * Self.unitsPerByte
    return true
  }

  /// The time at which this many bytes will be there if none are taken before; nil for never: more than it
  /// holds, or any at a rate of 0.
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

  /// Discards the content.
  package mutating func empty(atNanoseconds time: UInt64) {
    fill(untilNanoseconds: time)
    units = 0
  }

  /// Changes the rate from this time on.
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
    // The gain is no more than what is missing: the product cannot overflow.
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
