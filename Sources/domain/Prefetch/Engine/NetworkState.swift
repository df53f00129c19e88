/// The measured figures of the network, and the restraints on its use.
struct NetworkState: Equatable, Codable {
  var isOnline = true
  var isMetered = false
  var savesData = false
  var isStressed = false
  var isInBackground = false
  /// The recently measured bandwidths, in kilobits a second.
  private var samples = RecentNumbers()
  private var roundTrips = RecentNumbers()
  private var parallel = ParallelRates()
  private var measuredAt = 0
  /// The median of the recent bandwidths, which decides how many bytes start a clip.
  private(set) var downlinkKbps = 0
  /// The bandwidth to rely on for bytes that must arrive in time: the strategy's quantile.
  private(set) var cautiousKbps = 0
  private(set) var roundTripMilliseconds = 0

  /// The bandwidth that the client measured before the engine began. It holds on that network until the
  /// engine measures.
  private var toldKbps: Int?
  /// Measures the link for a client that does not. If the client measures, only its measurements count. So
  /// the first measurement here waits for the second: the client may report its own after the bytes.
  private var arrivals = ArrivalMeter()
  private var waitingKbps: Int?
  private var clientMeasures = false

  /// Whether the bandwidth is measured rather than assumed.
  var isMeasured: Bool { samples.count > 0 || toldKbps != nil }

  /// Whether several transfers at a time bring more than one.
  private(set) var gainsByParallelTransfers = false

  /// The time for which the link was measured, and the part of it for which the link stood still.
  private var measuredMilliseconds = 0
  private var stoppedMilliseconds = 0

  /// The mean time between outages of `outageMilliseconds`, by which the link stands still for the measured
  /// share of the time, including the assumption for a link that was not measured for long.
  var outageEveryMilliseconds: Int {
    (measuredMilliseconds + Self.priorMilliseconds) * Self.outageMilliseconds
      / (stoppedMilliseconds + Self.outageMilliseconds)
  }
  /// The assumed duration of an outage: long outages are few, and cause most of the lost time.
  static let outageMilliseconds = 30_000

  /// The weight of the assumption: as much as two minutes with one outage.
  private static let priorMilliseconds = 120_000
  /// The maximum time that a measurement accounts for: before it, nothing may have been under way.
  private static let longestGapMilliseconds = 30_000
  /// The minimum duration of an outage: the bandwidth's quantile covers shorter ones.
  private static let shortestOutageMilliseconds = 2_000
  /// The minimum size of a measurement (`LinkMeter`). If its bytes take only a part of its time at the usual
  /// bandwidth, the link stood still for the rest.
  private static let sampleBits = 131_072

  /// The number of outages expected in this time that last longer than the held part of a clip plays. Few
  /// outages last long: a Pareto distribution of the second kind, with as much lost time as was measured,
  /// besides an assumption that weighs as much as a quarter of an hour with half an outage.
  func outages(inMilliseconds span: Int, outlasting held: Int) -> Double {
    let mean = Self.meanOutageMilliseconds
    let stopped = Double(stoppedMilliseconds) + mean / 2
    let measured = Double(measuredMilliseconds + Self.playingPriorMilliseconds)
    let longer = mean / (mean + Double(max(0, held)))
    return Double(span) * stopped / measured / mean * longer * longer
  }
  private static let meanOutageMilliseconds = 10_000.0
  private static let playingPriorMilliseconds = 900_000

  static let kbpsRange = 1...1_000_000_000
  static let roundTripRange = 0...600_000

  /// Updates the figures: from measurements, or else from what the client reported or the settings assume.
  mutating func measure(_ settings: PrefetchSettings, quantilePercent: Int) {
    downlinkKbps = samples.quantile(50) ?? toldKbps ?? settings.downlinkKbps
    cautiousKbps = samples.quantile(quantilePercent) ?? toldKbps ?? settings.downlinkKbps
    roundTripMilliseconds = roundTrips.quantile(50) ?? settings.roundTripMilliseconds
    // On a link that carries more than two first windows in a round trip, a connection in slow start gets
    // only a part of the link, too, and more with time.
    gainsByParallelTransfers =
      parallel.isMoreTogether
      && downlinkKbps * roundTripMilliseconds / 8 < 2 * Self.firstWindowBytes
  }

