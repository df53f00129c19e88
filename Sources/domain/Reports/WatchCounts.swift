import Feed

/// A class of clips that are watched alike: by their kind and duration.
public struct ClipClass: Hashable, Sendable {
  /// `video` or `audio`.
  public let kind: MediaKind
  /// 0…9, by ascending duration.
  public let number: Int

  /// The maximum duration of each class except the last, in milliseconds. Initially near the deciles of
  /// short clips; fixed, so that counts of servers and years can be added.
  public static let bounds = [
    5_000, 7_000, 10_000, 15_000, 22_000, 30_000, 60_000, 180_000, 600_000,
  ]

  /// Creates the class of a clip with this duration.
  public init(kind: MediaKind, durationMilliseconds: Int) {
    self.kind = kind
    number = Self.bounds.firstIndex { durationMilliseconds <= $0 } ?? Self.bounds.count
  }

  /// Creates the class with this number; `nil` if there is none.
  public init?(kind: MediaKind, number: Int) {
    guard kind.plays, (0...Self.bounds.count).contains(number) else { return nil }
    self.kind = kind
    self.number = number
  }
}

/// The number of views of a clip by the share of its duration at which they ended.
///
/// There are 16 bins over the duration, and eight after its end for clips that are watched again. A view
/// that ended while a loader was shown is censored: the user watched at least until then, and might have
/// watched longer. Counts decay continuously with a half-life, so that old views are forgotten.
public struct WatchCounts: Hashable, Sendable {
  /// The ends of the bins, in 1/64 of the duration; longer views are also in the last one.
  public static let bounds = (1...16).map { $0 * 4 } + [80, 96, 128, 160, 192, 256, 384, 512]
  /// The weight of one view: integers decay in the same way on every machine.
  public static let unit = 4_096

  /// The views by the bin in which they ended, in units.
  public internal(set) var ended = [Int](repeating: 0, count: bounds.count)
  /// The views that ended while the user waited.
  public internal(set) var censored = [Int](repeating: 0, count: bounds.count)

  /// Creates counts without views.
  public init() {}

  /// Creates counts in these units; `nil` if their number is not that of the bins, or some are negative.
  public init?(ended: [Int], censored: [Int]) {
    let all = [ended, censored]
    guard all.allSatisfy({ $0.count == Self.bounds.count && $0.allSatisfy { $0 >= 0 } }) else {
      return nil
    }
    self.ended = ended
    self.censored = censored
  }

  /// Returns the bin of a view.
  public static func bin(watched milliseconds: Int, of duration: Int) -> Int {
    bounds.firstIndex { milliseconds * 64 < $0 * duration } ?? bounds.count - 1
  }

  /// Counts a view. A view that never began is not counted.
  ///
  /// - Precondition: The duration is above 0.
  public mutating func add(
    watched milliseconds: Int, of duration: Int, hasLeftWaiting: Bool
  ) {
    precondition(duration > 0)
    if hasLeftWaiting, milliseconds == 0 { return }
    let bin = Self.bin(watched: milliseconds, of: duration)
    if hasLeftWaiting { censored[bin] += Self.unit } else { ended[bin] += Self.unit }
  }

  /// Adds other counts.
  public mutating func add(_ other: WatchCounts) {
    for bin in ended.indices {
      ended[bin] += other.ended[bin]
      censored[bin] += other.censored[bin]
    }
  }

  /// The number of views after decay.
  public var views: Double {
    Double(ended.reduce(0, +) + censored.reduce(0, +)) / Double(Self.unit)
  }

  /// Lets the counts decay: after `halving` hours, half remains.
  public mutating func forget(hours: Int, halving: Int) {
    guard hours > 0 else { return }
    let factor = Self.power(hours: hours, halving: halving)
    func less(_ count: Int) -> Int { Int((Double(count) * factor).rounded()) }
    ended = ended.map(less)
    censored = censored.map(less)
  }

  /// Returns 2^(−hours/halving), computed only by additions and multiplications: identical on every
  /// machine.
  private static func power(hours: Int, halving: Int) -> Double {
    let (halvings, rest) = (hours / halving, hours % halving)
    guard halvings < 64 else { return 0 }
    let exponent = -0.693_147_180_559_945_3 * Double(rest) / Double(halving)
    var (sum, term) = (1.0, 1.0)
    for index in 1...16 {
      term *= exponent / Double(index)
      sum += term
    }
    return sum / Double(1 << halvings)
  }

  /// The share of viewers that still watch at the end of each bin, in thousandths; `nil` without views.
  ///
  /// The actuarial estimate for grouped times (Kaplan and Meier, "Nonparametric estimation from incomplete
  /// observations", 1958, section 3.1): views that were censored within a bin count half in it.
  public var survivalPermille: [Double]? {
    var atRisk = Double(ended.reduce(0, +) + censored.reduce(0, +))
    guard atRisk > 0 else { return nil }
    var share = 1_000.0
    return ended.indices.map { bin in
      let exposed = atRisk - Double(censored[bin]) / 2
      if exposed > 0 { share *= max(0, 1 - Double(ended[bin]) / exposed) }
      atRisk -= Double(ended[bin] + censored[bin])
      return share
    }
  }
}

