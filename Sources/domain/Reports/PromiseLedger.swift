import Feed

/// A promise: that a number of bytes starts a file of this version, for clients on a network.
public struct PromiseKey: Hashable, Sendable {
  /// The URL of the file in the store; for a variant, that of its original. Empty for all files together.
  @ByBytes public var url: String
  /// The version of the file that was shown (`MediaVersion.text`).
  @ByBytes public var version: String
  /// The name of the network profile.
  @ByBytes public var network: String

  /// Creates the key of a promise.
  public init(url: String, version: String, network: String) {
    self.url = url
    self.version = version
    self.network = network
  }

  /// Returns the key for the counts of all files on the network.
  public static func all(network: String) -> PromiseKey {
    PromiseKey(url: "", version: "", network: network)
  }

  /// Whether the left key comes first in the order of the names' bytes.
  public static func precedes(_ left: PromiseKey, _ right: PromiseKey) -> Bool {
    for (mine, other) in [
      (left.url, right.url), (left.version, right.version), (left.network, right.network),
    ] where !mine.isSame(as: other) {
      return mine.precedesByBytes(other)
    }
    return false
  }
}

/// The tests of a promise: its bytes were present, and the first frame came within a decoder's time after
/// that, or not.
public struct PromiseCounts: Hashable, Sendable {
  /// The number of times the frame came in time.
  public var kept: Int
  /// The number of times it came late.
  public var late: Int

  /// Creates counts.
  public init(kept: Int = 0, late: Int = 0) {
    self.kept = kept
    self.late = late
  }

  /// The number of tests.
  public var total: Int { kept + late }

  /// The share of late frames; `nil` without tests.
  public var lateShare: Double? { total == 0 ? nil : Double(late) / Double(total) }

  /// Adds other counts.
  public mutating func add(_ other: PromiseCounts) {
    kept += other.kept
    late += other.late
  }

  /// A lower confidence bound of the late share, valid at any number of looks: of a thousand promises, at
  /// most one ever has a true share below it.
  ///
  /// The lower end of a confidence sequence: the shares that a mixture of likelihood ratios over all shares
  /// does not reject by more than a thousand to one (Robbins, "Statistical methods related to the law of
  /// the iterated logarithm", 1970; Ville's inequality).
  public var leastLateShare: Double {
    guard late > 0 else { return 0 }
    // The ratio decreases between 0, which is always rejected, and the observed share, which never is.
    var (low, high) = (0.0, Double(late) / Double(total))
    for _ in 0..<30 {
      let middle = (low + high) / 2
      if evidence(against: middle) >= Self.certainty { low = middle } else { high = middle }
    }
    return low
  }

  /// The ratio that rejects a share: at most one in a thousand promises that hold is considered broken, and
  /// probed in vain.
  private static let certainty = 1_000.0

  /// Returns the likelihood of the counts under a uniform mixture over all shares, divided by the
  /// likelihood under this share: late!·kept! / (total + 1)! divided by the latter. Interleaves the
  /// factors, so that no product leaves the range of `Double`.
  private func evidence(against share: Double) -> Double {
    guard share > 0 else { return .infinity }
    var (ratio, rest) = (1 / Double(total + 1), kept)
    for index in 1...max(1, late) {
      ratio *= Double(index) / (Double(kept + index) * share)
      // While the ratio is below one, factors 1 / (1 − share), which are above one, are multiplied in
      // between.
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

/// The record of a promise.
public struct PromiseRecord: Hashable, Sendable {
  /// The credibility of a promise.
  public enum State: Int, CaseIterable, Sendable {
    /// There is no evidence against it.
    case holds
    /// The promise is broken: the hint is withdrawn until the file has been probed again.
    case broken
    /// The file was probed again and is unchanged: late frames have another cause.
    case confirmed

    /// The name in JSON.
    public var name: StaticString {
      switch self {
      case .holds: "holds"
      case .broken: "broken"
      case .confirmed: "confirmed"
      }
    }
  }

  /// All counts.
  public var all = PromiseCounts()
  /// The counts since the test restarted, so that a file whose promise held for years is found broken as
  /// soon as a new one.
  public var recent = PromiseCounts()
  /// The credibility.
  public var state = State.holds
  /// The hour of the last test, in hours since 1970.
  public var hour: Int

  /// Creates an empty record.
  public init(hour: Int) { self.hour = hour }

  /// The number of tests after which `recent` restarts.
  public static let window = 500

  /// Adds the counts of an hour.
  public mutating func add(_ counts: PromiseCounts, at hour: Int) {
    all.add(counts)
    if recent.total >= Self.window { recent = PromiseCounts() }
    recent.add(counts)
    self.hour = max(self.hour, hour)
  }

  /// Sets the state. The test of a promise that holds restarts.
  public mutating func become(_ state: State) {
    self.state = state
    if state == .holds { recent = PromiseCounts() }
  }

  /// Whether the counts show that the promise is broken.
  ///
  /// - Parameters:
  ///   - pool: The counts of all files on this network: if all clients are slow, no file is at fault.
  ///   - least: The minimum number of tests for a conclusion.
  public func isBroken(beside pool: PromiseCounts, least: Int) -> Bool {
    guard state == .holds, recent.total >= least else { return false }
    let others = PromiseCounts(kept: pool.kept - all.kept, late: pool.late - all.late)
    let usual = others.total >= least ? others.lateShare ?? 0 : 0
    return recent.leastLateShare > min(0.9, max(Self.toleratedShare, 2 * usual))
  }

  /// The late share that is tolerated, because busy devices cause it.
  public static let toleratedShare = 0.05
}

/// A counted view of a clip.
public struct WatchedView: Hashable, Sendable {
  /// The id of the item.
  @ByBytes public var item: String
  /// The kind of file.
  public let kind: MediaKind
  /// The duration of the clip, above 0.
  public let durationMilliseconds: Int
  /// The time that it was watched.
  public let watchedMilliseconds: Int
  /// Whether the user left while a loader was shown.
  public let hasLeftWaiting: Bool

  /// Creates a view.
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

  /// Returns the record of only this view, as of an hour.
  public func record(at hour: Int) -> WatchRecord {
    var counts = WatchCounts()
    counts.add(
      watched: watchedMilliseconds, of: durationMilliseconds, hasLeftWaiting: hasLeftWaiting)
    return WatchRecord(
      hour: hour, kind: kind, durationMilliseconds: durationMilliseconds, counts: counts)
  }
}
