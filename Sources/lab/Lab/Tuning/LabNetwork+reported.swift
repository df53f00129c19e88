import LinkModel
import Prefetch

extension LabNetwork {
  /// A link as clients measured it.
  ///
  /// - Parameter profile: which network the server takes it for: what a client takes for granted before it has measured, and
  ///   what it does not measure.
  package init(downlinkKbps: Int, roundTripMilliseconds: Int?, on profile: NetworkProfile) {
    let downlink = max(Self.leastKbps, downlinkKbps)
    let roundTrip = roundTripMilliseconds ?? profile.roundTripMilliseconds
    let measured = NetworkProfile(
      name: "\(downlink) kbit/s, \(roundTrip) ms", title: profile.title, downlinkKbps: downlink,
      uplinkKbps: max(1, profile.uplinkKbps), roundTripMilliseconds: roundTrip,
      lossPercent: profile.lossPercent)
    name = measured.name
    schedule = LinkSchedule(measured)
    link = LinkSettings()
    expected = LinkConditions(profile)
  }

  /// Slower ones are as good as none.
  private static let leastKbps = 16
}