/// The counts of an item, or of a class of clips, as of an hour.
public struct WatchRecord: Hashable, Sendable {
  /// The hour up to which the counts have decayed, in hours since 1970.
  public var hour: Int
  /// The kind of file.
  public var kind: MediaKind
  /// The duration in milliseconds; for a class, that of one of its clips.
  public var durationMilliseconds: Int
  /// The counts of views.
  public var counts: WatchCounts

  /// Creates a record.
  public init(hour: Int, kind: MediaKind, durationMilliseconds: Int, counts: WatchCounts) {
    self.hour = hour
    self.kind = kind
    self.durationMilliseconds = durationMilliseconds
    self.counts = counts
  }

  /// The class of clips.
  public var clipClass: ClipClass {
    ClipClass(kind: kind, durationMilliseconds: durationMilliseconds)
  }

  /// Adds a record. The result is as of the later hour.
  public mutating func add(_ later: WatchRecord, halvingHours: Int) {
    var later = later
    if later.hour < hour { later.counts.forget(hours: hour - later.hour, halving: halvingHours) }
    counts.forget(hours: later.hour - hour, halving: halvingHours)
    counts.add(later.counts)
    hour = max(hour, later.hour)
    (kind, durationMilliseconds) = (later.kind, later.durationMilliseconds)
  }
}

/// A survival curve learned from views: the share of viewers that still watch after a time.
public struct WatchCurve: Hashable, Sendable {
  /// The share that still watches at the end of each bin of `WatchCounts`, in thousandths.
  public let permille: [Double]

  /// Creates the curve of an item from its counts and those of its class.
  ///
  /// - Parameters:
  ///   - item: The item's counts; `nil` if it was never watched.
  ///   - pool: The counts of its class.
  ///   - wholeViews: The number of views from which on only the item's own counts are used.
  ///   - leastViews: The minimum number of views of counts that are used.
  /// - Returns: `nil` if there are too few views.
  public init?(
    item: WatchCounts?, pool: WatchCounts?, wholeViews: Int, leastViews: Int
  ) {
    func used(_ counts: WatchCounts?) -> (curve: [Double], views: Double)? {
      guard let counts, counts.views >= Double(leastViews), let curve = counts.survivalPermille
      else { return nil }
      return (curve, counts.views)
    }
    let (own, all) = (used(item), used(pool))
    switch (own, all) {
    case (nil, nil): return nil
    case (nil, let all?): permille = all.curve
    case (let own?, nil):
      guard own.views >= Double(wholeViews) else { return nil }
      permille = own.curve
    case (let own?, let all?):
      let weight = min(1, own.views / Double(max(1, wholeViews)))
      permille = zip(own.curve, all.curve).map { weight * $0 + (1 - weight) * $1 }
    }
  }

  /// Returns the maximum difference from the other curve, in thousandths.
  public func distance(to points: [WatchPoint], durationMilliseconds duration: Int) -> Double {
    var most = 0.0
    for (bin, share) in permille.enumerated() {
      let time = WatchCounts.bounds[bin] * duration / 64
      most = max(most, abs(share - points.permille(atMilliseconds: time)))
    }
    return most
  }

  /// Returns the curve of a clip of this duration with few points, at most 10 thousandths from it, for
  /// linear interpolation between them, starting from 1000 at 0.
  public func points(durationMilliseconds duration: Int) -> [WatchPoint] {
    var all = [(time: 0, share: 1_000)]
    for (bin, share) in permille.enumerated() {
      let point = (time: WatchCounts.bounds[bin] * duration / 64, share: Int(share.rounded()))
      guard point.time > all[all.count - 1].time else { continue }
      all.append(point)
      if point.share == 0 { break }
    }
    var points: [WatchPoint] = []
    var first = 0
    while first < all.count - 1 {
      // The farthest point to which a straight line is close enough.
      var last = first + 1
      while last + 1 < all.count, Self.isStraight(all[first...last + 1]) { last += 1 }
      points.append(WatchPoint(milliseconds: all[last].time, permille: all[last].share))
      first = last
    }
    return points
  }

  private static let tolerance = 10.0

  private static func isStraight(_ points: ArraySlice<(time: Int, share: Int)>) -> Bool {
    guard let first = points.first, let last = points.last else { return true }
    let slope = Double(last.share - first.share) / Double(last.time - first.time)
    return points.allSatisfy {
      abs(Double(first.share) + slope * Double($0.time - first.time) - Double($0.share))
        <= tolerance
    }
  }
}

/// The survival curve of a class of clips.
public struct LearnedClips: Hashable, Sendable {
  /// The class.
  public let clips: ClipClass
  /// The share of viewers that still watch, by the share of the duration.
  public let curve: WatchCurve
  /// The number of views.
  public let views: Int

  /// Returns the classes with enough views, ordered by kind and duration.
  public static func all(
    _ records: [ClipClass: WatchRecord], leastViews: Int
  ) -> [LearnedClips] {
    records.compactMap { clips, record in
      let curve = WatchCurve(
        item: nil, pool: record.counts, wholeViews: leastViews, leastViews: leastViews)
      return curve.map {
        LearnedClips(clips: clips, curve: $0, views: Int(record.counts.views.rounded()))
      }
    }.sorted {
      ($0.clips.kind.rawValue, $0.clips.number) < ($1.clips.kind.rawValue, $1.clips.number)
    }
  }
}
