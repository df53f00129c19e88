import Feed

/// A kind of network, with the figures that prefetching depends on.
///
/// The first profiles are those of Apple's Network Link Conditioner, with which the articles measured.
public struct NetworkProfile: Hashable, Sendable {
  /// The name in `network=`.
  @ByBytes public private(set) var name: String
  /// The display name.
  public let title: String
  /// The bandwidth to the client, in kilobits a second; 0 if nothing arrives.
  public let downlinkKbps: Int
  /// The bandwidth from the client, in kilobits a second.
  public let uplinkKbps: Int
  /// The round-trip time.
  public let roundTripMilliseconds: Int
  /// The packet loss, in percent.
  public let lossPercent: Int
  /// The value of the `ECT` client hint that means this network (Network Information API, section 6).
  public let effectiveType: String?
  /// Whether the profile applies to requests that name none.
  public let isDefault: Bool

  /// Creates a profile of these figures; by default without loss or `ECT`, and not the default.
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

/// The information about a client's network.
public enum NetworkQuery: Hashable, Sendable {
  /// A profile's name.
  case profile(String)
  /// Figures that the client measured, either or both. A downlink of `cappedDownlinkKbps` or more counts as
  /// no limit.
  case measured(
    downlinkKbps: Int?, roundTripMilliseconds: Int?, effectiveType: String? = nil)
  /// The `ECT` client hint.
  case effectiveType(String)
  case unknown

  /// The highest downlink that browsers report, even on fibre, so that it does not identify them (Network
  /// Information API, section 8; Chromium's `kMaxDownlinkKbps`). Greater figures are treated as equal to it,
  /// so that more bandwidth never means a slower profile.
  public static let cappedDownlinkKbps = 10_000
}

/// The kinds of network of the Network Information API, section 6, with the round trips from which browsers
/// derive them (Chromium's thresholds of HTTP round trips); a greater one is slower.
private enum EffectiveType: String, CaseIterable, Comparable {
  case fast = "4g"
  case third = "3g"
  case second = "2g"
  case slow = "slow-2g"

  private var shortestRoundTripMilliseconds: Int {
    switch self {
    case .fast: 0
    case .third: 270
    case .second: 1_400
    case .slow: 2_000
    }
  }

  init(roundTripMilliseconds: Int) {
    self = Self.allCases.last { $0.shortestRoundTripMilliseconds <= roundTripMilliseconds } ?? .fast
  }

  static func < (left: EffectiveType, right: EffectiveType) -> Bool {
    left.shortestRoundTripMilliseconds < right.shortestRoundTripMilliseconds
  }
}

extension [NetworkProfile] {
  /// The profile that matches a query; `nil` for an unknown name, if there are no profiles, and for a link
  /// that delivers data if no profile does.
  ///
  /// Measured figures map to few profiles, so that all clients share a few plans and a shared cache keeps a
  /// few pages: to the fastest profile without loss that promises no more bandwidth than was measured (below
  /// `cappedDownlinkKbps`), and no more than the network that the round trip, or the `ECT` beside it, means.
  /// A link slower than all profiles maps to the slowest that delivers anything; a downlink of 0 maps to the
  /// slowest of all, which may deliver nothing.
  public func profile(for query: NetworkQuery) -> NetworkProfile? {
    switch query {
    case .profile(let name): first { $0.name.isSame(as: name) }
    case .measured(let downlinkKbps, let roundTrip, let type):
      profile(
        downlinkKbps: downlinkKbps,
        kind: [
          roundTrip.map(EffectiveType.init(roundTripMilliseconds:)),
          type.flatMap(EffectiveType.init(rawValue:)),
        ]
        .compactMap { $0 }.max())
    case .effectiveType(let type): first { $0.effectiveType == type } ?? defaultProfile
    case .unknown: defaultProfile
    }
  }

  /// The profile that applies if nothing is known: the one marked as the default, or else the first.
  public var defaultProfile: NetworkProfile? { first(where: \.isDefault) ?? first }

  private func profile(downlinkKbps: Int?, kind: EffectiveType?) -> NetworkProfile? {
    if downlinkKbps == 0 { return self.min { $0.downlinkKbps < $1.downlinkKbps } }
    let working = filter { $0.downlinkKbps > 0 }.sorted { $0.downlinkKbps > $1.downlinkKbps }
    let measured = downlinkKbps.flatMap { $0 < NetworkQuery.cappedDownlinkKbps ? $0 : nil }
    func isWithin(_ limit: Int?, _ profile: NetworkProfile) -> Bool {
      limit.map { profile.downlinkKbps <= $0 } ?? true
    }
    // The network of the slowest kind may lose packets; it is chosen if it promises no more than was
    // measured.
    let farthest = kind == .slow ? profile(meaning: .slow) : nil
    if let farthest, farthest.downlinkKbps > 0, isWithin(measured, farthest) { return farthest }
    let ceiling: Int? =
      switch kind {
      case nil, .fast: nil
      case .third: profile(meaning: .third)?.downlinkKbps
      case .second, .slow: profile(meaning: .second)?.downlinkKbps
      }
    return working.first {
      $0.lossPercent == 0 && isWithin(measured, $0) && isWithin(ceiling, $0)
    } ?? working.last
  }

  private func profile(meaning kind: EffectiveType) -> NetworkProfile? {
    first { $0.effectiveType == kind.rawValue }
  }
}

extension NetworkProfile {
  /// The profiles of a new database (`Migrations/sqlite/0001-store.sql`), for measurements without a
  /// database.
  public static let usual: [NetworkProfile] = [
    NetworkProfile(
      name: "lte", title: "LTE", downlinkKbps: 50_000, uplinkKbps: 10_000,
      roundTripMilliseconds: 115, effectiveType: "4g"),
    NetworkProfile(
      name: "wifi", title: "Wi-Fi", downlinkKbps: 40_000, uplinkKbps: 33_000,
      roundTripMilliseconds: 2),
    NetworkProfile(
      name: "dsl", title: "DSL", downlinkKbps: 2_000, uplinkKbps: 256, roundTripMilliseconds: 10),
    NetworkProfile(
      name: "very-bad", title: "Very bad network", downlinkKbps: 1_000, uplinkKbps: 1_000,
      roundTripMilliseconds: 1_000, lossPercent: 10, effectiveType: "slow-2g"),
    NetworkProfile(
      name: "3g", title: "3G", downlinkKbps: 780, uplinkKbps: 330, roundTripMilliseconds: 200,
      effectiveType: "3g", isDefault: true),
    NetworkProfile(
      name: "edge", title: "EDGE", downlinkKbps: 240, uplinkKbps: 200, roundTripMilliseconds: 800,
      effectiveType: "2g"),
    NetworkProfile(
      name: "offline", title: "100 % loss", downlinkKbps: 0, uplinkKbps: 0,
      roundTripMilliseconds: 0, lossPercent: 100),
  ]
}
