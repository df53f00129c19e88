/// Works out how many bytes start a file and play it how far, from what is shown when and ends where in it.
///
/// What is added is a step: at this time something is shown or sounded, and for that bytes `0..<end` have to
/// be there. S(t), the bytes that are needed by the time t, is the largest end of all steps up to t; the
/// curve is S at some times, and a lead is the largest distance by which S is ever ahead of what has come at
/// a bandwidth: max over t of S(t) − bandwidth · t.
struct StartMeter {
  /// Times of the curve besides the end.
  static let curveMilliseconds: [Int64] = [1000, 2000, 3000, 5000, 10_000]

  /// The bandwidths of the leads: five to a power of ten, as 10^0.2 is 1.58. From row to row a client that
  /// takes the lower one is off by no more than that.
  static let leadKilobitsPerSecond: [Int64] = [
    64, 100, 160, 250, 400, 640, 1000, 1600, 2500, 4000, 6400, 10_000, 16_000, 25_000, 40_000,
    64_000, 100_000,
  ]

  /// Something that is shown from a time on, and what has to be there for it.
  private struct Step {
    let microseconds: Int64
    let end: Int64
  }

  private var steps: [Step] = []
  /// The time of the first frame that is shown; of the first sound where there is no picture.
  private var firstPicture: Int64?
  private var origin: Int64 = .max
  private var endMicroseconds: Int64 = .min
  /// When the last is shown of what was added.
  private var latest: Int64 = .min
  private var lastEnd: Int64 = 0
  /// Whether it is not known how long all of it lasts.
  private(set) var hasUnknownEnd = false

  mutating func reserve(_ count: Int) { steps.reserveCapacity(count) }

  /// Something is shown from `time` (microseconds; rounded down where it isn't exact) until `endTime`, with
  /// bytes `0..<end` there.
  mutating func add(time: Int64, until endTime: Int64, end: Int64) {
    endMicroseconds = max(endMicroseconds, endTime)
    latest = max(latest, time)
    // What needs no more than what came before it changes nothing.
    if let last = steps.last, last.microseconds <= time, last.end >= end { return }
    steps.append(Step(microseconds: time, end: end))
    origin = min(origin, time)
    lastEnd = max(lastEnd, end)
  }

  /// A frame of the main picture is shown at `time` as a whole: the earliest is the first frame.
  mutating func addPicture(at time: Int64) { firstPicture = min(firstPicture ?? time, time) }

  /// What has not been looked at, up to `end`, is taken to be needed as soon as the last that was. All of it
  /// lasts so long; where that is not known, the curve has no end.
  mutating func addRest(lastingMilliseconds: Int64?, end: Int64) {
    hasUnknownEnd = lastingMilliseconds == nil
    guard !isEmpty else { return }
    let (length, isTooLarge) = (lastingMilliseconds ?? 0).multipliedReportingOverflow(by: 1000)
    let until = isTooLarge ? latest : max(origin + min(length, 1 << 60), latest)
    add(time: latest, until: until, end: end)
  }

  /// What is never shown, but belongs to the file's media.
  mutating func extend(toByte end: Int64) { lastEnd = max(lastEnd, end) }

  var isEmpty: Bool { steps.isEmpty }

  /// How long all of it lasts, rounded up; nil where there is no step, or where that is not known.
  var durationMilliseconds: Int64? { hasUnknownEnd ? nil : knownMilliseconds }

  private var knownMilliseconds: Int64? {
    isEmpty ? nil : Self.milliseconds(endMicroseconds, since: origin, .up)
  }

  /// What came of the steps, of a file of this many bytes. `tables` is where that lies without which nothing is
  /// played, `headsBefore` what has to be read to get there. The curve ends at `durationMilliseconds` where
  /// that is given, or else with the last step.
  func start(
    tables: Range<Int64>, headsBefore: [Range<Int64>] = [], fileBytes: Int64,
    durationMilliseconds: Int64? = nil
  ) -> MediaStart {
    // Without the tables, and then with them.
    let data = min(max(needed(upTo: firstPicture ?? origin), 0), fileBytes)
    let isStartable = tables.lowerBound < max(data, 1)
    let floor = min(tables.upperBound, fileBytes)
    let head = max(data, floor)
    let all = min(max(lastEnd, head), fileBytes)
    // Tables that begin where the first frame's data end are one piece with them.
    let isOnePiece = isStartable || tables.lowerBound <= data
    return MediaStart(
      isStartable: isStartable, headBytes: head,
      neededRanges: isOnePiece
        ? [0..<head]
        : Self.pieces([0..<data] + headsBefore + [tables.clamped(to: 0..<fileBytes)]),
      scanEnds: [], curve: curve(from: head, to: all, durationMilliseconds),
      lead: leads(from: head, to: all))
  }

