import Feed

/// Counts by the cases of a kind.
public struct Tally<Kind: CaseIterable & RawRepresentable & Sendable>: Hashable, Sendable
where Kind.RawValue == Int {
  /// The counts, in the order of the cases.
  public private(set) var counts = [Int](repeating: 0, count: Kind.allCases.count)

  /// All zero.
  public init() {}

  /// How many there are of a kind.
  public subscript(kind: Kind) -> Int {
    get { counts[kind.rawValue] }
    set { counts[kind.rawValue] = newValue }
  }

  /// Of all kinds together.
  public var total: Int { counts.reduce(0, +) }

  /// Adds another one's counts.
  public mutating func add(_ other: Tally) {
    for index in counts.indices { counts[index] += other.counts[index] }
  }
}

/// For what a person saw a loader.
public enum LoaderKind: Int, CaseIterable, Sendable {
  case image, video, page, other

  /// Its member of a part.
  public var name: StaticString {
    switch self {
    case .image: "image"
    case .video: "video"
    case .page: "page"
    case .other: "other"
    }
  }
}

/// What became of bytes that were loaded.
public enum ByteFate: Int, CaseIterable, Sendable {
  /// A person saw what they hold.
  case seen
  /// Of an item that was left before its rest was seen.
  case left
  /// Of an item that was never reached.
  case neverReached
  /// Of a variant that another one replaced.
  case otherVariant
  /// Of a transfer that was stopped before its bytes were of use.
  case cancelled

  /// What it is called for people.
  public var title: String {
    switch self {
    case .seen: "seen"
    case .left: "left early"
    case .neverReached: "never reached"
    case .otherVariant: "variant replaced"
    case .cancelled: "cancelled"
    }
  }

  /// Its member of a part.
  public var name: StaticString {
    switch self {
    case .seen: "seen"
    case .left: "left"
    case .neverReached: "neverReached"
    case .otherVariant: "otherVariant"
    case .cancelled: "cancelled"
    }
  }
}

/// What sessions met: sums and bins, so that those of parts, hours and servers add up.
public struct ReportFigures: Hashable, Sendable {
  /// Items that became active.
  public var items = 0
  /// Items, pages and others whose place showed a loader.
  public var loaders = Tally<LoaderKind>()
  /// How long the loaders stood: from the item becoming active until the bytes that start it were there.
  public var waits = DurationBins()
  /// How long it took from an item becoming active to its first frame, with what the decoder took.
  public var frames = DurationBins()
  /// Times that a clip stopped within for want of bytes.
  public var stalls = 0
  /// How long it stood then.
  public var stalledMilliseconds = 0
  /// What became of the bytes that were loaded.
  public var bytes = Tally<ByteFate>()
  /// Requests for media.
  public var requests = 0
  /// Requests for a plan or a page.
  public var plans = 0

  /// Nothing met.
  public init() {}

  /// Adds another one's figures.
  public mutating func add(_ other: ReportFigures) {
    items += other.items
    loaders.add(other.loaders)
    waits.add(other.waits)
    frames.add(other.frames)
    stalls += other.stalls
    stalledMilliseconds += other.stalledMilliseconds
    bytes.add(other.bytes)
    requests += other.requests
    plans += other.plans
  }
}
