/// What is known of the network, and what restrains its use.
struct NetworkState: Equatable, Codable {
  var isOnline = true
  var isMetered = false
  var savesData = false
  var isStressed = false
  var isInBackground = false
  /// The last measured bandwidths, in kilobits a second.
  private var samples = RecentNumbers()
  private var roundTrips = RecentNumbers()
  private var parallel = ParallelRates()
  private var measuredAt = 0
  /// The bandwidth as it is lately: by it, it is said what starts a clip.
  private(set) var downlinkKbps = 0
  /// The bandwidth to count on in time.
  private(set) var cautiousKbps = 0
  private(set) var roundTripMilliseconds = 0

  /// What the client measured before the engine began; it holds on that network as long as nothing is measured here.
  private var toldKbps: Int?
  /// Measures for a client that does not. What the client measures counts alone, and so the first of these measurements
  /// waits for the second: the client may tell its own behind the bytes.
  private var arrivals = ArrivalMeter()
  private var waitingKbps: Int?
  private var clientMeasures = false

  /// Whether the bandwidth is not only assumed.
  var isMeasured: Bool { samples.count > 0 || toldKbps != nil }

  /// Several transfers at a time bring more than one.
  private(set) var gainsByParallelTransfers = false

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

  /// How many outages are expected in so long a time that last longer than what is held of a clip plays. Few last long (a
  /// Pareto distribution of the second kind, by which as much time is lost as was measured), beside an assumption that weighs
  /// as much as a quarter of an hour with half an outage.
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

  /// Takes what the client told, or the settings' figures, as long as nothing was measured.
  mutating func measure(_ settings: PrefetchSettings, quantilePercent: Int) {
    downlinkKbps = samples.quantile(50) ?? toldKbps ?? settings.downlinkKbps
    cautiousKbps = samples.quantile(quantilePercent) ?? toldKbps ?? settings.downlinkKbps
    roundTripMilliseconds = roundTrips.quantile(50) ?? settings.roundTripMilliseconds
    // A connection that begins slowly gets but a part of a link, too, and more with time: more than two first windows in a
    // round trip come over links that carry that.
    gainsByParallelTransfers =
      parallel.isMoreTogether
      && downlinkKbps * roundTripMilliseconds / 8 < 2 * Self.firstWindowBytes
  }

  /// The client has measured this bandwidth before.
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

  /// Bytes have arrived, while this number of transfers was bringing some.
  mutating func noteArrival(transfers: Int) { parallel.arrived(transfers: transfers) }

  /// The first transfer begins after a time in which none ran.
  mutating func noteBegin() { arrivals.begin() }

  /// Bytes have arrived, as `ArrivalMeter` is told of them.
  ///
  /// - Returns: whether the bandwidth was measured by that.
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

  /// A network of which nothing is known yet.
  mutating func forget() {
    (samples, roundTrips, parallel) = (RecentNumbers(), RecentNumbers(), ParallelRates())
    (measuredMilliseconds, stoppedMilliseconds) = (0, 0)
    (arrivals, waitingKbps, toldKbps) = (ArrivalMeter(), nil, nil)
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

  /// The time that these bytes take at the bandwidth as it is lately.
  func recentMilliseconds(_ bytes: Int) -> Int { bytes * 8 / max(1, downlinkKbps) }

  /// What a connection may send before an answer comes: ten segments (RFC 6928).
  static let firstWindowBytes = 14_600

  /// How much longer a new request of these bytes takes than the link is busy with it: a round trip, and what
  /// of further ones it has to wait because a connection begins slowly (RFC 6928, RFC 5681 section 3.1).
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

  /// How many bytes arrive in so long a time.
  func bytes(inMilliseconds milliseconds: Int) -> Int {
    milliseconds.multipliedReportingOverflow(by: cautiousKbps).overflow
      ? Int.max / 8 : milliseconds * cautiousKbps / 8
  }
}

/// The last numbers of a kind.
struct RecentNumbers: Equatable, Codable {
  private var numbers: [Int] = []
  /// Where the next one goes.
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

  /// `nil` where there are none.
  func quantile(_ percent: Int) -> Int? {
    numbers.isEmpty
      ? nil : numbers.sorted()[min(numbers.count * percent / 100, numbers.count - 1)]
  }
}

/// What a link brings of one transfer at a time, and of several. One that loses packets gives a connection but a part of
/// itself, whatever else it carries (Mathis, Semke, Mahdavi, Ott, "The Macroscopic Behavior of the TCP Congestion
/// Avoidance Algorithm", 1997); any other one is shared.
struct ParallelRates: Equatable, Codable {
  /// A bandwidth of this number of transfers at a time, in percent.
  private struct Rate: Equatable, Codable {
    let kilobitsPerSecond: Int
    let percent: Int
    let at: Int
  }

  /// Since the last measurement: how often bytes arrived, and of how many transfers at a time, summed.
  private var (arrivals, transfers) = (0, 0)
  private var alone: Rate?
  private var together: Rate?
  /// How much each further transfer brought, in percent of what one did alone shortly before or after.
  private var gainsPercent = RecentNumbers()

  private static let alonePercent = 120
  private static let leastTogetherPercent = 150
  /// Beyond that the link may be another one.
  private static let longestMilliseconds = 60_000
  private static let leastMeasurements = 8
  /// On a link that is shared it is nothing; of one that loses a tenth of its packets it was half, as those that have just
  /// begun bring less.
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

  /// Whether several bring more than one, as far as both were measured.
  var isMoreTogether: Bool {
    guard gainsPercent.count >= Self.leastMeasurements, let gain = gainsPercent.quantile(50) else {
      return false
    }
    return gain >= Self.leastGainPercent
  }
}
