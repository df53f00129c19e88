/// What is known of the network, and what restrains its use.
struct NetworkState: Equatable, Codable {
  var isOnline = true
  var isMetered = false
  var savesData = false
  var isStressed = false
  var isInBackground = false
  /// The last measured bandwidths, in kilobits a second.
  private var samples: [Int] = []
  /// Where in `samples` the next goes.
  private var nextSample = 0
  private var roundTrips: [Int] = []
  private var nextRoundTrip = 0
  private var measuredAt = 0
  /// The bandwidth as it is lately: by it, it is said what starts a clip.
  private(set) var downlinkKbps = 0
  /// The bandwidth to count on in time.
  private(set) var cautiousKbps = 0
  private(set) var roundTripMilliseconds = 0

  /// Whether the bandwidth is not only assumed.
  var isMeasured: Bool { !samples.isEmpty }

  /// For how long the link was measured, and for how long it stood still in that time.
  private var measuredMilliseconds = 0
  private var stoppedMilliseconds = 0

  /// How often the link stops for `outageMilliseconds`: so often that it stands still for the share of the time that
  /// was measured, beside what is assumed of a link that was not measured for long.
  var outageEveryMilliseconds: Int {
    (measuredMilliseconds + Self.priorMilliseconds) * Self.outageMilliseconds
      / (stoppedMilliseconds + Self.outageMilliseconds)
  }
  /// For how long a link stops that does: long outages are few, and most of the time that is lost.
  static let outageMilliseconds = 30_000

  /// The assumption: it weighs as much as two minutes with one outage.
  private static let priorMilliseconds = 120_000
  /// Beyond that a measurement says nothing of the time before it, in which nothing may have been on its way.
  private static let longestGapMilliseconds = 30_000
  /// A stop shorter than this is within what the bandwidth's quantile covers.
  private static let shortestOutageMilliseconds = 2_000
  /// A measurement is of at least this many bytes (`LinkMeter`), which at the usual bandwidth take a part of its time
  /// only: the rest of it the link stood still.
  private static let sampleBits = 131_072

  private static let sampleLimit = 16
  static let kbpsRange = 1...1_000_000_000
  static let roundTripRange = 0...600_000

  /// Takes the settings' figures as long as nothing was measured.
  mutating func measure(_ settings: PrefetchSettings, quantilePercent: Int) {
    let sorted = samples.sorted()
    downlinkKbps = Self.quantile(sorted, 50) ?? settings.downlinkKbps
    cautiousKbps = Self.quantile(sorted, quantilePercent) ?? settings.downlinkKbps
    roundTripMilliseconds =
      Self.quantile(roundTrips.sorted(), 50) ?? settings.roundTripMilliseconds
  }

  mutating func note(kilobitsPerSecond: Int, roundTripMilliseconds: Int?, at now: Int) {
    noteOutage(kilobitsPerSecond, now - measuredAt)
    measuredAt = now
    Self.add(
      min(max(kilobitsPerSecond, Self.kbpsRange.lowerBound), Self.kbpsRange.upperBound),
      to: &samples, at: &nextSample)
    guard let roundTripMilliseconds else { return }
    Self.add(
      min(max(roundTripMilliseconds, 0), Self.roundTripRange.upperBound), to: &roundTrips,
      at: &nextRoundTrip)
  }

  private mutating func noteOutage(_ kilobitsPerSecond: Int, _ elapsed: Int) {
    guard !samples.isEmpty else { return }
    let gap = min(elapsed, Self.longestGapMilliseconds)
    measuredMilliseconds = min(measuredMilliseconds + gap, 86_400_000)
    let took = min(Self.sampleBits / max(1, kilobitsPerSecond), gap)
    let stopped = took - Self.sampleBits / max(1, downlinkKbps)
    guard stopped >= Self.shortestOutageMilliseconds else { return }
    stoppedMilliseconds = min(stoppedMilliseconds + stopped, 86_400_000)
  }

  /// A network of which nothing is known yet.
  mutating func forget() {
    (samples, nextSample, roundTrips, nextRoundTrip) = ([], 0, [], 0)
    (measuredMilliseconds, stoppedMilliseconds) = (0, 0)
  }

  private static func add(_ value: Int, to samples: inout [Int], at next: inout Int) {
    if samples.count < sampleLimit {
      samples.append(value)
    } else {
      samples[next] = value
      next = (next + 1) % sampleLimit
    }
  }

  private static func quantile(_ sorted: [Int], _ percent: Int) -> Int? {
    sorted.isEmpty ? nil : sorted[min(sorted.count * percent / 100, sorted.count - 1)]
  }

  /// How many bytes may be held and under way ahead of the person, and what restrains them.
  func allowance(_ settings: PrefetchSettings) -> (bytes: Int, restraint: PrefetchReason.Restraint?)
  {
    // What is loaded ahead has room for itself within what is held at all.
    var least: (bytes: Int, restraint: PrefetchReason.Restraint?) = (
      min(settings.speculativeBytes, settings.heldBytes / 2), nil
    )
    let restraints: [(Bool, Int, PrefetchReason.Restraint)] = [
      (savesData, settings.saveDataSpeculativeBytes, .saveData),
      (isMetered, settings.meteredSpeculativeBytes, .metered),
      (isStressed, settings.stressSpeculativeBytes, .stress),
    ]
    for (holds, bytes, restraint) in restraints where holds && bytes < least.bytes {
      least = (bytes, restraint)
    }
    return least
  }

  /// The time that these bytes take at the bandwidth to count on.
  func milliseconds(_ bytes: Int) -> Int {
    // Kilobits a second are bits a millisecond; sizes of files are far from overflowing.
    (bytes * 8 + cautiousKbps - 1) / cautiousKbps
  }

  /// How much longer a new request of these bytes takes than the link is busy with it: a round trip, and what
  /// of further ones it has to wait because a connection begins slowly (RFC 6928, RFC 5681 section 3.1).
  func latencyMilliseconds(_ bytes: Int) -> Int {
    var (latency, window, left) = (roundTripMilliseconds, 14_600, bytes)
    while left > window {
      let pause = roundTripMilliseconds - milliseconds(window)
      guard pause > 0 else { break }
      latency += pause
      left -= window
      window *= 2
    }
    return latency
  }

  /// How many bytes arrive in so long a time.
  func bytes(inMilliseconds milliseconds: Int) -> Int {
    milliseconds.multipliedReportingOverflow(by: cautiousKbps).overflow
      ? Int.max / 8 : milliseconds * cautiousKbps / 8
  }
}
