import Feed

/// A report on recent sessions of clients, in groups that are large enough to be shown.
///
/// Cells are added up as they are read. Groups with fewer sessions than a limit are merged; if the merged
/// group is still too small, the smallest group that could be shown is added to it. So figures of few
/// sessions can neither be read from the list, nor computed by subtracting the shown groups from the total
/// (complementary suppression: Willenborg and de Waal, Elements of Statistical Disclosure Control, chapter
/// 4).
public struct LiveReport: Sendable {
  /// A group of sessions.
  public struct Group: Hashable, Sendable {
    /// The values that identify the group, in the order of its list's `names`; `nil` for the merged group
    /// of those that are too small.
    public let values: [String]?
    /// The sums of the group.
    public let cell: ReportCell
  }

  /// A list of groups by some names.
  public struct List: Hashable, Sendable {
    /// The names by which sessions are grouped.
    public let names: [Name]
    /// The groups with the most sessions first; hours by time.
    public let groups: [Group]
    /// The number of groups that were too small.
    public let small: Int
  }

  /// A name by which sessions can be grouped.
  public enum Name: String, CaseIterable, Sendable {
    case feed, policy, arm, network, hour

    /// Returns the value of a cell; for an hour, hours since 1970.
    func value(_ key: ReportCellKey) -> String {
      switch self {
      case .feed: key.feed
      case .policy: key.policy
      case .arm: key.arm
      case .network: key.network
      case .hour: String(key.hour)
      }
    }
  }

  /// The first hour, in hours since 1970.
  public let sinceHour: Int
  /// The minimum number of sessions of a group that is shown.
  public let leastSessions: Int
  /// The prices and assumptions of the bill.
  public let rates: Bill.Rates
  /// Whether the report is about one feed, so that policies can be compared.
  public let isOfOneFeed: Bool
  /// The sums of all sessions; `nil` if they are too few.
  public let total: ReportCell?
  /// The groups by network and policy.
  public let policies: List
  /// The groups by feed.
  public let feeds: List
  /// The groups by hour.
  public let hours: List
  /// The lab's predictions of policies, with the outcomes.
  public let outcomes: [PolicyOutcome]

  /// Creates the report of the cells that `read` passes on.
  ///
  /// - Parameters:
  ///   - rates: The prices and assumptions of the bill.
  ///   - outcomes: The outcomes of all policies that the lab found; those of other feeds are omitted.
  ///   - feed: The only feed of the report. Nothing is shown if the list of all feeds would not show it as
  ///     a group.
  ///   - read: Passes every cell from the first hour on to its argument.
  /// - Throws: Errors of `read`.
  public init(
    sinceHour: Int, leastSessions: Int, rates: Bill.Rates = Bill.Rates(),
    outcomes: [PolicyOutcome] = [], feed: String? = nil,
    _ read: ((ReportCellKey, ReportCell) throws -> Void) throws -> Void
  ) rethrows {
    self.sinceHour = sinceHour
    self.leastSessions = leastSessions
    self.rates = rates
    var sum = ReportCell()
    var policies = Sums(names: [.network, .policy, .arm])
    var feeds = Sums(names: [.feed])
    var hours = Sums(names: [.hour])
    try read { key, cell in
      feeds.add(cell, of: key)
      guard feed.map(key.feed.isSame) ?? true else { return }
      sum.add(cell)
      policies.add(cell, of: key)
      hours.add(cell, of: key)
    }
    isOfOneFeed = feed != nil || feeds.count == 1
    var all = feeds.list(leastSessions)
    var isShown = sum.sessions >= leastSessions
    if let feed {
      // If the feed is merged with others there, subtracting the others from all would reveal it.
      all = List(
        names: all.names, groups: all.groups.filter { $0.values?[0].isSame(as: feed) == true },
        small: 0)
      isShown = !all.groups.isEmpty
    }
    total = isShown ? sum : nil
    self.feeds = all
    let isHidden = feed != nil && !isShown
    self.outcomes = outcomes.filter { outcome in
      !isHidden && (feed.flatMap { feed in outcome.feed.map(feed.isSame) } ?? true)
    }
    self.policies = isHidden ? policies.empty : policies.list(leastSessions)
    self.hours = isHidden ? hours.empty : hours.list(leastSessions)
  }
}

/// Sums of cells by the values of some names, up to a limit. Cells of further values are one group that is
/// never shown as such.
private struct Sums {
  let names: [LiveReport.Name]
  private var sums: [[ByteText]: ReportCell] = [:]
  private var others = ReportCell()

  /// The maximum number of groups, because clients can make up names.
  private static let limit = 10_000

  init(names: [LiveReport.Name]) { self.names = names }

  mutating func add(_ cell: ReportCell, of key: ReportCellKey) {
    let values = names.map { ByteText($0.value(key)) }
    if sums[values] == nil, sums.count >= Self.limit {
      others.add(cell)
    } else {
      sums[values, default: ReportCell()].add(cell)
    }
  }

  /// The number of groups.
  var count: Int { sums.count }

  /// A list without groups.
  var empty: LiveReport.List { LiveReport.List(names: names, groups: [], small: 0) }

  func list(_ leastSessions: Int) -> LiveReport.List {
    // The most sessions first, in a deterministic order.
    var shown = sums.sorted {
      $0.value.sessions == $1.value.sessions
        ? $0.key.lexicographicallyPrecedes($1.key) : $0.value.sessions > $1.value.sessions
    }
    var rest = others
    let small = shown.count { $0.value.sessions < leastSessions }
    for (_, cell) in shown.suffix(small) { rest.add(cell) }
    shown.removeLast(small)
    if rest.parts > 0 {
      while rest.sessions < leastSessions, let next = shown.popLast() { rest.add(next.value) }
    }
    if names == [.hour] { shown.sort { $0.key.lexicographicallyPrecedes($1.key) } }
    var groups = shown.map { LiveReport.Group(values: $0.key.map(\.text), cell: $0.value) }
    if rest.parts > 0, rest.sessions >= leastSessions {
      groups.append(LiveReport.Group(values: nil, cell: rest))
    }
    return LiveReport.List(names: names, groups: groups, small: small)
  }
}
