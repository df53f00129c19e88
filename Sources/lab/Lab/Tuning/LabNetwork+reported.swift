import LinkModel
import Prefetch

extension LabNetwork {
  /// Creates a link as clients measured it.
  ///
  /// - Parameter profile: the network that the server takes it for: the client's assumptions before it has
  ///   measured, and the source of what it does not measure.
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

  /// The minimum bandwidth; slower links are raised to it.
  private static let leastKbps = 16
}
