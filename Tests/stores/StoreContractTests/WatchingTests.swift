import Catalog
import Feed
import Reports
import RowStore
import TestSupport
import Testing

/// What clients report of items, added up.
@Suite struct WatchingTests {
  private static let key = ReportCellKey(hour: 1, feed: "f", policy: "p", arm: "", network: "3g")

  private static func view(
    _ item: String, _ watched: Int = 500, waiting: Bool = false, of duration: Int = 1_000
  ) -> WatchedView {
    WatchedView(
      item: item, kind: .video, durationMilliseconds: duration, watchedMilliseconds: watched,
      hasLeftWaiting: waiting)
  }

  private static func part(
    _ fingerprint: UInt64, _ views: [WatchedView] = [],
    promises: [PromiseKey: PromiseCounts] = [:]
  ) -> CountedPart {
    var part = CountedPart(
      fingerprint: fingerprint, key: key, cell: ReportCell(ReportPart(session: "s", part: 0)))
    part.views = views
    part.promises = promises
    return part
  }

  @discardableResult
  private static func add(
    _ parts: [CountedPart], to store: any ReportStore, at hour: Int = 1,
    _ limits: WatchLimits = WatchLimits()
  ) throws -> [ReportMemory.Batch] {
    try store.add(
      parts, at: hour, after: 0, forgettingBefore: 0, cellsPerHour: 9, of: limits)
  }

  private static func promise(_ url: String, _ network: String = "3g") -> PromiseKey {
    PromiseKey(url: url, version: "sha256:1", network: network)
  }

  @Test(arguments: StoreKind.allCases)
  func `views add up by item and class, each part once, whichever process has it`(
    _ kind: StoreKind
  ) throws {
    let test = try TestStore(kind)
    let (store, other) = (test.store, try test.again())
    let parts = [
      Self.part(1, [Self.view("a"), Self.view("e\u{301}", waiting: true)]),
      Self.part(2, [Self.view("a", 2_000), Self.view("b", of: 6_000)]),
    ]
    try Self.add([parts[0], parts[0]], to: store)
    try Self.add(parts, to: other)
    let items = try store.watchedItems(after: nil, limit: 9)
    #expect(items.map(\.id) == ["a", "b", "e\u{301}"])
    #expect(items.map(\.record.counts.views) == [2, 1, 1])
    #expect(items.allSatisfy { $0.published == nil && $0.record.hour == 1 })
    #expect(items[1].record.durationMilliseconds == 6_000)
    #expect(items[2].record.counts.censored.reduce(0, +) == WatchCounts.unit)
    #expect(try store.watchedItems(after: "a", limit: 1).map(\.id) == ["b"])
    let classes = try other.watchedClasses()
    #expect(classes.count == 2)
    #expect(classes[ClipClass(kind: .video, durationMilliseconds: 1_000)]?.counts.views == 3)
    #expect(classes[ClipClass(kind: .video, durationMilliseconds: 6_000)]?.counts.views == 1)
    try test.expectSound()
  }

  @Test(arguments: StoreKind.allCases)
  func `older views count less, and items are bounded`(_ kind: StoreKind) throws {
    let test = try TestStore(kind)
    var limits = WatchLimits()
    (limits.items, limits.halvingHours) = (2, 10)
    try Self.add([Self.part(1, [Self.view("a")])], to: test.store, at: 1, limits)
    try Self.add(
      [Self.part(2, [Self.view("a"), Self.view("b"), Self.view("c")])], to: test.store, at: 11,
      limits)
    let items = try test.store.watchedItems(after: nil, limit: 9)
    #expect(items.map(\.id) == ["a", "b"])
    #expect(items.map(\.record.counts.views) == [1.5, 1])
    #expect(try test.store.watchedClasses().values.first?.counts.views == 3.5)
    // The one with the fewest views goes where there is little room, and what nobody watches any more.
    limits.items = 1
    try test.store.dropReports(before: 0, fingerprintsBefore: 0, of: limits)
    #expect(try test.store.watchedItems(after: nil, limit: 9).map(\.id) == ["a"])
    try test.store.dropReports(before: 12, fingerprintsBefore: 0, of: limits)
    #expect(try test.store.watchedClasses().isEmpty)
    try test.expectSound()
  }

