import Feed

/// A kind of clips that are watched alike: by what they are, and how long they play.
public struct ClipClass: Hashable, Sendable {
  /// `video` or `audio`.
  public let kind: MediaKind
  /// 0…9, by rising duration.
  public let number: Int

  /// Up to which duration clips are in each class but the last, in milliseconds. Near the deciles of short clips at
  /// first; fixed, so that counts of servers and years add up.
  public static let bounds = [
    5_000, 7_000, 10_000, 15_000, 22_000, 30_000, 60_000, 180_000, 600_000,
  ]

  /// The class of a clip that plays so long.
  public init(kind: MediaKind, durationMilliseconds: Int) {
    self.kind = kind
    number = Self.bounds.firstIndex { durationMilliseconds <= $0 } ?? Self.bounds.count
  }

  /// The class with this number; nil if there is none.
  public init?(kind: MediaKind, number: Int) {
    guard kind.plays, (0...Self.bounds.count).contains(number) else { return nil }
    self.kind = kind
    self.number = number
  }
}

/// How far people watched a clip: counts of views by the share of its duration at which they ended.
///
/// There are 16 bins over the duration, and eight behind its end for clips that are seen again. A view that ended while
/// a loader stood is censored: it says that the person watched at least so far, not that they had enough. Counts are
/// halved every so often, continuously, so that what people did long ago is forgotten.
public struct WatchCounts: Hashable, Sendable {
  /// Where bins end, in 1/64 of the duration; longer views are in the last one, too.
  public static let bounds = (1...16).map { $0 * 4 } + [80, 96, 128, 160, 192, 256, 384, 512]
  /// What a view counts: whole numbers are forgotten in the same way on every machine.
  public static let unit = 4_096

  /// Views by the bin in which they ended, in units.
  public internal(set) var ended = [Int](repeating: 0, count: bounds.count)
  /// Those that ended while the person waited.
  public internal(set) var censored = [Int](repeating: 0, count: bounds.count)

  /// No views.
  public init() {}

  /// Counts in these units; nil where there are not as many as bins, or some are below zero.
  public init?(ended: [Int], censored: [Int]) {
    let all = [ended, censored]
    guard all.allSatisfy({ $0.count == Self.bounds.count && $0.allSatisfy { $0 >= 0 } }) else {
      return nil
    }
    self.ended = ended
    self.censored = censored
  }

  /// The bin of a view.
  public static func bin(watched milliseconds: Int, of duration: Int) -> Int {
    bounds.firstIndex { milliseconds * 64 < $0 * duration } ?? bounds.count - 1
  }

  /// Counts a view. One that never began says nothing of watching.
  ///
  /// - Precondition: the duration is above 0.
  public mutating func add(
    watched milliseconds: Int, of duration: Int, hasLeftWaiting: Bool
  ) {
    precondition(duration > 0)
    if hasLeftWaiting, milliseconds == 0 { return }
    let bin = Self.bin(watched: milliseconds, of: duration)
    if hasLeftWaiting { censored[bin] += Self.unit } else { ended[bin] += Self.unit }
  }

  /// Adds what another one counted.
  public mutating func add(_ other: WatchCounts) {
    for bin in ended.indices {
      ended[bin] += other.ended[bin]
      censored[bin] += other.censored[bin]
    }
  }

  /// How many views count still.
  public var views: Double {
    Double(ended.reduce(0, +) + censored.reduce(0, +)) / Double(Self.unit)
  }

  /// Forgets: after `halving` hours, half of it.
  public mutating func forget(hours: Int, halving: Int) {
    guard hours > 0 else { return }
    let factor = Self.power(hours: hours, halving: halving)
    func less(_ count: Int) -> Int { Int((Double(count) * factor).rounded()) }
    ended = ended.map(less)
    censored = censored.map(less)
  }

  /// 2^(−hours/halving), by additions and products alone: the same on every machine.
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

  /// How many of a thousand who began to watch still watch at the end of each bin; nil where nothing was counted.
  ///
  /// The actuarial estimate for grouped times (Kaplan and Meier, "Nonparametric estimation from incomplete
  /// observations", 1958, section 3.1): those who were censored within a bin count as half of it.
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

/// What was counted of an item, or of a class of clips, as of an hour.
public struct WatchRecord: Hashable, Sendable {
  /// Hours since 1970: up to then it is forgotten as it should be.
  public var hour: Int
  /// What it is, and how long it plays; of a class, one of its clips.
  public var kind: MediaKind
  /// How long it plays.
  public var durationMilliseconds: Int
  /// The views.
  public var counts: WatchCounts

  /// A record of these.
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

  /// Adds what a later one counted, or one of the same hour.
  public mutating func add(_ later: WatchRecord, halvingHours: Int) {
    var later = later
    if later.hour < hour { later.counts.forget(hours: hour - later.hour, halving: halvingHours) }
    counts.forget(hours: later.hour - hour, halving: halvingHours)
    counts.add(later.counts)
    hour = max(hour, later.hour)
    (kind, durationMilliseconds) = (later.kind, later.durationMilliseconds)
  }
}

/// How many people still watch after how long, learned from views.
public struct WatchCurve: Hashable, Sendable {
  /// Of a thousand who began, those who still watch at the end of each bin of `WatchCounts`.
  public let permille: [Double]

  /// The curve of an item, by what was counted of it and of its class.
  ///
  /// - Parameters:
  ///   - item: nil of an item that was never watched.
  ///   - pool: of its class.
  ///   - wholeViews: from this many views on, its own counts alone.
  ///   - leastViews: of fewer views nothing is used.
  /// - Returns: nil where too little is known.
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

  /// By how many of a thousand it is from the other one where they differ most.
  public func distance(to points: [WatchPoint], durationMilliseconds duration: Int) -> Double {
    var most = 0.0
    for (bin, share) in permille.enumerated() {
      let time = WatchCounts.bounds[bin] * duration / 64
      most = max(most, abs(share - points.permille(atMilliseconds: time)))
    }
    return most
  }

  /// The curve of a clip that plays so long as few points, no further than 10 of a thousand from it: straight lines
  /// lead from one to the next, the first from all at 0.
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
      // The farthest one to which a straight line is near enough.
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

/// How a class of clips is watched.
public struct LearnedClips: Hashable, Sendable {
  /// The class.
  public let clips: ClipClass
  /// How many people still watch after which share of the duration.
  public let curve: WatchCurve
  /// Of how many views.
  public let views: Int

  /// Those classes of which enough is known, by kind and duration.
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
