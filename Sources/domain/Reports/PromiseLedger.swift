import Feed

/// A promise: that a number of bytes starts a file of this version, for clients on such networks.
public struct PromiseKey: Hashable, Sendable {
  /// The URL at which the store knows the file; of a variant, that of its original. Empty for all files together.
  @ByBytes public var url: String
  /// The version of the file that was shown (`MediaVersion.text`).
  @ByBytes public var version: String
  /// The name of the network's profile.
  @ByBytes public var network: String

  /// The promise of these.
  public init(url: String, version: String, network: String) {
    self.url = url
    self.version = version
    self.network = network
  }

  /// Where those of all files are counted on the network.
  public static func all(network: String) -> PromiseKey {
    PromiseKey(url: "", version: "", network: network)
  }

  /// By the bytes of the names.
  public static func precedes(_ left: PromiseKey, _ right: PromiseKey) -> Bool {
    for (mine, other) in [
      (left.url, right.url), (left.version, right.version), (left.network, right.network),
    ] where !mine.isSame(as: other) {
      return mine.precedesByBytes(other)
    }
    return false
  }
}

/// How often a promise held: its bytes were there, and the first frame came within a decoder's time of that, or not.
public struct PromiseCounts: Hashable, Sendable {
  /// How often it came in time.
  public var kept: Int
  /// How often it did not.
  public var late: Int

  /// Counts of these.
  public init(kept: Int = 0, late: Int = 0) {
    self.kept = kept
    self.late = late
  }

  /// How often it was put to the test.
  public var total: Int { kept + late }

  /// The share that was late; nil where nothing was counted.
  public var lateShare: Double? { total == 0 ? nil : Double(late) / Double(total) }

  /// Adds what another one counted.
  public mutating func add(_ other: PromiseCounts) {
    kept += other.kept
    late += other.late
  }

  /// The share of late ones is above this whenever one looks: of a thousand promises with a share below it, at most one
  /// is ever found above.
  ///
  /// The lower end of a confidence sequence: the shares that a mixture of likelihood ratios over all shares does not
  /// reject by more than a thousand to one (Robbins, "Statistical methods related to the law of the iterated
  /// logarithm", 1970; Ville's inequality).
  public var leastLateShare: Double {
    guard late > 0 else { return 0 }
    // Between 0, which is always rejected, and the share itself, which never is, the ratio falls.
    var (low, high) = (0.0, Double(late) / Double(total))
    for _ in 0..<30 {
      let middle = (low + high) / 2
      if evidence(against: middle) >= Self.certainty { low = middle } else { high = middle }
    }
    return low
  }

  /// One in a thousand promises that hold is taken for broken, and looked at for nothing.
  private static let certainty = 1_000.0

  /// How much likelier what was counted is by some share, all being as likely, than by this one: late!·kept! / (total +
  /// 1)! over the share's own likelihood. In factors near one another, so that no product leaves the numbers' range.
  private func evidence(against share: Double) -> Double {
    guard share > 0 else { return .infinity }
    var (ratio, rest) = (1 / Double(total + 1), kept)
    for index in 1...max(1, late) {
      ratio *= Double(index) / (Double(kept + index) * share)
      // Where it grows, factors below one come between.
      while rest > 0, ratio < 1 {
        ratio /= 1 - share
        rest -= 1
      }
    }
    while rest > 0, ratio < .infinity {
      ratio /= 1 - share
      rest -= 1
    }
    return ratio
  }
}

/// What is known of a promise.
public struct PromiseRecord: Hashable, Sendable {
  /// Whether it is believed.
  public enum State: Int, CaseIterable, Sendable {
    /// Nothing speaks against it.
    case holds
    /// It broke: the hint is withdrawn until the file was looked into again.
    case broken
    /// The file was looked into again, and is what it was: what is late has another cause.
    case confirmed

    /// As JSON has it.
    public var name: StaticString {
      switch self {
      case .holds: "holds"
      case .broken: "broken"
      case .confirmed: "confirmed"
      }
    }
  }

  /// All that was counted.
  public var all = PromiseCounts()
  /// What was counted since the test began anew: a file that held for years is found broken as soon as one of today.
  public var recent = PromiseCounts()
  /// Whether it is believed.
  public var state = State.holds
  /// When it was put to the test last, in hours since 1970.
  public var hour: Int

  /// Nothing counted.
  public init(hour: Int) { self.hour = hour }

  /// The number of counts after which the test begins again.
  public static let window = 500

  /// Counts what was met in an hour.
  public mutating func add(_ counts: PromiseCounts, at hour: Int) {
    all.add(counts)
    if recent.total >= Self.window { recent = PromiseCounts() }
    recent.add(counts)
    self.hour = max(self.hour, hour)
  }

  /// Says what came of it. The test of one that holds begins anew.
  public mutating func become(_ state: State) {
    self.state = state
    if state == .holds { recent = PromiseCounts() }
  }

  /// Whether it is broken by what was met.
  ///
  /// - Parameters:
  ///   - pool: all files together on this network: where all clients are slow, none is at fault.
  ///   - least: of fewer nothing is concluded.
  public func isBroken(beside pool: PromiseCounts, least: Int) -> Bool {
    guard state == .holds, recent.total >= least else { return false }
    let others = PromiseCounts(kept: pool.kept - all.kept, late: pool.late - all.late)
    let usual = others.total >= least ? others.lateShare ?? 0 : 0
    return recent.leastLateShare > min(0.9, max(Self.toleratedShare, 2 * usual))
  }

  /// As many are late with devices that have much else to do.
  public static let toleratedShare = 0.05
}

/// A view of a clip, as it is counted.
public struct WatchedView: Hashable, Sendable {
  /// The item.
  @ByBytes public var item: String
  /// What it is, and how long it plays.
  public let kind: MediaKind
  /// How long it plays, above 0.
  public let durationMilliseconds: Int
  /// How long it was watched.
  public let watchedMilliseconds: Int
  /// The person left while a loader stood.
  public let hasLeftWaiting: Bool

  /// A view of these.
  public init(
    item: String, kind: MediaKind, durationMilliseconds: Int, watchedMilliseconds: Int,
    hasLeftWaiting: Bool
  ) {
    self.kind = kind
    self.durationMilliseconds = durationMilliseconds
    self.watchedMilliseconds = watchedMilliseconds
    self.hasLeftWaiting = hasLeftWaiting
    self.item = item
  }

  /// The view alone, as of an hour.
  public func record(at hour: Int) -> WatchRecord {
    var counts = WatchCounts()
    counts.add(
      watched: watchedMilliseconds, of: durationMilliseconds, hasLeftWaiting: hasLeftWaiting)
    return WatchRecord(
      hour: hour, kind: kind, durationMilliseconds: durationMilliseconds, counts: counts)
  }
}
