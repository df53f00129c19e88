import Catalog
import Feed
import Reports
import Synchronization
import System

/// Learns watch times from the counts, and publishes them: pages show a curve until it has changed enough to
/// matter, so that they do not change with each view.
final class WatchLearner: Sendable {
  private let store: any ReportStore
  private let settings: ReportSettings
  /// The curves of classes of clips, for items with too few views.
  private let classes = Mutex<[ClipClass: WatchCurve]>([:])
  private let lookedAt = Mutex<UInt64?>(nil)

  /// The number of items that are read, and published, at once.
  private static let portion = 256
  /// The difference, in thousandths, at which a curve is published again.
  private static let permille = 30.0

  init(_ store: any ReportStore, _ settings: ReportSettings) {
    (self.store, self.settings) = (store, settings)
  }

  /// The watch times of such clips; empty if too little is known.
  func survival(of load: MediaLoad) -> [WatchPoint] {
    guard load.kind.plays, let duration = load.durationMilliseconds, duration > 0 else { return [] }
    let clips = ClipClass(kind: load.kind, durationMilliseconds: duration)
    return classes.withLock { $0[clips] }?.points(durationMilliseconds: duration) ?? []
  }

  /// Publishes changed curves if it is time. For one thread.
  ///
  /// - Returns: whether it was time.
  /// - Throws: what the store throws.
  @discardableResult
  func publishIfDue(at hour: Int) throws -> Bool {
    let now = MonotonicClock.milliseconds
    let isDue = lookedAt.withLock { last in
      if let last, now - last < UInt64(settings.publishSeconds) * 1_000 { return false }
      last = now
      return true
    }
    if isDue { try publish(at: hour) }
    return isDue
  }

  /// Publishes changed curves.
  ///
  /// - Throws: what the store throws.
  func publish(at hour: Int) throws {
    var pools = try store.watchedClasses()
    let learned = LearnedClips.all(pools, leastViews: settings.leastSessions)
    classes.withLock { classes in
      classes = Dictionary(uniqueKeysWithValues: learned.map { ($0.clips, $0.curve) })
    }
    for clips in pools.keys { pools[clips]?.forget(until: hour, settings) }
    var last: String?
    repeat {
      let items = try store.watchedItems(after: last, limit: Self.portion)
      let changed = items.compactMap { item in change(item, pools, at: hour) }
      if !changed.isEmpty { try store.publish(changed) }
      last = items.count < Self.portion ? nil : items.last?.id
    } while last != nil
  }

  /// The curve that pages should show of an item, if they show another.
  private func change(
    _ item: WatchedItem, _ pools: [ClipClass: WatchRecord], at hour: Int
  ) -> (item: String, survival: [WatchPoint])? {
    guard let published = item.published else { return nil }
    var record = item.record
    record.forget(until: hour, settings)
    let duration = record.durationMilliseconds
    let curve = WatchCurve(
      item: record.counts, pool: pools[record.clipClass]?.counts, wholeViews: settings.leastViews,
      leastViews: settings.leastSessions)
    guard record.counts.views >= Double(settings.leastSessions), duration > 0, let curve else {
      // A published curve is dropped below half of the views, so that it does not come and go.
      let isForgotten = record.counts.views < Double(settings.leastSessions) / 2
      return isForgotten && !published.isEmpty ? (item.id, []) : nil
    }
    guard
      published.isEmpty
        || curve.distance(to: published, durationMilliseconds: duration) >= Self.permille
    else { return nil }
    return (item.id, curve.points(durationMilliseconds: duration))
  }
}

extension WatchRecord {
  fileprivate mutating func forget(until hour: Int, _ settings: ReportSettings) {
    counts.forget(hours: hour - self.hour, halving: settings.watching.halvingHours)
  }
}