  /// Records the bandwidth that the client has measured before.
  mutating func tell(kilobitsPerSecond: Int) { toldKbps = Self.sane(kilobitsPerSecond) }

  private static func sane(_ kilobitsPerSecond: Int) -> Int {
    min(max(kilobitsPerSecond, kbpsRange.lowerBound), kbpsRange.upperBound)
  }

  mutating func note(kilobitsPerSecond: Int, roundTripMilliseconds: Int?, at now: Int) {
    if !clientMeasures { (clientMeasures, samples) = (true, RecentNumbers()) }
    noteOutage(kilobitsPerSecond, now - measuredAt)
    measuredAt = now
    let kilobits = Self.sane(kilobitsPerSecond)
    samples.add(kilobits)
    parallel.measured(kilobits, at: now)
    guard let roundTripMilliseconds else { return }
    roundTrips.add(min(max(roundTripMilliseconds, 0), Self.roundTripRange.upperBound))
  }

  /// Records that bytes have arrived while this number of transfers was bringing some.
  mutating func noteArrival(transfers: Int) { parallel.arrived(transfers: transfers) }

  /// Records that a transfer begins after a time in which none ran.
  mutating func noteBegin() { arrivals.begin() }

  /// Records that bytes have arrived, with the parameters of `ArrivalMeter`.
  ///
  /// - Returns: whether that measured the bandwidth.
  mutating func noteArrival(
    of bytes: Int, askedAt asked: Int?, isEnd: Bool, isBusy: Bool, at now: Int
  ) -> Bool {
    guard !clientMeasures,
      let kilobits = arrivals.arrived(
        bytes, askedAt: asked, isEnd: isEnd, isBusy: isBusy, at: now)
    else { return false }
    guard samples.count > 0 || waitingKbps != nil else {
      waitingKbps = Self.sane(kilobits)
      return false
    }
    if let waitingKbps { samples.add(waitingKbps) }
    waitingKbps = nil
    samples.add(Self.sane(kilobits))
    return true
  }

  private mutating func noteOutage(_ kilobitsPerSecond: Int, _ elapsed: Int) {
    guard samples.count > 0 else { return }
    let gap = min(elapsed, Self.longestGapMilliseconds)
    measuredMilliseconds = min(measuredMilliseconds + gap, 86_400_000)
    let took = min(Self.sampleBits / max(1, kilobitsPerSecond), gap)
    let stopped = took - Self.sampleBits / max(1, downlinkKbps)
    guard stopped >= Self.shortestOutageMilliseconds else { return }
    stoppedMilliseconds = min(stoppedMilliseconds + stopped, 86_400_000)
  }

  /// Forgets all measurements, for a new network.
  mutating func forget() {
    (samples, roundTrips, parallel) = (RecentNumbers(), RecentNumbers(), ParallelRates())
    (measuredMilliseconds, stoppedMilliseconds) = (0, 0)
    (arrivals, waitingKbps, toldKbps) = (ArrivalMeter(), nil, nil)
  }

