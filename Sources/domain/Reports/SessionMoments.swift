/// A measure of a session as a whole, in units that are coarse enough for sums of squares over many
/// sessions.
public enum SessionMeasure: Int, CaseIterable, Sendable {
  /// The number of items that became active.
  case items
  /// The number of loaders of all kinds.
  case loaders
  /// The duration of loaders, in hundredths of a second.
  case waiting
  /// The delays of first frames, in hundredths of a second.
  case frames
  /// The duration of stalls, in hundredths of a second.
  case stalled
  /// The bytes of all fates, in units of 10 000.
  case bytes

  /// The number of a report's units in one unit of the measure.
  fileprivate var unit: Int {
    switch self {
    case .items, .loaders: 1
    case .waiting, .frames, .stalled: 10
    case .bytes: 10_000
    }
  }

  /// The name of its member in `before` of a part, which has the units of parts: milliseconds, bytes.
  public var name: StaticString {
    switch self {
    case .items: "items"
    case .loaders: "loaders"
    case .waiting: "waitMs"
    case .frames: "frameMs"
    case .stalled: "stalledMs"
    case .bytes: "bytes"
    }
  }
}

/// The totals of a session up to a part.
public struct SessionTotals: Hashable, Sendable {
  private var values = [Int](repeating: 0, count: SessionMeasure.allCases.count)

  /// Creates totals of zero.
  public init() {}

  /// The total, in the units of parts.
  public subscript(measure: SessionMeasure) -> Int {
    get { values[measure.rawValue] }
    set { values[measure.rawValue] = newValue }
  }

  /// Adds the figures of a part.
  public mutating func add(_ figures: ReportFigures) {
    for measure in SessionMeasure.allCases { self[measure] += Self.value(measure, of: figures) }
  }

  private static func value(_ measure: SessionMeasure, of figures: ReportFigures) -> Int {
    switch measure {
    case .items: figures.items
    case .loaders: figures.loaders.total
    case .waiting: figures.waits.milliseconds
    case .frames: figures.frames.milliseconds
    case .stalled: figures.stalledMilliseconds
    case .bytes: figures.bytes.total
    }
  }

  /// Returns a measure in its own unit, at most `most`.
  fileprivate func units(_ measure: SessionMeasure) -> Int {
    min(max(0, self[measure]) / measure.unit, SessionMoments.most)
  }
}

/// Sums over sessions: of their measures, of the squares, and of the products with their items. No row
/// belongs to a session: a part adds the increase of its session's square, because its client reports the
/// totals before it.
public struct SessionMoments: Hashable, Sendable {
  /// The maximum value of a measure for a session, so that none outweighs all others: 100 000 items, 17
  /// minutes of waiting, a gigabyte.
  public static let most = 100_000

  /// The sums, in the order of the measures.
  public var sums = [Int](repeating: 0, count: SessionMeasure.allCases.count)
  /// The sums of the squares.
  public var squares = [Int](repeating: 0, count: SessionMeasure.allCases.count)
  /// The sums of the products with the session's items.
  public var timesItems = [Int](repeating: 0, count: SessionMeasure.allCases.count)

  /// Creates sums of zero.
  public init() {}

  /// Creates the contribution of a part.
  ///
  /// - Parameter before: The totals of its session before the part.
  public init(of figures: ReportFigures, before: SessionTotals) {
    var after = before
    after.add(figures)
    let (itemsBefore, itemsAfter) = (before.units(.items), after.units(.items))
    for measure in SessionMeasure.allCases {
      let (old, new) = (before.units(measure), after.units(measure))
      sums[measure.rawValue] = new - old
      squares[measure.rawValue] = new * new - old * old
      timesItems[measure.rawValue] = new * itemsAfter - old * itemsBefore
    }
  }

  /// Adds other sums, saturating at `Int.max`.
  public mutating func add(_ other: SessionMoments) {
    for index in sums.indices {
      sums[index] = Self.sum(sums[index], other.sums[index])
      squares[index] = Self.sum(squares[index], other.squares[index])
      timesItems[index] = Self.sum(timesItems[index], other.timesItems[index])
    }
  }

  private static func sum(_ left: Int, _ right: Int) -> Int {
    let (sum, overflows) = left.addingReportingOverflow(right)
    return overflows ? .max : sum
  }

  /// The sum of a measure.
  public func sum(_ measure: SessionMeasure) -> Double { Double(sums[measure.rawValue]) }
  /// The sum of the squares of a measure.
  public func squares(_ measure: SessionMeasure) -> Double { Double(squares[measure.rawValue]) }

  /// Returns the sum over sessions of the squared residuals: of the measure minus `ratio` times the
  /// session's items.
  public func residuals(of measure: SessionMeasure, ratio: Double) -> Double {
    let products = Double(timesItems[measure.rawValue])
    return max(0, squares(measure) - 2 * ratio * products + ratio * ratio * squares(.items))
  }
}
