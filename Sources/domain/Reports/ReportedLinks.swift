/// The speeds of links that clients measured: the bandwidth and the round trip of each part that reports
/// them.
public struct ReportedLinks: Hashable, Sendable {
  /// Bandwidths in kilobits per second, in the bins of durations.
  public var downlinks = DurationBins()
  /// Round-trip times in milliseconds.
  public var roundTrips = DurationBins()

  /// Creates empty measurements.
  public init() {}

  /// Creates the measurements of a part. Ignores a bandwidth of 0: a part that arrived says nothing about
  /// the speed of a link that was down.
  public init(_ part: ReportPart) {
    guard let downlink = part.downlinkKbps, downlink > 0 else { return }
    downlinks.add(milliseconds: Double(downlink))
    if let roundTrip = part.roundTripMilliseconds {
      roundTrips.add(milliseconds: Double(roundTrip))
    }
  }

  /// Adds other measurements.
  public mutating func add(_ other: ReportedLinks) {
    downlinks.add(other.downlinks)
    roundTrips.add(other.roundTrips)
  }

  /// The number of parts with measurements.
  public var count: Int { downlinks.total }

  /// Returns a number of representative links, the slowest first, each for the same number of parts. It
  /// pairs slow links with long round trips, because the pairs are not recorded.
  ///
  /// - Returns: The links, empty if nothing was measured; a round trip is `nil` if none was measured.
  public func quantiles(
    _ number: Int
  ) -> [(downlinkKbps: Int, roundTripMilliseconds: Int?)] {
    (0..<number).compactMap { place in
      let share = (Double(place) + 0.5) / Double(number)
      guard let downlink = downlinks.milliseconds(atQuantile: share) else { return nil }
      let roundTrip = roundTrips.milliseconds(atQuantile: 1 - share)
      return (Int(downlink.rounded(.up)), roundTrip.map { Int($0.rounded()) })
    }
  }
}
