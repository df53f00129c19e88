import Feed

/// Of whom a cell's figures are.
public struct ReportCellKey: Hashable, Sendable {
  /// Hours since 1970.
  public var hour: Int
  /// The feed; empty where clients named none, and in the cell of those that are too many.
  @ByBytes public var feed: String
  /// The policy.
  @ByBytes public var policy: String
  /// The arm of an experiment; empty outside of one.
  @ByBytes public var arm: String
  /// The name of the network's profile.
  @ByBytes public var network: String

  /// The key of these.
  public init(hour: Int, feed: String, policy: String, arm: String, network: String) {
    self.hour = hour
    self.feed = feed
    self.policy = policy
    self.arm = arm
    self.network = network
  }

  /// Where those of an hour are counted for which there is no room apart.
  public static func others(hour: Int) -> ReportCellKey {
    ReportCellKey(hour: hour, feed: "", policy: "", arm: "", network: "")
  }
}

extension ReportCellKey: Comparable {
  /// By hour, and then by the bytes of the names.
  public static func < (left: ReportCellKey, right: ReportCellKey) -> Bool {
    if left.hour != right.hour { return left.hour < right.hour }
    for (mine, other) in [
      (left.feed, right.feed), (left.policy, right.policy), (left.arm, right.arm),
      (left.network, right.network),
    ] where !mine.isSame(as: other) {
      return mine.precedesByBytes(other)
    }
    return false
  }
}

/// What sessions of one kind met in an hour. It holds sums and bins alone: nothing of it is of one session.
public struct ReportCell: Hashable, Sendable {
  /// Sessions that began.
  public var sessions = 0
  /// Parts that were counted.
  public var parts = 0
  /// How many of the sessions came from the address from which most came, as far as one server knew; servers add up,
  /// so that it is never too low.
  public var sessionsOfOneAddress = 0
  /// Sums of all parts.
  public var figures = ReportFigures()
  /// What sessions met, each as one: for variances.
  public var moments = SessionMoments()
  /// How fast the links were.
  public var links = ReportedLinks()

  /// Nothing counted.
  public init() {}

  /// A part by itself.
  public init(_ part: ReportPart) {
    sessions = part.isFirst ? 1 : 0
    parts = 1
    figures = part.figures
    moments = SessionMoments(of: part.figures, before: part.before ?? SessionTotals())
    links = ReportedLinks(part)
  }

  /// Adds what another one has.
  public mutating func add(_ other: ReportCell) {
    sessions += other.sessions
    parts += other.parts
    sessionsOfOneAddress += other.sessionsOfOneAddress
    figures.add(other.figures)
    moments.add(other.moments)
    links.add(other.links)
  }

  /// Loaders of 1000 viewed items; nil where none was viewed.
  public var loadersPerThousand: Double? {
    figures.items == 0
      ? nil : 1000 * Double(figures.loaders.total) / Double(figures.items)
  }

  /// Between which values loaders per 1000 lie with a confidence of 95 %, were there more sessions of the same kind;
  /// nil where fewer than two parts were counted.
  ///
  /// A ratio of two sums over sessions, each of which may have many loaders or none: the linearized variance of a ratio
  /// estimator (Cochran, Sampling Techniques, section 6.3). Where no loader was met, the rule of three.
  public var intervalPerThousand: ClosedRange<Double>? {
    let items = Double(figures.items)
    guard parts > 1, items > 0, let middle = loadersPerThousand else { return nil }
    guard figures.loaders.total > 0 else { return 0...min(1000, 3000 / items) }
    let residuals = moments.residuals(of: .loaders, ratio: middle / 1000)
    let number = Double(max(2, sessions))
    let variance = residuals * number / (number - 1) / (items * items)
    let half = 1.96 * variance.squareRoot() * 1000
    return max(0, middle - half)...(middle + half)
  }
}

/// A part that a server counts: whose it is, and what it adds.
public struct CountedPart: Hashable, Sendable {
  /// Tells the part from others: a hash of session and part.
  public let fingerprint: UInt64
  /// Where it is counted.
  public var key: ReportCellKey
  /// What it adds there.
  public var cell: ReportCell
  /// The clips that it watched.
  public var views: [WatchedView] = []
  /// The promises that it put to the test, each with how often they held.
  public var promises: [PromiseKey: PromiseCounts] = [:]

  /// A part with its place.
  public init(fingerprint: UInt64, key: ReportCellKey, cell: ReportCell) {
    self.fingerprint = fingerprint
    self.key = key
    self.cell = cell
  }
}