  /// Ranges in ascending order as pieces apart from each other; the last of no more than four is all that
  /// there is from where it begins.
  private static func pieces(_ ranges: [Range<Int64>]) -> [Range<Int64>] {
    var pieces: [Range<Int64>] = []
    for range in ranges {
      if let last = pieces.last, range.lowerBound <= last.upperBound || pieces.count == 4 {
        pieces[pieces.count - 1] = last.lowerBound..<max(last.upperBound, range.upperBound)
      } else {
        pieces.append(range)
      }
    }
    return pieces
  }

  /// S(t) with what is shown at t itself.
  private func needed(upTo time: Int64) -> Int64 {
    steps.reduce(0) { $1.microseconds <= time ? max($0, $1.end) : $0 }
  }

  private func curve(
    from head: Int64, to all: Int64, _ given: Int64?
  ) -> [MediaStart.Point] {
    guard let lasting = knownMilliseconds, lasting > 0 else { return [] }
    let duration = given ?? lasting
    let times = Self.curveMilliseconds.filter { $0 < duration }
    var bytes = times.map { _ in head }
    for step in steps {
      let time = step.microseconds &- origin
      for index in times.indices where time < times[index] * 1000 {
        bytes[index] = max(bytes[index], min(step.end, all))
      }
    }
    var points: [MediaStart.Point] = []
    for (time, bytes) in zip(times, bytes) {
      points.append(.init(milliseconds: time, bytes: max(bytes, points.last?.bytes ?? 0)))
    }
    return hasUnknownEnd ? points : points + [.init(milliseconds: duration, bytes: all)]
  }

  /// Only rows that say something: none that asks for nine tenths of all, as a client without a row takes
  /// all; and none above the first that asks for no more than the head.
  private func leads(from head: Int64, to all: Int64) -> [MediaStart.Lead] {
    var bytes = Self.leadKilobitsPerSecond.map { _ in head }
    for step in steps {
      // A kilobit a second is a bit a millisecond.
      let time = Self.milliseconds(step.microseconds, since: origin, .down)
      for (index, bandwidth) in Self.leadKilobitsPerSecond.enumerated() {
        let (bits, isTooLarge) = time.multipliedReportingOverflow(by: bandwidth)
        if isTooLarge { continue }
        bytes[index] = max(bytes[index], min(step.end, all) - bits / 8)
      }
    }
    let rows = zip(Self.leadKilobitsPerSecond, bytes)
      .map { MediaStart.Lead(kilobitsPerSecond: $0, bytes: $1) }
      .filter { $0.bytes < all - all / 10 }
    let last = rows.firstIndex { $0.bytes == head } ?? rows.count - 1
    return Array(rows.prefix(last + 1))
  }

  private static func milliseconds(
    _ microseconds: Int64, since origin: Int64, _ rule: FloatingPointRoundingRule
  ) -> Int64 {
    let (difference, isTooLarge) = microseconds.subtractingReportingOverflow(origin)
    guard !isTooLarge else { return .max / 1000 }
    return difference / 1000 + (rule == .up && difference % 1000 > 0 ? 1 : 0)
  }
}

extension MediaStart {
  /// Of what shows nothing before all of it is there.
  static func whole(_ bytes: Int64) -> MediaStart { image(bytes, scanEnds: []) }

  /// Of an image that comes in scans: the first of them shows it.
  static func image(_ bytes: Int64, scanEnds: [Int64]) -> MediaStart {
    let head = min(scanEnds.first ?? bytes, bytes)
    return MediaStart(
      isStartable: true, headBytes: head, neededRanges: [0..<head], scanEnds: scanEnds, curve: [],
      lead: [])
  }
}
