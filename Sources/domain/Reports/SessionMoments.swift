/// What is measured of a session as a whole, in whole units: small enough that squares of many sessions add up.
public enum SessionMeasure: Int, CaseIterable, Sendable {
  /// Items that became active.
  case items
  /// Loaders of all kinds.
  case loaders
  /// How long loaders stood, in hundredths of a second.
  case waiting
  /// How long first frames took, in hundredths of a second.
  case frames
  /// How long clips stood still, in hundredths of a second.
  case stalled
  /// Bytes of all fates, in units of 10 000.
  case bytes

  /// How many of a report's units make one of these.
  fileprivate var unit: Int {
    switch self {
    case .items, .loaders: 1
    case .waiting, .frames, .stalled: 10
    case .bytes: 10_000
    }
  }

  /// Its member of `before` of a part, in the units of parts: milliseconds, bytes.
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

/// What a session has met up to a part.
public struct SessionTotals: Hashable, Sendable {
  private var values = [Int](repeating: 0, count: SessionMeasure.allCases.count)

  /// Nothing met.
  public init() {}

  /// How much it is, in the units of parts.
  public subscript(measure: SessionMeasure) -> Int {
    get { values[measure.rawValue] }
    set { values[measure.rawValue] = newValue }
  }

  /// Adds what was met in a part.
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

  /// A measure in its own unit; a session weighs no more than `most`.
  fileprivate func units(_ measure: SessionMeasure) -> Int {
    min(max(0, self[measure]) / measure.unit, SessionMoments.most)
  }
}

/// Sums over sessions of what each met: of its measures, of their squares, and of their products with its items. No row
/// is of a session: a part adds what the session's square has grown by, for its client says what it had met before.
public struct SessionMoments: Hashable, Sendable {
  /// Of a measure a session counts no more, so that none outweighs all others: 100 000 items, 17 minutes of waiting, a
  /// gigabyte.
  public static let most = 100_000

  /// The sums, in the order of the measures.
  public var sums = [Int](repeating: 0, count: SessionMeasure.allCases.count)
  /// The sums of the squares.
  public var squares = [Int](repeating: 0, count: SessionMeasure.allCases.count)
  /// The sums of the products with the session's items.
  public var timesItems = [Int](repeating: 0, count: SessionMeasure.allCases.count)

  /// Nothing counted.
  public init() {}

  /// What a part adds.
  ///
  /// - Parameter before: what its session had met before.
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

  /// Adds another one's sums. What does not fit into a whole number any more stays as it is.
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
  /// The sum of its squares.
  public func squares(_ measure: SessionMeasure) -> Double { Double(squares[measure.rawValue]) }

  /// The sum over sessions of the squares of what a measure is beyond a number for each of the session's items.
  public func residuals(of measure: SessionMeasure, ratio: Double) -> Double {
    let products = Double(timesItems[measure.rawValue])
    return max(0, squares(measure) - 2 * ratio * products + ratio * ratio * squares(.items))
  }
}
