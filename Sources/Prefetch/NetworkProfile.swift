/// A kind of network, by the figures that loading ahead depends on.
///
/// The first ones are those of Apple's Network Link Conditioner, with which the articles measured.
public struct NetworkProfile: Hashable, Sendable {
  /// What `network=` calls it.
  public let name: String
  /// What people call it.
  public let title: String
  /// Kilobits a second to the client; 0 where nothing arrives.
  public let downlinkKbps: Int
  /// Kilobits a second from the client.
  public let uplinkKbps: Int
  /// There and back.
  public let roundTripMilliseconds: Int
  /// Packets lost, in percent.
  public let lossPercent: Int
  /// The `ECT` client hint that means this network (Network Information API, section 6).
  public let effectiveType: String?
  /// Asked for by nobody, this one applies.
  public let isDefault: Bool

  /// A profile of these figures; no loss, no `ECT` and not the default unless they are given.
  public init(
    name: String, title: String, downlinkKbps: Int, uplinkKbps: Int, roundTripMilliseconds: Int,
    lossPercent: Int = 0, effectiveType: String? = nil, isDefault: Bool = false
  ) {
    self.name = name
    self.title = title
    self.downlinkKbps = downlinkKbps
    self.uplinkKbps = uplinkKbps
    self.roundTripMilliseconds = roundTripMilliseconds
    self.lossPercent = lossPercent
    self.effectiveType = effectiveType
    self.isDefault = isDefault
  }
}

/// What is known of a client's network.
public enum NetworkQuery: Hashable, Sendable {
  /// A profile's name.
  case profile(String)
  /// Figures that the client measured, either or both.
  case measured(downlinkKbps: Int?, roundTripMilliseconds: Int?)
  /// The `ECT` client hint.
  case effectiveType(String)
  case unknown
}

extension [NetworkProfile] {
  /// The profile for what is known of the client's network; `nil` for a name that is none, and where
  /// there are no profiles.
  ///
  /// Measured figures fall into few profiles, so that all clients share a few plans and a shared cache
  /// keeps a few pages: into the fastest one without loss that promises no more bandwidth than was
  /// measured and whose kind of network has such a round trip. Slower than all of them is the slowest;
  /// farther away than all of them, the farthest. A downlink of 0 is the one on which nothing arrives.
  public func profile(for query: NetworkQuery) -> NetworkProfile? {
    switch query {
    case .profile(let name): first { $0.name == name }
    case .measured(let downlinkKbps, let roundTrip):
      profile(downlinkKbps: downlinkKbps, roundTripMilliseconds: roundTrip)
    case .effectiveType(let type): first { $0.effectiveType == type } ?? defaultProfile
    case .unknown: defaultProfile
    }
  }

  /// The profile that applies where nothing is known; the first where none is marked as the default.
  public var defaultProfile: NetworkProfile? { first(where: \.isDefault) ?? first }

  private func profile(downlinkKbps: Int?, roundTripMilliseconds: Int?) -> NetworkProfile? {
    if downlinkKbps == 0 { return self.min { $0.downlinkKbps < $1.downlinkKbps } }
    let working = filter { $0.downlinkKbps > 0 }.sorted { $0.downlinkKbps > $1.downlinkKbps }
    // A round trip is usual for a profile where it, or a faster one, has a longer: a fast network with
    // the round trip of a radio link is still fast, one with that of a satellite is not.
    var usualRoundTrip = 0
    for profile in working where profile.lossPercent == 0 {
      usualRoundTrip = Swift.max(usualRoundTrip, profile.roundTripMilliseconds)
      if downlinkKbps.map({ profile.downlinkKbps <= $0 }) ?? true,
        roundTripMilliseconds.map({ $0 <= usualRoundTrip }) ?? true
      {
        return profile
      }
    }
    if let roundTripMilliseconds, roundTripMilliseconds > usualRoundTrip {
      return working.max { $0.roundTripMilliseconds < $1.roundTripMilliseconds }
    }
    return working.last
  }
}
