import Feed

/// A part of a session, as its client reports it.
public struct ReportPart: Hashable, Sendable {
  /// A random name of the session, which the client chooses, and forgets at its end.
  @ByBytes public var session: String
  /// The number of the part in its session, from 0; a repeated part counts once.
  public var part: Int
  /// The time since the end of the part: it may have waited for a network.
  public var ageMilliseconds = 0
  /// The feed that was viewed; empty if the client does not report it.
  @ByBytes public var feed = ""
  /// The policy of loading ahead; empty if the client does not report it.
  @ByBytes public var policy = ""
  /// The arm of an experiment; empty outside of one.
  @ByBytes public var arm = ""
  /// The client's name and version.
  @ByBytes public var client = ""
  /// The token that a page of the feed issued for reports; not stored.
  @ByBytes public var token: String?
  /// The measured bandwidth, in kilobits per second.
  public var downlinkKbps: Int?
  /// The measured round-trip time.
  public var roundTripMilliseconds: Int?
  /// The network profile, if the client was given one.
  @ByBytes public var profile: String?
  /// The start of the part, in milliseconds of the session.
  public var sinceMilliseconds = 0
  /// The end of the part, in milliseconds of the session.
  public var untilMilliseconds = 0
  /// The figures of the part.
  public var figures = ReportFigures()
  /// The client's totals before this part. With them the server can sum the squares of sessions without
  /// keeping any session. `nil` if the client does not report them; then the part counts as a separate
  /// session.
  public var before: SessionTotals?
  /// Details of items, in the order in which the user left them, as far as the client reports them.
  public var seen: [SeenItem] = []
  /// The session's recording, if the server asked for it: the lines of a `SessionRecording`.
  @ByBytes public var record: String?

  /// Creates a part without figures.
  public init(session: String, part: Int) {
    self.session = session
    self.part = part
  }

  /// Whether it is the first part of its session.
  public var isFirst: Bool { part == 0 }

  /// The first impossible value, as the field and the problem; `nil` if there is none.
  public var problem: (field: String, problem: String)? {
    let milliseconds = untilMilliseconds - sinceMilliseconds
    if milliseconds < 0 { return ("until", "is before since") }
    let items = figures.items
    if items > ReportLimits.items(inMilliseconds: milliseconds) {
      return (
        "items",
        "\(items) items in \(milliseconds) ms: more than one per "
          + "\(ReportLimits.itemMilliseconds) ms"
      )
    }
    let shown = figures.loaders[.image] + figures.loaders[.video]
    if shown > items { return ("loaders", "counts \(shown) items of \(items)") }
    if figures.waits.total > figures.loaders.total {
      return ("waitMs", "counts more waits than loaders")
    }
    if figures.frames.total > items {
      return ("frameMs", "counts more first frames than items")
    }
    if figures.stalledMilliseconds > milliseconds {
      return ("stalledMs", "is longer than the part")
    }
    if let before {
      if part == 0, before != SessionTotals() {
        return ("before", "is not allowed in the first part of a session")
      }
      if before[.items] > sinceMilliseconds / ReportLimits.itemMilliseconds + 10 * part {
        return ("before.items", "\(before[.items]) items in \(sinceMilliseconds) ms")
      }
      if before[.stalled] > sinceMilliseconds {
        return ("before.stalledMs", "is longer than the session")
      }
    }
    if seen.count > items { return ("seen", "has \(seen.count) items of \(items)") }
    for (index, item) in seen.enumerated() {
      if let (field, problem) = item.problem(until: untilMilliseconds) {
        return ("seen[\(index)].\(field)", problem)
      }
    }
    return nil
  }
}

/// The limits of a part of a report: one session's report has no more weight than a session can have.
public enum ReportLimits {
  /// A session's name, in bytes of UTF-8: at least 16, so that it cannot be guessed.
  public static let sessionBytes = 16...64
  /// The names of feed, policy, arm, client and network, in bytes of UTF-8.
  public static let nameBytes = 100
  /// The token that a page issued, in bytes of UTF-8.
  public static let tokenBytes = 100
  /// The maximum number of parts of a session: a day of parts of 30 s.
  public static let parts = 2_880
  /// The maximum duration of a session, in milliseconds: a day.
  public static let sessionMilliseconds = 86_400_000
  /// The maximum age of a part, in milliseconds: as long as servers remember the parts that they have
  /// counted.
  public static let ageMilliseconds = 86_400_000
  /// A session's recording, in bytes of UTF-8.
  public static let recordBytes = 40_000
  /// The maximum number of items of a part.
  public static let items = 1_000
  /// The maximum number of items with details.
  public static let seen = 200
  /// The minimum time for which an item is shown, in milliseconds.
  public static let itemMilliseconds = 20
  /// The maximum number each of loaders (other than those of items), stalls, requests and plans in a part.
  public static let events = 10_000
  /// The maximum number of bytes of a fate in a part: an hour at 1 Gbit/s.
  public static let bytes = 450_000_000_000

  /// Returns the maximum total of a session before a part.
  public static func total(of measure: SessionMeasure) -> Int {
    switch measure {
    case .items: parts * items
    case .loaders: parts * 4 * events
    case .waiting, .frames: parts * events * sessionMilliseconds
    case .stalled: sessionMilliseconds
    case .bytes: parts * bytes
    }
  }

  /// Returns the maximum number of items of a part of this length, in milliseconds.
  static func items(inMilliseconds milliseconds: Int) -> Int {
    min(items, milliseconds / itemMilliseconds + 10)
  }
}
