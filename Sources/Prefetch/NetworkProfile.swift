/// A kind of network, by the figures that loading ahead depends on.
///
/// The first ones are those of Apple's Network Link Conditioner, with which the articles measured.
public struct NetworkProfile: Hashable, Sendable {
  /// What `network=` calls it.
  public let name: String
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
  /// The profile for what is known of the client's network; `nil` for a name that is none.
  ///
  /// Measured figures fall into the fastest profile that promises no more than was measured, so that
  /// all clients share a few plans and a shared cache keeps a few pages; below all of them, into the
  /// slowest that delivers anything.
  public func profile(for query: NetworkQuery) -> NetworkProfile? {
    switch query {
    case .profile(let name): first { $0.name == name }
    case .measured(let downlinkKbps, let roundTrip):
      profile(downlinkKbps: downlinkKbps, roundTripMilliseconds: roundTrip)
    case .effectiveType(let type): first { $0.effectiveType == type } ?? defaultProfile
    case .unknown: defaultProfile
    }
  }

  /// The profile that applies where nothing is known.
  public var defaultProfile: NetworkProfile? { first(where: \.isDefault) ?? first }

  private func profile(downlinkKbps: Int?, roundTripMilliseconds: Int?) -> NetworkProfile? {
    if downlinkKbps == 0 { return self.min { $0.downlinkKbps < $1.downlinkKbps } }
    let working = filter { $0.downlinkKbps > 0 }
      .sorted {
        ($0.downlinkKbps, $1.roundTripMilliseconds) > ($1.downlinkKbps, $0.roundTripMilliseconds)
      }
    let promised = working.first { profile in
      (downlinkKbps.map { profile.downlinkKbps <= $0 } ?? true)
        && (roundTripMilliseconds.map { profile.roundTripMilliseconds >= $0 } ?? true)
    }
    return promised ?? working.last
  }
}
