/// Computes how many bytes start a file and play it up to certain times, from the times and ends of its parts.
///
/// The input consists of steps: at this time something is shown or heard, for which bytes `0..<end` are
/// required. S(t), the bytes required by the time t, is the largest end of all steps up to t. The curve is S
/// at some times. A lead is the largest amount by which S exceeds the bytes received at a bandwidth: max over
/// t of S(t) − bandwidth · t.
struct StartMeter {
  /// The times of the curve, besides the end.
  static let curveMilliseconds: [Int64] = [1000, 2000, 3000, 5000, 10_000]

  /// The bandwidths of the leads: five per power of ten, since 10^0.2 is 1.58. A client that takes the lower
  /// row is off by at most that factor.
  static let leadKilobitsPerSecond: [Int64] = [
    64, 100, 160, 250, 400, 640, 1000, 1600, 2500, 4000, 6400, 10_000, 16_000, 25_000, 40_000,
    64_000, 100_000,
  ]

  /// A time, and the end of the bytes required from then on.
  private struct Step {
    let microseconds: Int64
    let end: Int64
  }

  private var steps: [Step] = []
  /// The time of the first frame shown; without pictures, that of the first sound.
  private var firstPicture: Int64?
  private var origin: Int64 = .max
  private var endMicroseconds: Int64 = .min
  /// The latest time of all additions.
  private var latest: Int64 = .min
  private var lastEnd: Int64 = 0
  /// Whether the duration is unknown.
  private(set) var hasUnknownEnd = false

  mutating func reserve(_ count: Int) { steps.reserveCapacity(count) }

  /// Adds something that is shown from `time` (microseconds; rounded down where it isn't exact) until
  /// `endTime` and requires bytes `0..<end`.
  mutating func add(time: Int64, until endTime: Int64, end: Int64) {
    endMicroseconds = max(endMicroseconds, endTime)
    latest = max(latest, time)
    // A step that requires no more than the one before it changes nothing.
    if let last = steps.last, last.microseconds <= time, last.end >= end { return }
    steps.append(Step(microseconds: time, end: end))
    origin = min(origin, time)
    lastEnd = max(lastEnd, end)
  }

  /// Adds a complete frame of the main picture at `time`; the earliest one is the first frame.
  mutating func addPicture(at time: Int64) { firstPicture = min(firstPicture ?? time, time) }

  /// Adds the data up to `end` that were not inspected: they count as required at the latest time so far. The
  /// file lasts this long; if that is unknown, the curve has no end.
  mutating func addRest(lastingMilliseconds: Int64?, end: Int64) {
    hasUnknownEnd = lastingMilliseconds == nil
    guard !isEmpty else { return }
    let (length, isTooLarge) = (lastingMilliseconds ?? 0).multipliedReportingOverflow(by: 1000)
    let until = isTooLarge ? latest : max(origin + min(length, 1 << 60), latest)
    add(time: latest, until: until, end: end)
  }

  /// Adds bytes that are never shown but belong to the media.
  mutating func extend(toByte end: Int64) { lastEnd = max(lastEnd, end) }

  var isEmpty: Bool { steps.isEmpty }

  /// The duration, rounded up; nil if there is no step, or if it is unknown.
  var durationMilliseconds: Int64? { hasUnknownEnd ? nil : knownMilliseconds }

  private var knownMilliseconds: Int64? {
    isEmpty ? nil : Self.milliseconds(endMicroseconds, since: origin, .up)
  }

  /// Returns the result for a file of this size. `tables` is the range without which nothing is played,
  /// `headsBefore` the headers that lead to it. The curve ends at `durationMilliseconds`, or with the
  /// last step if that is nil.
  func start(
    tables: Range<Int64>, headsBefore: [Range<Int64>] = [], fileBytes: Int64,
    durationMilliseconds: Int64? = nil
  ) -> MediaStart {
    // First without the tables, then with them.
    let data = min(max(needed(upTo: firstPicture ?? origin), 0), fileBytes)
    let isStartable = tables.lowerBound < max(data, 1)
    let floor = min(tables.upperBound, fileBytes)
    let head = max(data, floor)
    let all = min(max(lastEnd, head), fileBytes)
    // Tables adjacent to the first frame's data are in one range with them.
    let isOnePiece = isStartable || tables.lowerBound <= data
    return MediaStart(
      isStartable: isStartable, headBytes: head,
      neededRanges: isOnePiece
        ? [0..<head]
        : Self.pieces([0..<data] + headsBefore + [tables.clamped(to: 0..<fileBytes)]),
      scanEnds: [], curve: curve(from: head, to: all, durationMilliseconds),
      lead: leads(from: head, to: all))
  }

  /// Merges ascending ranges into at most four that are not adjacent; the fourth one
  /// extends to the end of the last.
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

  /// S(t), including what is shown at t itself.
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

  /// Returns the useful rows only: none that requires nine tenths of the file, as a client without a row
  /// takes all of it; and none after the first that requires no more than the head.
  private func leads(from head: Int64, to all: Int64) -> [MediaStart.Lead] {
    var bytes = Self.leadKilobitsPerSecond.map { _ in head }
    for step in steps {
      // A kilobit per second is a bit per millisecond.
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
  /// The start of a file that shows nothing before all of it is there.
  static func whole(_ bytes: Int64) -> MediaStart { image(bytes, scanEnds: []) }

  /// The start of an image with several scans, of which the first shows it.
  static func image(_ bytes: Int64, scanEnds: [Int64]) -> MediaStart {
    let head = min(scanEnds.first ?? bytes, bytes)
    return MediaStart(
      isStartable: true, headBytes: head, neededRanges: [0..<head], scanEnds: scanEnds, curve: [],
      lead: [])
  }
}
