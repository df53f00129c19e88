/// The cost of unseen bytes, and of an avoided loader, computed from sums of client reports.
///
/// Ids do not outlive a session, so the number of a person's sessions is unknown; `monthSessions` assumes
/// it. A person's month is that number of sessions at the group's average.
public enum Bill {
  /// The prices and assumptions of the bill.
  public struct Rates: Hashable, Sendable {
    /// The price of a gigabyte, in cents.
    public var gigabyteCents: Int
    /// The number of sessions of a person per month.
    public var monthSessions: Int

    /// Creates rates; by default 500 cents per gigabyte, and 60 sessions per month, two a day.
    public init(gigabyteCents: Int = 500, monthSessions: Int = 60) {
      (self.gigabyteCents, self.monthSessions) = (gigabyteCents, monthSessions)
    }

    /// Returns the price of bytes, in cents.
    public func cents(ofBytes bytes: Double) -> Double {
      bytes / 1e9 * Double(gigabyteCents)
    }
  }

  /// The loaders that a policy avoided, compared with another one on the same network and feed, or with
  /// loading nothing ahead.
  public struct Avoided: Hashable, Sendable {
    /// The names of the group that is the baseline: among those of the network, the one with the fewest
    /// unseen bytes per item.
    public let baseline: [String]
    /// Whether the baseline is not a group but `endless`, as computed: it loads no file ahead, so that it
    /// has no unseen bytes, and each item has a loader. This is an upper bound, because items without files
    /// have none.
    public let isComputed: Bool
    /// The number of avoided loaders per 1000 items; negative if there are more than in the baseline.
    public let perThousand: Double
    /// The 95 % confidence interval of `perThousand`; `nil` if either group has no interval.
    public let interval: ClosedRange<Double>?
    /// The number of additional unseen bytes per item.
    public let bytesPerItem: Double

    /// The number of bytes per avoided loader; `nil` if the data do not show that any is avoided.
    public var bytesPerLoader: Double? {
      guard perThousand > 0, let interval, interval.lowerBound > 0 else { return nil }
      return bytesPerItem * 1000 / perThousand
    }
  }

  /// The fates of unseen bytes, in the order of reports.
  public static let reasons = ByteFate.allCases.filter { $0 != .seen }
}

extension ReportCell {
  /// The number of unseen bytes.
  public var unseenBytes: Int { figures.bytes.total - figures.bytes[.seen] }

  /// Returns the bytes of a fate that a person loads per month; `nil` if no session began.
  public func monthBytes(_ fate: ByteFate, _ rates: Bill.Rates) -> Double? {
    month(figures.bytes[fate], rates)
  }

  /// Returns the unseen bytes that a person loads per month; `nil` if no session began.
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
  /// The loaders that each policy avoided, compared with the policy of its network with the fewest unseen
  /// bytes; in the order of `policies.groups`.
  ///
  /// A policy without another one to compare with is compared with `endless`, as computed. These are a
  /// network's only policy, the baseline itself, and all policies of a report on several feeds, where a
  /// comparison of policies would compare their feeds. `nil` for groups that are too small or have no
  /// items. The sessions of both groups are independent, so the squares of their intervals' half-widths add
  /// up.
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

/// Whether names are identical to the byte: two Unicode normal forms of a name are two policies.
private func areSame(_ left: [String], _ right: [String]) -> Bool {
  left.elementsEqual(right) { $0.utf8.elementsEqual($1.utf8) }
}

extension Double {
  fileprivate var squared: Double { self * self }
}