  @Test(arguments: StoreKind.allCases)
  func `what is published shows with the post, which has changed, and goes with its views`(
    _ kind: StoreKind
  ) throws {
    let test = try TestStore(kind)
    let store = test.store
    var post = Post(id: "a", type: .video)
    post.media = [Media(kind: .video, url: "/media/a.mp4")]
    let run = try store.beginImport()
    try run.write([.post(post, placements: [Placement(feed: "f", rank: 1)])])
    _ = try run.finish()
    let number = try #require(
      try store.cut(PageQuery(feed: "f", offset: 0, limit: 9)).posts.first)
    try Self.add([Self.part(1, [Self.view("a")])], to: store)
    #expect(try store.item(withID: "a")?.survival == nil)
    let version = store.version
    let points = [
      WatchPoint(milliseconds: 100, permille: 700), WatchPoint(milliseconds: 900, permille: 0),
    ]
    try store.publish([("a", points), ("gone", points)])
    #expect(try store.item(withID: "a")?.survival == "[[100,700],[900,0]]")
    let posts = try store.posts([number])
    #expect(posts.posts[0].survival.map(posts.string) == "[[100,700],[900,0]]")
    #expect(store.changedPosts(since: version) == [number])
    #expect(try store.watchedItems(after: nil, limit: 1).first?.published == points)
    // The record is what it was: written again, it changes nothing.
    let again = try store.beginImport()
    try again.write([.post(post, placements: [Placement(feed: "f", rank: 1)])])
    #expect(try again.finish().unchanged == 1)
    #expect(try store.item(withID: "a")?.survival != nil)
    try store.dropReports(before: 2, fingerprintsBefore: 0, of: WatchLimits())
    #expect(try store.item(withID: "a")?.survival == nil)
    try test.expectSound()
  }

  @Test(arguments: StoreKind.allCases)
  func `promises add up by file and network, and are bounded`(_ kind: StoreKind) throws {
    let test = try TestStore(kind)
    let store = test.store
    var limits = WatchLimits()
    limits.promises = 2
    let (late, kept) = (PromiseCounts(late: 1), PromiseCounts(kept: 1))
    try Self.add(
      [
        Self.part(1, promises: [Self.promise("/a"): late, Self.promise("/a", "wifi"): kept]),
        Self.part(2, promises: [Self.promise("/a"): kept, Self.promise("/b"): kept]),
      ], to: store, limits)
    let keys = [
      Self.promise("/a"), Self.promise("/a", "wifi"), Self.promise("/b"), .all(network: "3g"),
    ]
    let records = try store.promises(keys)
    #expect(records[0]?.all == PromiseCounts(kept: 1, late: 1))
    #expect(records[1]?.all == kept && records[2] == nil)
    #expect(records[3]?.all == PromiseCounts(kept: 2, late: 1))
    #expect(
      try store.worstPromises(leastViews: 1, limit: 9).map(\.key) == [Self.promise("/a")])
    #expect(try store.worstPromises(leastViews: 3, limit: 9).isEmpty)
    #expect(try store.promises(.holds, limit: 9).isEmpty)
    try store.note(.broken, of: [keys[0], keys[2]])
    #expect(try store.promises(.broken, limit: 9) == [keys[0]])
    #expect(try store.promises([keys[0]])[0]?.state == .broken)
    // What broke stays until it was looked into.
    limits.promises = 1
    try store.dropReports(before: 0, fingerprintsBefore: 0, of: limits)
    #expect(try store.promises(keys).map { $0 != nil } == [true, false, false, true])
    try store.note(.confirmed, of: [keys[0]])
    #expect(try store.promises(.broken, limit: 9).isEmpty)
    try store.dropReports(before: 2, fingerprintsBefore: 0, of: limits)
    #expect(try store.promises(keys).allSatisfy { $0 == nil })
    try test.expectSound()
  }
}