  /// The maximum number of bytes held and in transfer ahead of the person, and what restrains it.
  func allowance(_ settings: PrefetchSettings) -> (bytes: Int, restraint: PrefetchReason.Restraint?)
  {
    // Bytes that are loaded ahead take at most half of what may be held.
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

  /// The time that these bytes take at the cautious bandwidth.
  func milliseconds(_ bytes: Int) -> Int {
    // A kilobit a second is a bit a millisecond; file sizes are far from overflowing.
    (bytes * 8 + cautiousKbps - 1) / cautiousKbps
  }

  /// The time that these bytes take at the recent bandwidth.
  func recentMilliseconds(_ bytes: Int) -> Int { bytes * 8 / max(1, downlinkKbps) }

  /// The number of bytes that a connection may send before an acknowledgement: ten segments (RFC 6928).
  static let firstWindowBytes = 14_600

  /// The time by which a new request of these bytes takes longer than the link is busy with it: a round trip,
  /// and the waits for further ones in slow start (RFC 6928, RFC 5681 section 3.1).
  func latencyMilliseconds(_ bytes: Int) -> Int {
    var (latency, window, left) = (roundTripMilliseconds, Self.firstWindowBytes, bytes)
    while left > window {
      let pause = roundTripMilliseconds - milliseconds(window)
      guard pause > 0 else { break }
      latency += pause
      left -= window
      window *= 2
    }
    return latency
  }

  /// The number of bytes that arrive in this time.
  func bytes(inMilliseconds milliseconds: Int) -> Int {
    milliseconds.multipliedReportingOverflow(by: cautiousKbps).overflow
      ? Int.max / 8 : milliseconds * cautiousKbps / 8
  }
}

/// The most recent numbers of a kind.
struct RecentNumbers: Equatable, Codable {
  private var numbers: [Int] = []
  /// The index of the next number.
  private var next = 0
  private static let limit = 16

  var count: Int { numbers.count }

  mutating func add(_ number: Int) {
    if numbers.count < Self.limit {
      numbers.append(number)
    } else {
      numbers[next] = number
      next = (next + 1) % Self.limit
    }
  }

  /// The quantile; `nil` if there are no numbers.
  func quantile(_ percent: Int) -> Int? {
    numbers.isEmpty
      ? nil : numbers.sorted()[min(numbers.count * percent / 100, numbers.count - 1)]
  }
}

/// The bandwidths of a link with one transfer at a time, and with several. A link that loses packets gives a
/// connection only a part of itself, whatever else it carries (Mathis, Semke, Mahdavi, Ott, "The Macroscopic
/// Behavior of the TCP Congestion Avoidance Algorithm", 1997); any other link is shared.
struct ParallelRates: Equatable, Codable {
  /// A bandwidth, and the mean number of concurrent transfers in percent.
  private struct Rate: Equatable, Codable {
    let kilobitsPerSecond: Int
    let percent: Int
    let at: Int
  }

  /// Since the last measurement: the number of arrivals, and the sum of the transfers at each.
  private var (arrivals, transfers) = (0, 0)
  private var alone: Rate?
  private var together: Rate?
  /// The bandwidth that each further transfer added, in percent of that of one alone shortly before or after.
  private var gainsPercent = RecentNumbers()

  private static let alonePercent = 120
  private static let leastTogetherPercent = 150
  /// The maximum time between two compared measurements: after it, the link may be another one.
  private static let longestMilliseconds = 60_000
  private static let leastMeasurements = 8
  /// The minimum gain. On a shared link the gain is nothing; on one that loses a tenth of its packets it was
  /// half, since transfers that have just begun bring less.
  private static let leastGainPercent = 40

  mutating func arrived(transfers count: Int) {
    arrivals += 1
    transfers += count
  }

  mutating func measured(_ kilobitsPerSecond: Int, at now: Int) {
    defer { (arrivals, transfers) = (0, 0) }
    guard arrivals > 0 else { return }
    let rate = Rate(
      kilobitsPerSecond: kilobitsPerSecond, percent: transfers * 100 / arrivals, at: now)
    if rate.percent <= Self.alonePercent {
      alone = rate
    } else if rate.percent >= Self.leastTogetherPercent {
      together = rate
    } else {
      return
    }
    guard let alone, let together, abs(alone.at - together.at) <= Self.longestMilliseconds else {
      return
    }
    gainsPercent.add(
      (together.kilobitsPerSecond - alone.kilobitsPerSecond) * 10_000
        / (alone.kilobitsPerSecond * (together.percent - 100)))
  }

  /// Whether several transfers bring more than one, as far as both were measured.
  var isMoreTogether: Bool {
    guard gainsPercent.count >= Self.leastMeasurements, let gain = gainsPercent.quantile(50) else {
      return false
    }
    return gain >= Self.leastGainPercent
  }
}
