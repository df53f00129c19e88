import Prefetch

/// What the client measures of the link: by `LinkMeter`, as the client library does, from the bytes that come.
extension Simulation {
  /// How often the meter is asked while something comes; a client asks it whenever it reads.
  private static let stepMicroseconds = 50_000

  /// An answer's head is there.
  mutating func beginMetering(_ index: Int) {
    let now = link.nowMicroseconds
    transfers[index].meteredBytes = 0
    let id = transfers[index].id
    explain("the answer to \(id) begins")
    meter.answered(
      afterMilliseconds: (now - transfers[index].askedMicroseconds) / 1_000, at: now / 1_000)
    metersMicroseconds = min(
      metersMicroseconds, now + LinkMeter.leastMilliseconds * 1_000)
  }

  /// Looks at what has come of all answers.
  mutating func measure() {
    var bytes = 0
    for index in transfers.indices {
      guard let metered = transfers[index].meteredBytes,
        let came = link.bytes(of: transfers[index].id)
      else { continue }
      bytes += came - metered
      transfers[index].meteredBytes = came
    }
    let now = link.nowMicroseconds
    let measurement = meter.arrived(bytes, at: now / 1_000)
    let next = measurement == nil ? Self.stepMicroseconds : LinkMeter.leastMilliseconds * 1_000
    metersMicroseconds = meter.receiving > 0 ? now + next : .max
    tell(measurement)
  }

  /// An answer has ended, or nobody wants the rest of it.
  ///
  /// - Parameter bytes: how many of its body have come.
  /// - Returns: what that says of the link.
  @discardableResult
  mutating func endMetering(_ id: Int, bytes: Int?) -> LinkMeter.Measurement? {
    guard let index = transfers.firstIndex(where: { $0.id == id }), let bytes,
      let metered = transfers[index].meteredBytes
    else { return nil }
    transfers[index].meteredBytes = nil
    let now = link.nowMicroseconds / 1_000
    let arrived = meter.arrived(bytes - metered, at: now)
    let ended = meter.ended(at: now)
    if meter.receiving == 0 { metersMicroseconds = .max }
    return ended ?? arrived
  }

  /// Tells the engine; of a strategy that does not decide anew for it, what is about the same only once.
  mutating func tell(_ measurement: LinkMeter.Measurement?) {
    guard let measurement else { return }
    let change = abs(measurement.kilobitsPerSecond - toldKilobitsPerSecond)
    guard decidesWithEachPiece || change * 20 > toldKilobitsPerSecond else { return }
    toldKilobitsPerSecond = measurement.kilobitsPerSecond
    tell(
      .bandwidthMeasured(
        kilobitsPerSecond: measurement.kilobitsPerSecond,
        roundTripMilliseconds: measurement.roundTripMilliseconds))
  }
}
