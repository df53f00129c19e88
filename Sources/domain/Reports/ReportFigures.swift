import Feed

/// Counts by the cases of an enumeration.
public struct Tally<Kind: CaseIterable & RawRepresentable & Sendable>: Hashable, Sendable
where Kind.RawValue == Int {
  /// The counts, in the order of the cases.
  public private(set) var counts = [Int](repeating: 0, count: Kind.allCases.count)

  /// Creates counts of zero.
  public init() {}

  /// The count of a kind.
  public subscript(kind: Kind) -> Int {
    get { counts[kind.rawValue] }
    set { counts[kind.rawValue] = newValue }
  }

  /// The sum of all counts.
  public var total: Int { counts.reduce(0, +) }

  /// Adds the counts of another tally.
  public mutating func add(_ other: Tally) {
    for index in counts.indices { counts[index] += other.counts[index] }
  }
}

/// The content for which a user saw a loader.
public enum LoaderKind: Int, CaseIterable, Sendable {
  case image, video, page, other

  /// The name of its member in a part.
  public var name: StaticString {
    switch self {
    case .image: "image"
    case .video: "video"
    case .page: "page"
    case .other: "other"
    }
  }
}

/// The fate of bytes that were loaded.
public enum ByteFate: Int, CaseIterable, Sendable {
  /// A user saw their content.
  case seen
  /// Bytes of an item that the user left before the rest was seen.
  case left
  /// Bytes of an item that the user never reached.
  case neverReached
  /// Bytes of a variant that another one replaced.
  case otherVariant
  /// Bytes of a transfer that was stopped before they were of use.
  case cancelled

  /// The display name.
  public var title: String {
    switch self {
    case .seen: "seen"
    case .left: "left early"
    case .neverReached: "never reached"
    case .otherVariant: "variant replaced"
    case .cancelled: "cancelled"
    }
  }

  /// The name of its member in a part.
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

/// The figures of sessions: sums and bins, so that those of parts, hours and servers can be added.
public struct ReportFigures: Hashable, Sendable {
  /// The number of items that became active.
  public var items = 0
  /// The number of items, pages and other content that showed a loader.
  public var loaders = Tally<LoaderKind>()
  /// The durations of loaders: from when the item became active until the bytes that start it were present.
  public var waits = DurationBins()
  /// The times from when an item became active to its first frame, including decoding.
  public var frames = DurationBins()
  /// The number of stalls of clips during playback, for lack of bytes.
  public var stalls = 0
  /// The total duration of stalls.
  public var stalledMilliseconds = 0
  /// The bytes that were loaded, by fate.
  public var bytes = Tally<ByteFate>()
  /// The number of requests for media.
  public var requests = 0
  /// The number of requests for a plan or a page.
  public var plans = 0

  /// Creates figures of zero.
  public init() {}

  /// Adds other figures.
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
