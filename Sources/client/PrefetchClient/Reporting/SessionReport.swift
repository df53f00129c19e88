import Foundation
import Reports

/// Counts what happens in a session, and divides the counts into parts. Pure.
///
/// An item counts in the part in which it is left, with its loader, its wait and its first frame. Bytes count
/// as seen when an item that holds them is left. Bytes that were never seen are known, and reported, at the
/// end of the session.
package struct SessionReport {
  /// Counts kept elsewhere, from the beginning of the session on.
  package struct Totals {
    package var requests = 0
    package var pageRequests = 0
    package var fates = Tally<ByteFate>()
    package var downlinkKbps: Int?
    package var roundTripMilliseconds: Int?

    package init() {}
  }

  private var next: ReportPart
  /// The time on the client's clock at which the session began.
  private var origin: Int
  private var told = Totals()
  /// The sum of the session's parts so far.
  private var met = SessionTotals()

  /// The number of items at which a part is due at once.
  private static let manyItems = ReportLimits.items * 9 / 10

  /// Creates the report of a session that begins now.
  package init(feed: String, policy: String, settings: ReportingSettings, at milliseconds: Int) {
    next = ReportPart(session: Self.randomName(), part: 0)
    next.feed = feed
    next.policy = policy
    next.arm = settings.arm
    next.client = settings.client
    origin = milliseconds
  }

  /// Sets the policy that the session loads by, if it is known only after the beginning.
  ///
  /// - Parameter arm: the arm of an experiment; nil leaves what the app set.
  mutating func load(by policy: String, arm: String?) {
    next.policy = policy
    if let arm, next.arm.isEmpty { next.arm = arm }
  }

  /// 132 random bits, which cannot be guessed, in characters that JSON does not escape.
  private static func randomName() -> String {
    let letters = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_".utf8)
    return String(decoding: (0..<22).map { _ in letters[Int.random(in: 0..<64)] }, as: UTF8.self)
  }

  /// Whether there is something to report.
  var hasItems: Bool { next.figures.items > 0 }

  /// Whether a part was cut. Then the last part must follow, with the bytes that were not seen.
  var hasBegun: Bool { next.part > 0 }

  /// Whether a part is due.
  func isDue(at now: Int, interval: Int) -> Bool {
    hasItems
      && (now - origin - next.sinceMilliseconds >= interval
        || next.figures.items >= Self.manyItems)
  }

  /// Counts an item that was left.
  ///
  /// - Parameters:
  ///   - loader: what was absent when it became active; nil if nothing was.
  ///   - wait: the time until that was there.
  ///   - frame: the time until the first frame; nil if it is not known.
  ///   - seen: further facts about the item, if it has a file.
  package mutating func left(
    loader: LoaderKind?, waitMilliseconds wait: Int, frameMilliseconds frame: Int?,
    seen: SeenItem? = nil
  ) {
    next.figures.items += 1
    if let seen, next.seen.count < ReportLimits.seen { next.seen.append(seen) }
    if let loader {
      next.figures.loaders[loader] += 1
      next.figures.waits.add(milliseconds: Double(wait))
    }
    if let frame { next.figures.frames.add(milliseconds: Double(frame)) }
  }

  /// Counts stalls of clips: their number and total duration.
  mutating func stalled(_ count: Int, milliseconds: Int) {
    next.figures.stalls += count
    next.figures.stalledMilliseconds += milliseconds
  }

  /// Ends the current part, and begins the next.
  ///
  /// - Parameter isLast: whether the session ends. Then bytes not seen so far never will be.
  package mutating func cut(at now: Int, _ totals: Totals, isLast: Bool) -> ReportPart {
    // A session lasts at most a day: an app that runs for longer begins another one.
    if now - origin > ReportLimits.sessionMilliseconds || next.part >= ReportLimits.parts {
      next.session = Self.randomName()
      next.part = 0
      met = SessionTotals()
      origin += next.sinceMilliseconds
      next.sinceMilliseconds = 0
    }
    var part = next
    part.untilMilliseconds = min(now - origin, ReportLimits.sessionMilliseconds)
    part.downlinkKbps = totals.downlinkKbps
    part.roundTripMilliseconds = totals.roundTripMilliseconds
    part.figures.stalledMilliseconds = min(
      part.figures.stalledMilliseconds, part.untilMilliseconds - part.sinceMilliseconds)
    part.figures.requests = totals.requests - told.requests
    part.figures.plans = totals.pageRequests - told.pageRequests
    part.figures.bytes[.seen] = totals.fates[.seen] - told.fates[.seen]
    if isLast {
      for fate in ByteFate.allCases where fate != .seen {
        part.figures.bytes[fate] = totals.fates[fate]
      }
    }
    // Items that the person has looked at since the session before.
    part.seen.removeAll { $0.problem(until: part.untilMilliseconds) != nil }
    if part.part > 0 { part.before = met }
    met.add(part.figures)
    told = totals
    next.part += 1
    next.sinceMilliseconds = part.untilMilliseconds
    next.figures = ReportFigures()
    next.seen = []
    return part
  }
}
