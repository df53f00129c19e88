import Foundation
import Reports

/// Counts what a session meets, and cuts that into parts: pure.
///
/// An item counts in the part in which it is left, with its loader, its wait and its first frame. Bytes are seen when
/// an item that holds them is left; what was never seen is known, and told, at the end of the session.
package struct SessionReport {
  /// What is counted elsewhere, from the beginning of the session on.
  package struct Totals {
    package var requests = 0
    package var pageRequests = 0
    package var fates = Tally<ByteFate>()
    package var downlinkKbps: Int?
    package var roundTripMilliseconds: Int?

    package init() {}
  }

  private var next: ReportPart
  /// When the session begins on the client's clock.
  private var origin: Int
  private var told = Totals()
  /// What the session's parts have told.
  private var met = SessionTotals()

  /// A part with as many items is cut at once.
  private static let manyItems = ReportLimits.items * 9 / 10

  /// A session that begins now.
  package init(feed: String, policy: String, settings: ReportingSettings, at milliseconds: Int) {
    next = ReportPart(session: Self.randomName(), part: 0)
    next.feed = feed
    next.policy = policy
    next.arm = settings.arm
    next.client = settings.client
    origin = milliseconds
  }

  /// What the session loads by, where that is known after it began.
  ///
  /// - Parameter arm: of an experiment; nil leaves what the app says.
  mutating func load(by policy: String, arm: String?) {
    next.policy = policy
    if let arm, next.arm.isEmpty { next.arm = arm }
  }

  /// 132 random bits, not to be guessed, in letters and digits that JSON takes as they are.
  private static func randomName() -> String {
    let letters = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_".utf8)
    return String(decoding: (0..<22).map { _ in letters[Int.random(in: 0..<64)] }, as: UTF8.self)
  }

  /// Whether there is something to tell.
  var hasItems: Bool { next.figures.items > 0 }

  /// Whether a part was cut: what of the session's bytes was not seen is told with the last one.
  var hasBegun: Bool { next.part > 0 }

  /// Whether a part is due.
  func isDue(at now: Int, interval: Int) -> Bool {
    hasItems
      && (now - origin - next.sinceMilliseconds >= interval
        || next.figures.items >= Self.manyItems)
  }

  /// An item was left.
  ///
  /// - Parameters:
  ///   - loader: what was missing when it became active; nil if nothing was.
  ///   - wait: until that was there.
  ///   - frame: until the first frame; nil where that is not known.
  ///   - seen: what else is known of it, if it has a file.
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

  /// Clips stood still so often, and for so long together.
  mutating func stalled(_ count: Int, milliseconds: Int) {
    next.figures.stalls += count
    next.figures.stalledMilliseconds += milliseconds
  }

  /// The part that ends now; the next one begins.
  ///
  /// - Parameter isLast: what was not seen up to now never will be.
  package mutating func cut(at now: Int, _ totals: Totals, isLast: Bool) -> ReportPart {
    // A session is a day long at the most: an app that runs for longer begins another one.
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
    // An item that was looked at since the session before.
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
