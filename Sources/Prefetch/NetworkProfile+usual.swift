extension NetworkProfile {
  /// The profiles that a new database has (migration 0002), for whoever measures without one.
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
