import Feed

/// What clients met of late, in groups that are large enough to be shown.
///
/// Cells are summed up as they are read. A group of fewer sessions than a limit is added to others that are too small; where these are too few together, the
/// smallest group that could be shown is added to them. So no figure of few sessions can be read off the list, nor
/// found by taking what is shown from the total (complementary suppression: Willenborg and de Waal, Elements of
/// Statistical Disclosure Control, chapter 4).
public struct LiveReport: Sendable {
  /// Sessions of a kind.
  public struct Group: Hashable, Sendable {
    /// Those by which the group is told from others, in the order of its list's `names`; nil for the group of those
    /// that are too small.
    public let values: [String]?
    /// Sums of the group.
    public let cell: ReportCell
  }

  /// Groups by some names.
  public struct List: Hashable, Sendable {
    /// By what sessions are told apart.
    public let names: [Name]
    /// The most sessions first; hours by time.
    public let groups: [Group]
    /// How many groups were too small.
    public let small: Int
  }

  /// By what sessions can be told apart.
  public enum Name: String, CaseIterable, Sendable {
    case feed, policy, arm, network, hour

    /// Its value of a cell; of an hour, hours since 1970.
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
  /// Of fewer sessions nothing is shown.
  public let leastSessions: Int
  /// What the bill is made out by.
  public let rates: Bill.Rates
  /// Whether all that is told is of one feed, so that policies can be compared.
  public let isOfOneFeed: Bool
  /// All of them; nil where they are too few.
  public let total: ReportCell?
  /// By network and policy.
  public let policies: List
  /// By feed.
  public let feeds: List
  /// By hour.
  public let hours: List
  /// What the lab predicted of policies, beside what was met.
  public let outcomes: [PolicyOutcome]

  /// The report of the cells that `read` hands out, one by one.
  ///
  /// - Parameters:
  ///   - rates: what the bill is made out by.
  ///   - outcomes: of all policies that the lab found; those of other feeds are left out.
  ///   - feed: this feed alone; nothing is shown of it where it is not shown apart among all feeds.
  ///   - read: hands out every cell from the first hour on.
  /// - Throws: what `read` throws.
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
      // What is added to others there could be found by taking the others from all.
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

/// Sums of cells by the values of some names, as many as there is room for: cells of others are one group that is never
/// shown apart.
private struct Sums {
  let names: [LiveReport.Name]
  private var sums: [[ByteText]: ReportCell] = [:]
  private var others = ReportCell()

  /// How many groups there are: clients make up names.
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

  /// How many groups there are.
  var count: Int { sums.count }

  /// A list that shows nothing.
  var empty: LiveReport.List { LiveReport.List(names: names, groups: [], small: 0) }

  func list(_ leastSessions: Int) -> LiveReport.List {
    // The most sessions first, and in an order that depends on nothing else.
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
