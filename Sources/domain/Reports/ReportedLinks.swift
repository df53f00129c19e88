/// How fast links were, as clients measured them: of each part that says it, its bandwidth and its round trip.
public struct ReportedLinks: Hashable, Sendable {
  /// Kilobits a second, in the bins of durations.
  public var downlinks = DurationBins()
  /// Milliseconds there and back.
  public var roundTrips = DurationBins()

  /// Nothing measured.
  public init() {}

  /// What a part says. Nothing that came in a part says how fast a link was that was down.
  public init(_ part: ReportPart) {
    guard let downlink = part.downlinkKbps, downlink > 0 else { return }
    downlinks.add(milliseconds: Double(downlink))
    if let roundTrip = part.roundTripMilliseconds {
      roundTrips.add(milliseconds: Double(roundTrip))
    }
  }

  /// Adds what others measured.
  public mutating func add(_ other: ReportedLinks) {
    downlinks.add(other.downlinks)
    roundTrips.add(other.roundTrips)
  }

  /// How many parts say it.
  public var count: Int { downlinks.total }

  /// Links that stand for all of them, as many as are asked for, from the slowest on: each for as many parts. Slow links are
  /// taken for those with long round trips, since it is not counted which went with which.
  ///
  /// - Returns: none where nothing was measured; a round trip is nil where none was.
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
