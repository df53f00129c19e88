/// Where the person is, and where they go.
struct ViewerState: Equatable, Codable {
  /// The position of the item that they look at.
  var active: Int?
  /// Since when.
  var activeSince = 0
  /// An item that they look at and no page has brought yet.
  var awaited: String?
  /// 1 down, −1 up.
  var direction = 1
  /// Which way the active item changed last.
  var lastStep = 1
  /// Whether they have ever scrolled.
  var hasScrolled = false
  var milliitemsPerSecond = 0
  /// Where the scroll will stop, in items from the active one.
  var stopDistance: Int?
  /// How far the active clip has played, and when that was; of one that stands, since when it stands there.
  var playedMilliseconds = 0
  var playedAt = 0
  var playback = PrefetchEvent.Playback.playing
  /// The active clip was waited for, or has stood.
  var hasStood = false
  /// The active clip stands at its beginning, though what starts it should be there.
  var standing: Standing?
  /// Whether what is said of clips' starts held lately.
  var starts = StartHistory()
  /// How often they came to an item, scrolled, or the list around them changed.
  var moves = 0
  /// How they went through the feed lately.
  var history = ViewingHistory()
  /// What of the active item is on the screen.
  var showing = Showing.nothing

  /// A clip that stands at its beginning.
  struct Standing: Equatable, Codable {
    /// Nothing of it shows, either.
    let isWaiting: Bool
    /// This many of its first bytes were there at this time.
    var bytes: Int
    var at: Int
    /// How many of a hundred bytes that should play it were not enough.
    var percent = 0
  }

  enum Showing: String, Codable {
    case nothing, placeholder, frame
  }

  func isFlung(_ settings: PrefetchSettings) -> Bool {
    milliitemsPerSecond.magnitude >= UInt(settings.flingMilliitemsPerSecond)
  }
}

/// The list's ends, and what of them was asked for.
struct PageState: Equatable, Codable {
  var hasPrevious = false
  var hasNext = false
  /// How many items the newest page below brought.
  var newestCount = 0
  /// What was asked for and has not come.
  var pending: [PrefetchPlace] = []
  var attempts = 0
  /// None is asked for before this time.
  var retryAt = 0
}

/// How the person went through the feed lately: how long they looked at items, waited for them, and how often they
/// turned round.
struct ViewingHistory: Equatable, Codable {
  /// How long pictures, and clips, were looked at lately.
  private(set) var stillDwells: [Int] = []
  private(set) var clipDwells: [Int] = []
  private var nextStill = 0
  private var nextClip = 0
  /// How long people waited lately for items that came.
  private var waits: [Int] = []
  private var nextWait = 0
  /// How long nine of ten clips were looked at lately, at the most.
  private(set) var usualClipMilliseconds = 0
  /// How often the person went on and turned lately, on their way down and up. Feeds are read downwards: who goes up
  /// soon comes back.
  private(set) var downwards = Course(onward: 19, turns: 1)
  private(set) var upwards = Course(onward: 2, turns: 1)

  /// How often the person went on to the next item and how often they jumped over some, and over how many lately.
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

  /// The shares of the usual time that items are looked at before the person has shown theirs, in percent.
  private static let firstSpread = [30, 60, 90, 110, 140, 170]
  /// How many items a fling goes before the person has shown theirs.
  private static let firstJumps = [3, 5, 8, 12]
  private static let dwellLimit = 12
  static let longestDwellMilliseconds = 600_000

  mutating func begin(itemsPerMinute: Int) {
    stillDwells = Self.firstSpread.map { $0 * 600 / max(1, itemsPerMinute) }
    clipDwells = stillDwells
    usualClipMilliseconds = clipDwells[clipDwells.count * 9 / 10]
  }

  /// The person has looked at an item for so long, and gone on to another one.
  mutating func note(dwellMilliseconds: Int, ofClip: Bool) {
    let dwell = min(max(dwellMilliseconds, 0), Self.longestDwellMilliseconds)
    if ofClip {
      Self.add(dwell, to: &clipDwells, at: &nextClip)
      usualClipMilliseconds = clipDwells.sorted()[clipDwells.count * 9 / 10]
    } else {
      Self.add(dwell, to: &stillDwells, at: &nextStill)
    }
  }

  /// The person went this many items further.
  mutating func note(stepItems: Int) {
    jumps.note(isTurn: stepItems > 1)
    if stepItems > 1 { Self.add(min(stepItems, 100), to: &jumpItems, at: &nextJump) }
  }

  /// What the person waited for has come after so long.
  mutating func note(waitMilliseconds: Int) {
    Self.add(
      min(max(waitMilliseconds, 0), Self.longestDwellMilliseconds), to: &waits, at: &nextWait)
  }

  /// They have waited so long, and were still there.
  var longestWaitMilliseconds: Int { waits.max() ?? 0 }

  /// The person went on, or turned round, on their way in this direction.
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

/// How many bytes clips needed lately to begin, of a hundred that were said to be enough. Where it is more, what is said
/// of other clips is wrong by as much.
struct StartHistory: Equatable, Codable {
  /// As many of a hundred bytes as are loaded: a value that two of the last eight clips that told anything reached.
  private(set) var percent = 100
  private var notes = [100, 100, 100]
  private var next = 0

  private static let limit = 8
  /// What a clip needs beyond this is its own fault.
  static let range = 100...200
  /// A clip that stood with so much needs more: so much more is tried.
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
