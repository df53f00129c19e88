import Prefetch

/// What a link is like at a time.
public struct LinkConditions: Hashable, Sendable {
  /// Kilobits (1000 bits) a second to the client; 0 where nothing passes, either way.
  public let downlinkKbps: Int
  /// Kilobits a second from the client; 0 where nothing passes, either way.
  public let uplinkKbps: Int
  /// How long a packet is under way, in either direction.
  public let latencyMicroseconds: Int
  /// How many packets of a hundred have to be sent again.
  public let lossPercent: Int

  /// What a `NetworkProfile` may have.
  public static let rateLimitKbps = 1_000_000_000
  /// The same: half of the longest round trip.
  public static let latencyLimitMicroseconds = 300_000_000

  /// A link of these figures; one beyond what a `NetworkProfile` may have is the greatest or least that it
  /// may.
  public init(
    downlinkKbps: Int, uplinkKbps: Int, latencyMicroseconds: Int = 0, lossPercent: Int = 0
  ) {
    self.downlinkKbps = min(max(downlinkKbps, 0), Self.rateLimitKbps)
    self.uplinkKbps = min(max(uplinkKbps, 0), Self.rateLimitKbps)
    self.latencyMicroseconds = min(max(latencyMicroseconds, 0), Self.latencyLimitMicroseconds)
    self.lossPercent = min(max(lossPercent, 0), 100)
  }

  /// As the profile has it; each way takes half of its round trip.
  public init(_ profile: NetworkProfile) {
    self.init(
      downlinkKbps: profile.downlinkKbps, uplinkKbps: profile.uplinkKbps,
      latencyMicroseconds: min(max(profile.roundTripMilliseconds, 0), 600_000) * 500,
      lossPercent: profile.lossPercent)
  }

  /// There and back.
  public var roundTripMicroseconds: Int { 2 * latencyMicroseconds }
  /// Whether anything passes.
  public var isUp: Bool { downlinkKbps > 0 && uplinkKbps > 0 && lossPercent < 100 }
  /// After how long the sender knows that a packet was lost, and sends it again; some time passes even
  /// where the way takes none.
  public var resendMicroseconds: Int { max(roundTripMicroseconds, 1_000) }
}
