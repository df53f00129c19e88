/// What unseen bytes cost, and what a loader avoided costs: pure sums of what clients reported.
///
/// No id outlives a session, so that the sessions of a person are unknown: `monthSessions` says it. A person's
/// month is that many sessions of the group's average.
public enum Bill {
  /// What the bill is made out by.
  public struct Rates: Hashable, Sendable {
    /// The price of a gigabyte, in cents.
    public var gigabyteCents: Int
    /// How many sessions a person has in a month.
    public var monthSessions: Int

    /// Two sessions a day, and five of money a gigabyte.
    public init(gigabyteCents: Int = 500, monthSessions: Int = 60) {
      (self.gigabyteCents, self.monthSessions) = (gigabyteCents, monthSessions)
    }

    /// The price of bytes, in cents.
    public func cents(ofBytes bytes: Double) -> Double {
      bytes / 1e9 * Double(gigabyteCents)
    }
  }

  /// What a policy avoided against another one on the same network and feed, or against loading nothing ahead.
  public struct Avoided: Hashable, Sendable {
    /// The group beside which it is judged: of those of the network, the one that loads the fewest bytes an item that
    /// are never seen.
    public let baseline: [String]
    /// Whether the baseline is no group but `endless`, as computed: it loads no file ahead, so that nothing is never
    /// seen and each item has a loader. At the most, since items without files have none.
    public let isComputed: Bool
    /// How many loaders fewer of 1000 items; below zero, more.
    public let perThousand: Double
    /// Between which values that lies with a confidence of 95 %; nil where the figures of either have no interval.
    public let interval: ClosedRange<Double>?
    /// How many bytes more an item are never seen.
    public let bytesPerItem: Double

    /// How many bytes a loader avoided costs; nil where none is known to be avoided.
    public var bytesPerLoader: Double? {
      guard perThousand > 0, let interval, interval.lowerBound > 0 else { return nil }
      return bytesPerItem * 1000 / perThousand
    }
  }

  /// The reasons for which bytes are never seen, in the order in which they are told.
  public static let reasons = ByteFate.allCases.filter { $0 != .seen }
}

extension ReportCell {
  /// Bytes that were never seen.
  public var unseenBytes: Int { figures.bytes.total - figures.bytes[.seen] }

  /// How many bytes of a fate a person loads in a month; nil where no session began.
  public func monthBytes(_ fate: ByteFate, _ rates: Bill.Rates) -> Double? {
    month(figures.bytes[fate], rates)
  }

  /// How many bytes a person loads in a month that are never seen; nil where no session began.
  public func monthUnseenBytes(_ rates: Bill.Rates) -> Double? { month(unseenBytes, rates) }

  private func month(_ bytes: Int, _ rates: Bill.Rates) -> Double? {
    sessions == 0 ? nil : Double(bytes) / Double(sessions) * Double(rates.monthSessions)
  }
}

extension LiveReport.Group {
  fileprivate var unseenBytesPerItem: Double {
    Double(cell.unseenBytes) / Double(max(1, cell.figures.items))
  }
}

extension LiveReport {
  /// What each policy avoided against the one of its network that wastes least; in the order of `policies.groups`.
  ///
  /// A policy without another one to compare it with is compared with `endless`, as computed: on a network with one
  /// policy alone, the baseline itself, and all where several feeds are reported together, since policies of different
  /// feeds would be compared by their feeds. Nil for groups that are too small or have no items. The intervals of both
  /// are those of independent sessions: their half widths add up as squares.
  public var avoided: [Bill.Avoided?] {
    var baselines: [String: Group] = [:]
    for group in policies.groups where group.cell.figures.items > 0 && isOfOneFeed {
      guard let network = group.values?[0] else { continue }
      if let known = baselines[network], known.unseenBytesPerItem <= group.unseenBytesPerItem {
        continue
      }
      baselines[network] = group
    }
    return policies.groups.map { group in
      guard let values = group.values, let mine = group.cell.loadersPerThousand else { return nil }
      let network = values[0]
      guard let baseline = baselines[network], let names = baseline.values,
        !areSame(names, values), let other = baseline.cell.loadersPerThousand
      else {
        return Bill.Avoided(
          baseline: [network, "endless"], isComputed: true, perThousand: 1000 - mine,
          interval: group.cell.intervalPerThousand.map {
            (1000 - $0.upperBound)...(1000 - $0.lowerBound)
          }, bytesPerItem: group.unseenBytesPerItem)
      }
      var interval: ClosedRange<Double>?
      if let first = group.cell.intervalPerThousand, let second = baseline.cell.intervalPerThousand
      {
        // Newcombe's square-and-add: intervals need not be symmetric.
        let low = ((other - second.lowerBound).squared + (first.upperBound - mine).squared)
          .squareRoot()
        let high = ((second.upperBound - other).squared + (mine - first.lowerBound).squared)
          .squareRoot()
        interval = (other - mine - low)...(other - mine + high)
      }
      return Bill.Avoided(
        baseline: names, isComputed: false, perThousand: other - mine, interval: interval,
        bytesPerItem: group.unseenBytesPerItem - baseline.unseenBytesPerItem)
    }
  }
}

/// Whether names are the same bytes: two normal forms of a name are two policies.
private func areSame(_ left: [String], _ right: [String]) -> Bool {
  left.elementsEqual(right) { $0.utf8.elementsEqual($1.utf8) }
}

extension Double {
  fileprivate var squared: Double { self * self }
}
