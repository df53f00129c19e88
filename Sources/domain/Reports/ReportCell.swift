import Feed

/// The key of a cell: the group of sessions and the hour of its figures.
public struct ReportCellKey: Hashable, Sendable {
  /// The hour, in hours since 1970.
  public var hour: Int
  /// The feed; empty if clients named none, and in the cell for groups beyond the limit.
  @ByBytes public var feed: String
  /// The policy.
  @ByBytes public var policy: String
  /// The arm of an experiment; empty outside of one.
  @ByBytes public var arm: String
  /// The name of the network's profile.
  @ByBytes public var network: String

  /// Creates a key.
  public init(hour: Int, feed: String, policy: String, arm: String, network: String) {
    self.hour = hour
    self.feed = feed
    self.policy = policy
    self.arm = arm
    self.network = network
  }

  /// Returns the key of the cell of an hour for groups beyond the limit.
  public static func others(hour: Int) -> ReportCellKey {
    ReportCellKey(hour: hour, feed: "", policy: "", arm: "", network: "")
  }
}

extension ReportCellKey: Comparable {
  /// Orders by the hour, and then by the bytes of the names.
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

/// The figures of a group of sessions in an hour. It has only sums and bins, and no data of a single
/// session.
public struct ReportCell: Hashable, Sendable {
  /// The number of sessions that began.
  public var sessions = 0
  /// The number of parts.
  public var parts = 0
  /// The number of sessions from the address with the most sessions, as far as one server knew. The numbers
  /// of servers are added, so the sum is never too low.
  public var sessionsOfOneAddress = 0
  /// The sums of all parts.
  public var figures = ReportFigures()
  /// The moments of sessions, for variances.
  public var moments = SessionMoments()
  /// The measured speeds of the links.
  public var links = ReportedLinks()

  /// Creates an empty cell.
  public init() {}

  /// Creates the cell of one part.
  public init(_ part: ReportPart) {
    sessions = part.isFirst ? 1 : 0
    parts = 1
    figures = part.figures
    moments = SessionMoments(of: part.figures, before: part.before ?? SessionTotals())
    links = ReportedLinks(part)
  }

  /// Adds another cell.
  public mutating func add(_ other: ReportCell) {
    sessions += other.sessions
    parts += other.parts
    sessionsOfOneAddress += other.sessionsOfOneAddress
    figures.add(other.figures)
    moments.add(other.moments)
    links.add(other.links)
  }

  /// The number of loaders per 1000 viewed items; `nil` without items.
  public var loadersPerThousand: Double? {
    figures.items == 0
      ? nil : 1000 * Double(figures.loaders.total) / Double(figures.items)
  }

  /// The 95 % confidence interval of the loaders per 1000 items; `nil` with fewer than two parts.
  ///
  /// The loaders and the items are sums over sessions, each of which may have many loaders or none: the
  /// interval uses the linearized variance of a ratio estimator (Cochran, Sampling Techniques, section
  /// 6.3). Without any loader, it uses the rule of three.
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

/// A part that a server counts: its cell's key and its contribution.
public struct CountedPart: Hashable, Sendable {
  /// A hash of session and part, which identifies the part.
  public let fingerprint: UInt64
  /// The key of its cell.
  public var key: ReportCellKey
  /// Its contribution to the cell.
  public var cell: ReportCell
  /// The views of clips.
  public var views: [WatchedView] = []
  /// The promises that it tested, with the results.
  public var promises: [PromiseKey: PromiseCounts] = [:]

  /// Creates a part.
  public init(fingerprint: UInt64, key: ReportCellKey, cell: ReportCell) {
    self.fingerprint = fingerprint
    self.key = key
    self.cell = cell
  }
}
