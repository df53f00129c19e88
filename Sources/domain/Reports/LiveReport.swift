import Feed

/// What clients met of late, in groups that are large enough to be shown.
///
/// A group of fewer sessions than a limit is added to others that are too small; where these are too few together, the
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
  /// All of them; nil where they are too few.
  public let total: ReportCell?
  /// By network and policy.
  public let policies: List
  /// By feed.
  public let feeds: List
  /// By hour.
  public let hours: List

  /// The report of cells.
  public init(
    _ cells: [(key: ReportCellKey, cell: ReportCell)], sinceHour: Int, leastSessions: Int
  ) {
    self.sinceHour = sinceHour
    self.leastSessions = leastSessions
    var sum = ReportCell()
    for (_, cell) in cells { sum.add(cell) }
    total = sum.sessions >= leastSessions ? sum : nil
    policies = List(cells, by: [.network, .policy, .arm], leastSessions: leastSessions)
    feeds = List(cells, by: [.feed], leastSessions: leastSessions)
    hours = List(cells, by: [.hour], leastSessions: leastSessions)
  }
}

extension LiveReport.List {
  /// Groups of cells.
  init(
    _ cells: [(key: ReportCellKey, cell: ReportCell)], by names: [LiveReport.Name],
    leastSessions: Int
  ) {
    self.names = names
    var sums: [[ByteText]: ReportCell] = [:]
    for (key, cell) in cells {
      sums[names.map { ByteText($0.value(key)) }, default: ReportCell()].add(cell)
    }
    // The most sessions first, and in an order that depends on nothing else.
    var shown = sums.sorted {
      $0.value.sessions == $1.value.sessions
        ? $0.key.lexicographicallyPrecedes($1.key) : $0.value.sessions > $1.value.sessions
    }
    var rest = ReportCell()
    small = shown.count { $0.value.sessions < leastSessions }
    for (_, cell) in shown.suffix(small) { rest.add(cell) }
    shown.removeLast(small)
    if rest.parts > 0 {
      while rest.sessions < leastSessions, let next = shown.popLast() { rest.add(next.value) }
    }
    if names == [.hour] { shown.sort { $0.key.lexicographicallyPrecedes($1.key) } }
    groups =
      shown.map { LiveReport.Group(values: $0.key.map(\.text), cell: $0.value) }
      + (rest.sessions >= leastSessions && rest.parts > 0
        ? [LiveReport.Group(values: nil, cell: rest)] : [])
  }
}
