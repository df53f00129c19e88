import Feed

/// A kind of network, by the figures that loading ahead depends on.
///
/// The first ones are those of Apple's Network Link Conditioner, with which the articles measured.
public struct NetworkProfile: Hashable, Sendable {
  /// What `network=` calls it.
  @ByBytes public private(set) var name: String
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
  /// It applies if a request names none.
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
  /// A downlink of `cappedDownlinkKbps` or more is taken for any bandwidth.
  case measured(
    downlinkKbps: Int?, roundTripMilliseconds: Int?, effectiveType: String? = nil)
  /// The `ECT` client hint.
  case effectiveType(String)
  case unknown

  /// Browsers say no more than 10 Mbit/s, lest they can be told apart by it (Network Information API,
  /// section 8; Chromium's `kMaxDownlinkKbps`): on fibre it is 10 Mbit/s as well. So that more bandwidth never
  /// means a slower profile, a greater figure means the same.
  public static let cappedDownlinkKbps = 10_000
}

/// The kinds of network of the Network Information API, section 6, by the round trips from which browsers
/// tell them (Chromium's thresholds of HTTP round trips); a greater one is slower.
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
  /// The profile for what is known of the client's network; `nil` for a name that is none, where there are no profiles,
  /// and for a link that delivers something where none of them does.
  ///
  /// Measured figures fall into few profiles, so that all clients share a few plans and a shared cache
  /// keeps a few pages: into the fastest one without loss that promises no more bandwidth than was
  /// measured (from `cappedDownlinkKbps` on any), and no more than the network that the round trip, or the `ECT` beside it, means. Slower than
  /// all of them is the slowest that delivers anything; a downlink of 0 is the one on which nothing does.
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

  /// The profile that applies where nothing is known; the first where none is marked as the default.
  public var defaultProfile: NetworkProfile? { first(where: \.isDefault) ?? first }

  private func profile(downlinkKbps: Int?, kind: EffectiveType?) -> NetworkProfile? {
    if downlinkKbps == 0 { return self.min { $0.downlinkKbps < $1.downlinkKbps } }
    let working = filter { $0.downlinkKbps > 0 }.sorted { $0.downlinkKbps > $1.downlinkKbps }
    let measured = downlinkKbps.flatMap { $0 < NetworkQuery.cappedDownlinkKbps ? $0 : nil }
    func isWithin(_ limit: Int?, _ profile: NetworkProfile) -> Bool {
      limit.map { profile.downlinkKbps <= $0 } ?? true
    }
    // The farthest network may lose packets, and is the one meant where it promises no more than there is.
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
  /// The profiles that a new database has (`Migrations/sqlite/0001-store.sql`), for measurements without a database.
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
