import Prefetch

/// What a link is like at a time.
public struct LinkConditions: Sendable, Hashable {
  /// Kilobits a second to the client; 0 where nothing arrives.
  public let downlinkKbps: Int
  /// Kilobits a second from the client.
  public let uplinkKbps: Int
  /// How long a byte is under way, in either direction, beside the time that its packet takes to send.
  public let latencyMicroseconds: Int
  /// How many packets of a hundred have to be sent again.
  public let lossPercent: Int

  /// A link of these figures; one beyond what a `NetworkProfile` may have is the greatest or least that it
  /// may.
  public init(
    downlinkKbps: Int, uplinkKbps: Int, latencyMicroseconds: Int = 0, lossPercent: Int = 0
  ) {
    self.downlinkKbps = downlinkKbps.clamped(to: 0...TokenBucket.maximumRateKbps)
    self.uplinkKbps = uplinkKbps.clamped(to: 0...TokenBucket.maximumRateKbps)
    self.latencyMicroseconds = latencyMicroseconds.clamped(to: 0...300_000_000)
    self.lossPercent = lossPercent.clamped(to: 0...100)
  }

  /// As the profile has it; each way takes half of its round trip.
  public init(_ profile: NetworkProfile) {
    self.init(
      downlinkKbps: profile.downlinkKbps, uplinkKbps: profile.uplinkKbps,
      latencyMicroseconds: profile.roundTripMilliseconds.clamped(to: 0...600_000) * 500,
      lossPercent: profile.lossPercent)
  }

  var latencyNanoseconds: UInt64 { UInt64(latencyMicroseconds) * 1000 }

  /// After how long the sender knows that a packet was lost, and sends it again; some time passes even
  /// where the way takes none.
  var resendNanoseconds: UInt64 { max(2 * latencyNanoseconds, 1_000_000) }

  func rateKbps(_ way: LinkWay) -> Int { way == .down ? downlinkKbps : uplinkKbps }
}

/// A direction of a link.
public enum LinkWay: Hashable, Sendable, CaseIterable {
  /// From the client to the server.
  case up
  /// From the server to the client.
  case down
}
