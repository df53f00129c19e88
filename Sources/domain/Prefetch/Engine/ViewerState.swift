/// Where the person is, and where they are going.
struct ViewerState: Equatable, Codable {
  /// The position of the active item, which the person looks at.
  var active: Int?
  /// The time at which it became active.
  var activeSince = 0
  /// The item that the person looks at, if no page has brought it yet.
  var awaited: String?
  /// The direction: 1 for down, −1 for up.
  var direction = 1
  /// The direction in which the active item last changed.
  var lastStep = 1
  /// Whether the person has ever scrolled.
  var hasScrolled = false
  var milliitemsPerSecond = 0
  /// The place where the scroll will stop, in items from the active one.
  var stopDistance: Int?
  /// The active clip's position, and the time at which it had that position; if it does not move, the time
  /// since when.
  var playedMilliseconds = 0
  var playedAt = 0
  var playback = PrefetchEvent.Playback.playing
  /// Whether the active clip was waited for, or has stalled.
  var hasStood = false
  /// The stall of the active clip at its beginning, though the bytes that start it should be held.
  var standing: Standing?
  /// The recent accuracy of the hints of clips' starts.
  var starts = StartHistory()
  /// The number of times that the person came to an item or scrolled, or that the list around them changed.
  var moves = 0
  /// The person's recent way through the feed.
  var history = ViewingHistory()
  /// What the screen shows of the active item.
  var showing = Showing.nothing

  /// A clip that stalls at its beginning.
  struct Standing: Equatable, Codable {
    /// Whether nothing of it shows, either.
    let isWaiting: Bool
    /// The number of its first bytes that were held, and the time at which they were.
    var bytes: Int
    var at: Int
    /// The number of bytes, in percent of the hint, that were not enough.
    var percent = 0
  }

  enum Showing: String, Codable {
    case nothing, placeholder, frame
  }

  func isFlung(_ settings: PrefetchSettings) -> Bool {
    milliitemsPerSecond.magnitude >= UInt(settings.flingMilliitemsPerSecond)
  }
}

/// The list's ends, and the pages requested there.
struct PageState: Equatable, Codable {
  var hasPrevious = false
  var hasNext = false
  /// The number of items that the newest page below brought.
  var newestCount = 0
  /// The pages that were requested and have not arrived.
  var pending: [PrefetchPlace] = []
  var attempts = 0
  /// The time before which no page is requested.
  var retryAt = 0
}

/// The person's recent way through the feed: how long they looked at items, how long they waited for them,
/// and how often they turned round.
struct ViewingHistory: Equatable, Codable {
  /// The recent dwell times of pictures, and of clips.
  private(set) var stillDwells: [Int] = []
  private(set) var clipDwells: [Int] = []
  private var nextStill = 0
  private var nextClip = 0
  /// The recent waits for items that arrived.
  private var waits: [Int] = []
  private var nextWait = 0
  /// The maximum time for which nine of ten recent clips were looked at.
  private(set) var usualClipMilliseconds = 0
  /// How often the person recently continued and turned round, on their way down and up. Feeds are read
  /// downwards: people who go up soon come back.
  private(set) var downwards = Course(onward: 19, turns: 1)
  private(set) var upwards = Course(onward: 2, turns: 1)

  /// How often the person recently went on to the next item, how often they jumped over some, and over how
  /// many.
  private(set) var jumps = Course(onward: 24, turns: 1)
  private(set) var jumpItems = firstJumps
  private var nextJump = 0

  struct Course: Equatable, Codable {
    var onward: Int
    var turns: Int

    mutating func note(isTurn: Bool) {
      if isTurn { turns += 1 } else { onward += 1 }
      if turns + onward > 64 { (turns, onward) = (turns / 2, onward / 2) }
    }
  }

  /// The dwell times that are assumed before the person has shown theirs, in percent of the usual time.
  private static let firstSpread = [30, 60, 90, 110, 140, 170]
  /// The numbers of items of a fling that are assumed before the person has shown theirs.
  private static let firstJumps = [3, 5, 8, 12]
  private static let dwellLimit = 12
  static let longestDwellMilliseconds = 600_000

  mutating func begin(itemsPerMinute: Int) {
    stillDwells = Self.firstSpread.map { $0 * 600 / max(1, itemsPerMinute) }
    clipDwells = stillDwells
    usualClipMilliseconds = clipDwells[clipDwells.count * 9 / 10]
  }

  /// Records that the person looked at an item for this time before they went on to another one.
  mutating func note(dwellMilliseconds: Int, ofClip: Bool) {
    let dwell = min(max(dwellMilliseconds, 0), Self.longestDwellMilliseconds)
    if ofClip {
      Self.add(dwell, to: &clipDwells, at: &nextClip)
      usualClipMilliseconds = clipDwells.sorted()[clipDwells.count * 9 / 10]
    } else {
      Self.add(dwell, to: &stillDwells, at: &nextStill)
    }
  }

  /// Records that the person moved by this number of items.
  mutating func note(stepItems: Int) {
    jumps.note(isTurn: stepItems > 1)
    if stepItems > 1 { Self.add(min(stepItems, 100), to: &jumpItems, at: &nextJump) }
  }

  /// Records that the person waited this long for an item that arrived.
  mutating func note(waitMilliseconds: Int) {
    Self.add(
      min(max(waitMilliseconds, 0), Self.longestDwellMilliseconds), to: &waits, at: &nextWait)
  }

  /// The longest recent wait after which the person was still there.
  var longestWaitMilliseconds: Int { waits.max() ?? 0 }

  /// Records whether the person continued or turned round, on their way in this direction.
  mutating func note(isTurn: Bool, from direction: Int) {
    if direction > 0 { downwards.note(isTurn: isTurn) } else { upwards.note(isTurn: isTurn) }
  }

  private static func add(_ dwell: Int, to dwells: inout [Int], at next: inout Int) {
    if dwells.count < dwellLimit {
      dwells.append(dwell)
    } else {
      dwells[next] = dwell
      next = (next + 1) % dwellLimit
    }
  }
}

/// The number of bytes that clips recently needed to begin, in percent of their hints. If it exceeds 100, the
/// hints of other clips are assumed to be wrong by as much.
struct StartHistory: Equatable, Codable {
  /// The number of bytes to load, in percent of the hint: a value that two of the last eight measured clips
  /// reached.
  private(set) var percent = 100
  private var notes = [100, 100, 100]
  private var next = 0

  private static let limit = 8
  /// The values that are recorded: a clip that needs more is an exception.
  static let range = 100...200
  /// The excess to try for a clip that stalled with this percentage: it needs more.
  static let stepPercent = 10

  mutating func note(_ percent: Int) {
    let percent = min(max(percent, Self.range.lowerBound), Self.range.upperBound)
    if notes.count < Self.limit {
      notes.append(percent)
    } else {
      notes[next] = percent
      next = (next + 1) % Self.limit
    }
    self.percent = notes.sorted()[notes.count * 3 / 4]
  }
}
