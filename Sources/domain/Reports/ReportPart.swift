import Feed

/// A part of a session, as its client reports it.
public struct ReportPart: Hashable, Sendable {
  /// What a client picks at random for a session, and forgets with it.
  @ByBytes public var session: String
  /// Counts the session's parts from 0; the same one twice counts once.
  public var part: Int
  /// How long ago the part ended: it may have waited for a network.
  public var ageMilliseconds = 0
  /// The feed that was looked at; empty where the client does not say.
  @ByBytes public var feed = ""
  /// The policy by which was loaded; empty where the client does not say.
  @ByBytes public var policy = ""
  /// The arm of an experiment; empty outside of one.
  @ByBytes public var arm = ""
  /// The client's name and version.
  @ByBytes public var client = ""
  /// What a page of the feed handed out for reports; not kept.
  @ByBytes public var token: String?
  /// The measured bandwidth, in kilobits a second.
  public var downlinkKbps: Int?
  /// The measured round trip.
  public var roundTripMilliseconds: Int?
  /// The network's profile, where the client was told one.
  @ByBytes public var profile: String?
  /// When the part begins, in milliseconds of the session.
  public var sinceMilliseconds = 0
  /// When it ends.
  public var untilMilliseconds = 0
  /// What the session met in it.
  public var figures = ReportFigures()
  /// What it had met before, as the client says: with it the squares of sessions add up, though the server keeps none.
  /// Nil where the client does not say; then the part counts as a session of its own.
  public var before: SessionTotals?
  /// Of its items those of which the client says more, in the order in which they were left.
  public var seen: [SeenItem] = []
  /// What the session was, where the server asked it to share that: the lines of a `SessionRecording`.
  @ByBytes public var record: String?

  /// A part without figures.
  public init(session: String, part: Int) {
    self.session = session
    self.part = part
  }

  /// Whether the session begins with it.
  public var isFirst: Bool { part == 0 }

  /// What is impossible in it, as the field and what is wrong; nil if nothing is.
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

/// What a part of a report may hold at the most: what one session says weighs no more than a session can.
public enum ReportLimits {
  /// A session's name, in bytes of UTF-8: at least 16, so that none is guessed.
  public static let sessionBytes = 16...64
  /// The names of feed, policy, arm, client and network, in bytes of UTF-8.
  public static let nameBytes = 100
  /// What a page handed out, in bytes of UTF-8.
  public static let tokenBytes = 100
  /// How many parts a session has: a day of parts of 30 s.
  public static let parts = 2_880
  /// How long a session lasts, in milliseconds: a day.
  public static let sessionMilliseconds = 86_400_000
  /// How long a part may have waited, in milliseconds: as long as servers remember which parts they have counted.
  public static let ageMilliseconds = 86_400_000
  /// What the session was, in bytes of UTF-8.
  public static let recordBytes = 40_000
  /// How many items a part has.
  public static let items = 1_000
  /// Of how many of them it says more.
  public static let seen = 200
  /// An item is shown for no less, in milliseconds.
  public static let itemMilliseconds = 20
  /// How many loaders beside those of items, stalls, requests and plans a part has each.
  public static let events = 10_000
  /// How many bytes of a fate a part has: an hour at 1 Gbit/s.
  public static let bytes = 450_000_000_000

  /// What a session may have met before a part.
  public static func total(of measure: SessionMeasure) -> Int {
    switch measure {
    case .items: parts * items
    case .loaders: parts * 4 * events
    case .waiting, .frames: parts * events * sessionMilliseconds
    case .stalled: sessionMilliseconds
    case .bytes: parts * bytes
    }
  }

  /// How many items a part of this length, in milliseconds, may have.
  static func items(inMilliseconds milliseconds: Int) -> Int {
    min(items, milliseconds / itemMilliseconds + 10)
  }
}
